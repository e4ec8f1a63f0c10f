import { readFile } from 'node:fs/promises';
import { createDatabaseFile } from '../../warehouse/open.ts';

/** Writes the sample company into a new database file; the same seed gives the same rows. */
export async function writeWarehouseFile(path: string, seed = 7): Promise<void> {
  const script = await readFile(new URL('company.sql', import.meta.url), 'utf8');
  await createDatabaseFile(path, script, { seed });
}
