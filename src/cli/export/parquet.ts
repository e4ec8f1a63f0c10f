import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Table } from '../terminal/table.ts';

/**
 * A Parquet file with the types of the columns. A column whose values do not all have its type is
 * text, so that no value is lost.
 */
export async function renderParquet(table: Table): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-export-'));
  const instance = await DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    threads: '1',
  });
  const connection = await instance.connect();
  try {
    await loadRows(connection, table);
    const columns: string[] = [];
    for (const [index, { name, type }] of table.columns.entries()) {
      const parquetType = await fittingType(
        connection,
        `c${index}`,
        parquetTypes[type ?? ''] ?? [],
      );
      const quoted = uniqueName(name, index, table).replaceAll('"', '""');
      columns.push(`CAST(c${index} AS ${parquetType}) AS "${quoted}"`);
    }
    const file = join(folder, 'rows.parquet');
    const select = `SELECT ${columns.join(', ')} FROM exported ORDER BY n`;
    await connection.run(`COPY (${select}) TO '${file.replaceAll("'", "''")}' (FORMAT parquet)`);
    return await readFile(file);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

async function loadRows(connection: DuckDBConnection, { columns, rows }: Table): Promise<void> {
  const declared = columns.map((_, index) => `c${index} VARCHAR`);
  await connection.run(`CREATE TABLE exported (n INTEGER, ${declared.join(', ')})`);
  const appender = await connection.createAppender('exported');
  for (const [n, row] of rows.entries()) {
    appender.appendInteger(n);
    for (const index of columns.keys()) {
      const cell = row[index];
      if (cell === null || cell === undefined) appender.appendNull();
      else appender.appendVarchar(String(cell).toWellFormed());
    }
    appender.endRow();
  }
  appender.closeSync();
}

/** The types that a column may have in the file, the best first. */
const parquetTypes: Readonly<Record<string, readonly string[]>> = {
  integer: ['BIGINT', 'HUGEINT'],
  decimal: ['DECIMAL(38, 0)', 'DECIMAL(38, 2)', 'DECIMAL(38, 6)', 'DECIMAL(38, 18)', 'DOUBLE'],
  boolean: ['BOOLEAN'],
  date: ['DATE'],
  datetime: ['TIMESTAMP'],
  datetime_tz: ['TIMESTAMPTZ'],
};

/** The first type that keeps every value. Decimals keep every digit; a double its own. */
async function fittingType(
  connection: DuckDBConnection,
  column: string,
  types: readonly string[],
): Promise<string> {
  for (const type of types) {
    const isExact = type.startsWith('DECIMAL')
      ? ` OR CAST(TRY_CAST(${column} AS ${type}) AS DECIMAL(38, 18)) IS DISTINCT FROM TRY_CAST(${column} AS DECIMAL(38, 18))`
      : '';
    const misfits = `SELECT count(*) FROM exported WHERE ${column} IS NOT NULL AND (TRY_CAST(${column} AS ${type}) IS NULL${isExact})`;
    const count = await connection
      .runAndReadAll(misfits)
      .then((result) => Number(result.getRows()[0]?.[0] ?? 1))
      .catch(() => 1);
    if (count === 0) return type;
  }
  return 'VARCHAR';
}

/** Parquet has no two columns of one name. */
function uniqueName(name: string, index: number, { columns }: Table): string {
  const same = columns.slice(0, index).filter((column) => column.name === name).length;
  return same === 0 ? name : `${name}_${same + 1}`;
}
