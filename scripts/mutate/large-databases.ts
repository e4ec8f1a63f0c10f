import type { Mutant } from './mutant.ts';

/** Databases of thousands of tables, and statements that do not fit into memory. */
export const largeDatabaseMutants: readonly Mutant[] = [
  {
    name: 'large-objects-kept',
    file: 'warehouse/drivers/postgres/read-user-objects.ts',
    find: 'if (visible !== null && known?.visible === visible) return known.objects;',
    replace: 'if (known !== undefined) return known.objects;',
    why: 'A function of a user that was made after the first statement runs.',
    tests: ['warehouse/postgres-user-objects.test.ts'],
  },
  {
    name: 'large-spill-folder',
    file: 'warehouse/drivers/duckdb/spill-folder.ts',
    find: 'if (existsSync(projectPaths(projectDir).config)) createPrivateFolder(cacheDir);',
    replace: '',
    why: 'What does not fit into memory fails.',
    tests: ['warehouse/duckdb-spill.test.ts'],
  },
  {
    name: 'large-spill-of-others',
    file: 'warehouse/drivers/duckdb/spill-folder.ts',
    find: 'if (pid !== undefined && !isRunning(Number(pid)))',
    replace: 'if (pid !== undefined)',
    why: 'The files of a statement that runs are removed.',
    tests: ['warehouse/duckdb-spill.test.ts'],
  },
  {
    name: 'large-names',
    file: 'scan/names/name-match.ts',
    find: 'if (words.includes(word)) take(word, mostCompared / 4);',
    replace: '',
    why: 'Among thousands of names the equal one is not found.',
    tests: ['scan/name-index.test.ts'],
  },
  {
    name: 'large-materialized-views',
    file: 'scan/facts/table-facts.ts',
    find: " || table.schema.kind === 'materialized_view'",
    replace: '',
    why: 'A join leads to a materialized view that repeats the keys of the table.',
    tests: ['scan/views.test.ts'],
  },
];
