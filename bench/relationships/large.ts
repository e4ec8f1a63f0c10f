import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scan } from '../../src/scan/scan.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import startServer from '../../test/support/postgres-server.ts';
import type { DatabaseTruth } from './generated-database.ts';
import { scoreOf, type Score } from './score.ts';

/**
 * SQL for a star schema with `rows` sales, a date key, two roles, orphans and a bridge table. All
 * ids start at 1. Runs on Postgres and DuckDB.
 */
function largeStar(rows: number): string[] {
  const series = (count: number): string => `generate_series(1, ${count}) AS s (i)`;
  /** 31 days a month, as a number that reads like a date. */
  const day = (ordinal: string): string =>
    `CAST(20200001 + (${ordinal} - ${ordinal} % 31) / 31 * 100 + ${ordinal} % 31 AS integer)`;
  const spread = (factor: number, count: number): string =>
    `(i * CAST(${factor} AS bigint)) % ${count} + 1`;
  return [
    `CREATE TABLE dim_day AS SELECT ${day('i')} AS day_key, i AS ordinal FROM ${series(1800)}`,
    `CREATE TABLE dim_buyer AS SELECT i AS buyer_key, 'Buyer ' || i AS label, i % 60 + 1 AS place_key FROM ${series(200_000)}`,
    `CREATE TABLE dim_place AS SELECT i AS place_key, 'Place ' || i AS label FROM ${series(60)}`,
    `CREATE TABLE dim_article AS SELECT i AS article_key, 'A-' || (i * 7) AS sku, i % 25 + 1 AS group_key FROM ${series(40_000)}`,
    `CREATE TABLE dim_group AS SELECT i AS group_key, 'Group ' || i AS label FROM ${series(25)}`,
    `CREATE TABLE dim_branch AS SELECT i AS branch_key, 'Branch ' || i AS label, i % 60 + 1 AS place_key FROM ${series(300)}`,
    `CREATE TABLE fact_sale AS SELECT i AS sale_key, ${day('(i % 1800 + 1)')} AS sold_day_key, ${day('(i % 1700 + 1)')} AS sent_day_key, ${spread(7919, 200_000)} AS buyer_key, ${spread(104_729, 40_800)} AS article_key, i % 300 + 1 AS branch_key, i % 12 + 1 AS pieces, (i % 9973) / 100.0 AS amount FROM ${series(rows)}`,
    `CREATE TABLE fact_return AS SELECT i AS return_key, ${spread(31, rows)} AS sale_key, i % 9 + 1 AS reason FROM ${series(Math.round(rows / 20))}`,
  ];
}

const largeTruth: DatabaseTruth = {
  primary_keys: {
    dim_day: ['day_key'],
    dim_buyer: ['buyer_key'],
    dim_place: ['place_key'],
    dim_article: ['article_key'],
    dim_group: ['group_key'],
    dim_branch: ['branch_key'],
    fact_sale: ['sale_key'],
    fact_return: ['return_key'],
  },
  links: [
    ['dim_buyer', 'place_key', 'dim_place', 'place_key'],
    ['dim_article', 'group_key', 'dim_group', 'group_key'],
    ['dim_branch', 'place_key', 'dim_place', 'place_key'],
    ['fact_sale', 'sold_day_key', 'dim_day', 'day_key'],
    ['fact_sale', 'sent_day_key', 'dim_day', 'day_key'],
    ['fact_sale', 'buyer_key', 'dim_buyer', 'buyer_key'],
    ['fact_sale', 'article_key', 'dim_article', 'article_key'],
    ['fact_sale', 'branch_key', 'dim_branch', 'branch_key'],
    ['fact_return', 'sale_key', 'fact_sale', 'sale_key'],
  ].map(([from = '', own = '', to = '', other = '']) => ({
    from,
    from_columns: [own],
    to,
    to_columns: [other],
  })),
};

async function writeDuckdb(path: string, script: readonly string[]): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const statement of script) await connection.run(statement);
  connection.closeSync();
  instance.closeSync();
}

export interface LargeScore extends Score {
  readonly seconds: number;
  /** Of this process at its end, the engine included where it runs in it. */
  readonly megabytes: number;
}

/** Scans a DuckDB with five million sales and a Postgres with two million. */
export async function scoreLarge(): Promise<LargeScore[]> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-large-'));
  let url = '';
  const stop = await startServer({
    provide: (_: string, value: unknown) => void (url = String(value)),
  } as Parameters<typeof startServer>[0]);
  try {
    const path = join(dir, 'star.duckdb');
    await writeDuckdb(path, largeStar(5_000_000));
    const duckdb = await scored('duckdb, 5,000,000 rows', { driver: 'duckdb', path }, '');
    const client = new Client({ connectionString: url });
    await client.connect();
    for (const statement of largeStar(2_000_000)) await client.query(statement);
    await client.query('ANALYZE');
    await client.end();
    return [
      duckdb,
      await scored('postgres, 2,000,000 rows', { driver: 'postgres', url: 'env:URL' }, url),
    ];
  } finally {
    await stop();
    rmSync(dir, { recursive: true });
  }
}

async function scored(name: string, config: WarehouseConfig, url: string): Promise<LargeScore> {
  const { signal } = new AbortController();
  const warehouse = await openWarehouse(
    { connection: 'bench', config, projectDir: '/', cacheDir: '/', secrets: () => url },
    signal,
  );
  const db = new DatabaseSync(':memory:');
  try {
    const started = performance.now();
    const result = await scan({
      warehouse,
      scope: {},
      state: { db },
      config: scanConfigSchema.parse({}),
      signal,
    });
    const seconds = (performance.now() - started) / 1000;
    return {
      ...scoreOf(name, result, largeTruth),
      seconds,
      megabytes: process.memoryUsage().rss / 1_000_000,
    };
  } finally {
    db.close();
    await warehouse.close();
  }
}
