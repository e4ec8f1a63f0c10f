import type { Mutant } from './mutant.ts';

/** Several databases in a connection, macros of a foreign file, extras that two processes fetch. */
export const databaseMutants: readonly Mutant[] = [
  {
    name: 'databases-rights-of-own-only',
    file: 'warehouse/drivers/sqlserver/databases.ts',
    find: 'for (const name of [databases.own, ...databases.further]) {',
    replace: 'for (const name of [databases.own]) {',
    why: 'A login that may write in a further database counts as one that reads.',
    tests: ['warehouse/catalogs.test.ts'],
  },
  {
    name: 'databases-schema-of-login',
    file: 'warehouse/drivers/sqlserver/policy.ts',
    find: '!isSchemaOfLogin(name) && resolve(name, table)',
    replace: 'resolve(name, table)',
    why: '`crm..orders` is read in whatever schema the login has there.',
    tests: ['warehouse/catalogs.test.ts'],
  },
  {
    name: 'databases-rules-of-a-namesake',
    file: 'project/answer/statement.ts',
    find: 'ownSchema = dialect.defaultSchema, ownCatalog] =',
    replace: 'ownSchema = dialect.defaultSchema, ownCatalog = catalog] =',
    why: 'A table without a dataset is open, because one of its name in another database has one.',
    tests: ['cli/two-databases.test.ts'],
  },
  {
    name: 'databases-columns-of-a-namesake',
    file: 'semantic/load/find-table.ts',
    find: 'const found = inCatalog.length > 0 ? inCatalog : matches;',
    replace: 'const found = matches;',
    why: 'A dataset is checked against the table of its name in another database.',
    tests: ['cli/two-databases.test.ts'],
  },
  {
    name: 'extras-two-at-once',
    file: 'store/extras/install-extra.ts',
    find: 'return withFileLock(lockFile, run, options);',
    replace: 'return lockFile && options ? run() : withFileLock(lockFile, run, options);',
    why: 'Of two processes that fetch an extra, one removes what the other has.',
    tests: ['store/extras.test.ts'],
  },
  {
    name: 'gate-duckdb-operator',
    file: 'warehouse/drivers/duckdb/policy.ts',
    find: "if (typeof operator === 'string' && macros.has(operator.toLowerCase()))",
    replace: 'if (operator === undefined && false)',
    why: 'A macro called + of a foreign DuckDB file answers with rows of a hidden table.',
    tests: ['warehouse/duckdb-macros.test.ts'],
  },
  {
    name: 'gate-duckdb-parser',
    file: 'warehouse/drivers/duckdb/reader-process.ts',
    find: 'system.main.json_serialize_sql',
    replace: 'json_serialize_sql',
    why: 'A macro of a foreign DuckDB file says what a statement looks like, and the gate believes it.',
    tests: ['warehouse/duckdb-macros.test.ts'],
  },
  {
    name: 'gate-duckdb-syntax',
    file: 'warehouse/drivers/duckdb/policy.ts',
    find: 'if (hidden !== undefined) throw macroRefusal(hidden);',
    replace: '',
    why: 'A macro struct_extract of a foreign DuckDB file answers for x.y.',
    tests: ['warehouse/duckdb-macros.test.ts'],
  },
];
