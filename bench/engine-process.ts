import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openReader } from '../src/warehouse/drivers/duckdb/reader.ts';
import { runDuckdbStatement } from '../src/warehouse/drivers/duckdb/run-statement.ts';
import type { Cell } from '../src/warehouse/warehouse.ts';

/**
 * `npm run bench:engine-process` compares DuckDB in its own process with the same code in this
 * process: the median time of a statement, as a ratio. A statement of more than 50 ms may take 1.15
 * times as long.
 */
const largestRatio = 1.15;
const noticeableMs = 50;

interface Case {
  readonly name: string;
  readonly sql: string;
  readonly rounds: number;
}
const cases: readonly Case[] = [
  { name: 'small query', sql: 'SELECT count(*) FROM small', rounds: 300 },
  {
    name: 'scan of 10M rows',
    sql: 'SELECT n % 1000 AS g, sum(n), min(text), count(DISTINCT n % 77) FROM large GROUP BY 1 ORDER BY 1 LIMIT 5',
    rounds: 9,
  },
  { name: '1,000 rows', sql: 'SELECT * FROM large LIMIT 1000', rounds: 60 },
  { name: '100,000 rows', sql: 'SELECT * FROM large LIMIT 100000', rounds: 11 },
  { name: '20 MB of text', sql: "SELECT repeat('ab', 10000) AS t FROM range(1000)", rounds: 11 },
  {
    name: 'nested values',
    sql: "SELECT [n, n + 1] AS l, {'a': n, 'b': text} AS s FROM large LIMIT 30000",
    rounds: 11,
  },
];

const folder = mkdtempSync(join(tmpdir(), 'ktx-bench-engine-'));
try {
  const path = join(folder, 'bench.duckdb');
  await createBenchDatabase(path);
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const started = performance.now();
  const reader = openReader({ path, options: { access_mode: 'READ_ONLY' }, settings: [] });
  const limits = { maxRows: 1_000_000, timeoutMs: 120_000, signal: new AbortController().signal };
  await reader.query('SELECT 1', limits);
  console.log(
    `start of the process and first answer: ${Math.round(performance.now() - started)} ms`,
  );
  const ways = {
    inside: async (sql: string): Promise<number> => {
      const connection = await instance.connect();
      const rows: Cell[][] = [];
      const emit = async (batch: readonly (readonly Cell[])[]): Promise<void> =>
        void rows.push(...(batch as Cell[][]));
      await runDuckdbStatement(connection, sql, { maxRows: limits.maxRows, emit });
      connection.closeSync();
      return rows.length;
    },
    apart: async (sql: string): Promise<number> => (await reader.query(sql, limits)).rows.length,
  };
  for (const one of cases) await compare(one, ways);
  await reader.close();
  instance.closeSync();
} finally {
  rmSync(folder, { recursive: true });
}

async function compare(
  { name, sql, rounds }: Case,
  ways: Readonly<Record<'inside' | 'apart', (sql: string) => Promise<number>>>,
): Promise<void> {
  const times = { inside: [] as number[], apart: [] as number[] };
  let rows = 0;
  for (let round = 0; round < rounds + 2; round += 1)
    for (const way of ['inside', 'apart'] as const) {
      const start = performance.now();
      rows = await ways[way](sql);
      // The first two rounds warm up.
      if (round >= 2) times[way].push(performance.now() - start);
    }
  const [inside, apart] = [median(times.inside), median(times.apart)];
  const perSecond = Math.round((rows / apart) * 1000).toLocaleString('en');
  console.log(
    `${name.padEnd(18)} ${inside.toFixed(2)} ms inside, ${apart.toFixed(2)} ms apart, ratio ${(apart / inside).toFixed(2)}; ${perSecond} rows a second`,
  );
  if (inside > noticeableMs && apart > inside * largestRatio) process.exitCode = 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function createBenchDatabase(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run(
    `CREATE TABLE small AS SELECT range AS n FROM range(100);
    CREATE TABLE large AS SELECT range AS n, 'text ' || range % 1000 AS text, range / 7 AS ratio, DATE '2024-01-01' + (range % 900)::INTEGER AS day,
      (range % 100000)::DECIMAL(12, 2) AS amount, range % 3 = 0 AS flag FROM range(10000000)`,
  );
  connection.closeSync();
  instance.closeSync();
}
