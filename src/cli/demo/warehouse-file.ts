import { readFile } from 'node:fs/promises';
import { DuckDBInstance } from '@duckdb/node-api';

/** Writes the sample company into a new DuckDB file; the same seed gives the same rows. */
export async function writeWarehouseFile(path: string, seed = 7): Promise<void> {
  const statements = await readFile(new URL('company.sql', import.meta.url), 'utf8');
  const instance = await DuckDBInstance.create(path);
  try {
    const connection = await instance.connect();
    await connection.run(`SET VARIABLE seed = ${seed}`);
    await connection.run(statements);
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
}
