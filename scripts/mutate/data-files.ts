import type { Mutant } from './mutant.ts';

/** Folders of files: what cannot be read, and what was assumed. */
export const dataFileMutants: readonly Mutant[] = [
  {
    name: 'data-files-dropped-table',
    file: 'warehouse/drivers/duckdb/files/load-tables.ts',
    find: 'if (columns.length === 0) return false;',
    replace: 'if (columns.length >= 0) return false;',
    why: 'A file that cannot be read for a moment removes its dataset, with what people wrote.',
    tests: ['warehouse/data-files.test.ts'],
  },
  {
    name: 'data-files-thousands',
    file: 'warehouse/drivers/duckdb/files/csv-assumptions.ts',
    find: "row[`t${at}`] === true ? 'unclear'",
    replace: "row[`t${at}`] === true ? 'decimal comma'",
    why: 'A column of 1,234 and 5,678 is read as 1.234 and 5.678.',
    tests: ['warehouse/data-files.test.ts'],
  },
  {
    name: 'data-files-unknown-table',
    file: 'ingest/fetch/scan-warehouses.ts',
    find: 'if (unread === undefined) return;',
    replace: 'if (unread !== undefined) return;',
    why: 'In a fresh clone a file that cannot be read looks like a removed one.',
    tests: ['cli/data-folder.test.ts'],
  },
];
