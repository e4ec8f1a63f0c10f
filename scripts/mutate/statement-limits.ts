import type { Mutant } from './mutant.ts';

/** What holds a statement of any engine within what a person allows. */
export const statementLimitMutants: readonly Mutant[] = [
  {
    name: 'limits-ignored-quietly',
    file: 'warehouse/open.ts',
    find: 'estimate?.bytes !== undefined || session.limitsBytes === true',
    replace: 'estimate?.bytes !== undefined || most > 0',
    why: 'A limit of bytes has no effect, and nobody says so.',
    tests: ['warehouse/spending.test.ts'],
  },
  {
    name: 'bigquery-opening-time',
    file: 'warehouse/drivers/bigquery/driver.ts',
    find: 'const openingTime = 120_000;',
    replace: 'const openingTime = 86_400_000;',
    why: 'A server that answers slowly holds the opening of a connection for hours.',
    tests: ['warehouse/hostile-api.test.ts'],
  },
  {
    name: 'bigquery-opening-lists',
    file: 'warehouse/drivers/bigquery/privileges.ts',
    find: '{ signal, atMost: mostDatasets }',
    replace: '{ signal }',
    why: 'Every dataset of a project is listed before a connection opens.',
    tests: ['warehouse/hostile-api.test.ts'],
  },
  {
    name: 'asker-in-clear',
    file: 'project/answer/query.ts',
    find: '`login=${shortHash(name)}`',
    replace: '`login=${name}`',
    why: 'The log of the warehouse has names of people.',
    tests: ['mcp/http-asker.test.ts'],
  },
  {
    name: 'asker-ends-comment',
    file: 'warehouse/history/statement-history.ts',
    find: "asker.replaceAll(/[^\\w=:. -]/g, '_')",
    replace: 'asker',
    why: 'A role can end the comment, and goes on as SQL.',
    tests: ['mcp/http-asker.test.ts'],
  },
  {
    name: 'scope-stored-catalog',
    file: 'warehouse/open.ts',
    find: 'coveredTables(await read(), covers)',
    replace: 'coveredTables(await read(), undefined)',
    why: 'A table that is left out can be read as long as an older scan knows it.',
    tests: ['warehouse/table-scope.test.ts'],
  },
  {
    name: 'scope-exclude-wins',
    file: 'warehouse/scope/table-scope.ts',
    find: '&& !excluded.some(isNamedBy)',
    replace: '|| !excluded.some(isNamedBy)',
    why: 'A table that is to be left out is scanned and shown.',
    tests: ['warehouse/table-scope.test.ts'],
  },
];
