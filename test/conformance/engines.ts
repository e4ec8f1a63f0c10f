import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import { createClickhouse } from '../support/clickhouse.ts';
import { createMariadb } from '../support/mariadb.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';

export const engineNames = ['duckdb', 'sqlite', 'postgres'] as const;
/** MariaDB answers for MySQL, where it is installed; ClickHouse in `npm run test:clickhouse`. */
export type EngineName = (typeof engineNames)[number] | 'mysql' | 'clickhouse';

export interface Engine {
  readonly warehouse: Warehouse;
  close(): Promise<void>;
}

/** Runs `script` on a fresh database of the engine, then opens it the way ktx does. */
export async function engineWith(name: EngineName, script: string): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-semantic-'));
  const { config, secret } = await prepare(name, folder, script);
  const signal = new AbortController().signal;
  const spec = {
    connection: 'warehouse',
    config,
    projectDir: folder,
    cacheDir: join(folder, 'cache'),
    secrets: () => secret,
  };
  const warehouse = await openWarehouse(spec, signal);
  return {
    warehouse,
    async close() {
      await warehouse.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function prepare(
  name: EngineName,
  folder: string,
  script: string,
): Promise<{ config: WarehouseConfig; secret: string }> {
  const path = join(folder, `data.${name}`);
  switch (name) {
    case 'duckdb': {
      const instance = await DuckDBInstance.create(path);
      const connection = await instance.connect();
      await connection.run(script);
      connection.closeSync();
      instance.closeSync();
      return { config: { driver: 'duckdb', path }, secret: '' };
    }
    case 'sqlite': {
      const database = new DatabaseSync(path);
      database.exec(script);
      database.close();
      return { config: { driver: 'sqlite', path }, secret: '' };
    }
    case 'mysql':
      return {
        config: { driver: 'mysql', url: 'env:TEST_URL', ssl: 'off' },
        secret: await createMariadb(script),
      };
    case 'clickhouse':
      return {
        config: { driver: 'clickhouse', url: 'env:TEST_URL' },
        secret: await createClickhouse(script),
      };
    case 'postgres': {
      const url = await createDatabase('semantic');
      await runPostgres(url, script);
      return { config: { driver: 'postgres', url: 'env:TEST_URL' }, secret: url };
    }
  }
  throw new Error(`no engine ${String(name)}`);
}

export async function rowsOf(
  engine: Engine,
  sql: string,
): Promise<readonly (readonly unknown[])[]> {
  const result = await engine.warehouse.query(
    sql,
    { maxRows: 10_000, timeoutMs: 20_000 },
    new AbortController().signal,
  );
  return result.rows;
}

export function createTables(
  tables: Readonly<
    Record<string, { columns: readonly string[]; rows: readonly (readonly unknown[])[] }>
  >,
): string {
  return Object.entries(tables)
    .map(([name, { columns, rows }]) => {
      const values = rows.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
      const insert = rows.length === 0 ? '' : `INSERT INTO "${name}" VALUES ${values};`;
      return `CREATE TABLE "${name}" (${columns.join(', ').replaceAll('DOUBLE', 'DOUBLE PRECISION')});\n${insert}`;
    })
    .join('\n');
}

function literal(value: unknown): string {
  if (value === null) return 'NULL';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}

/** Numbers with so many decimals: engines give some as texts, with digits of their own choice. */
export function roundedCell(cell: unknown, decimals: number): unknown {
  const isNumber =
    typeof cell === 'number' || (typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell));
  return isNumber ? Math.round(Number(cell) * 10 ** decimals) / 10 ** decimals : cell;
}
