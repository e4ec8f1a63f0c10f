import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { Client } from 'pg';
import { emit } from '../src/semantic/emit/emit.ts';
import { loadModel } from '../src/semantic/load/load.ts';
import { createPlan } from '../src/semantic/plan/plan.ts';
import { querySchema, type SemanticQuery } from '../src/semantic/query/query.ts';
import { loadAnalyzer } from '../src/sql/analyzer.ts';
import type { Dialect } from '../src/sql/dialect.ts';
import { duckdb } from '../src/sql/dialects/duckdb.ts';
import { postgres } from '../src/sql/dialects/postgres.ts';
import startServer from '../test/support/postgres-server.ts';

/**
 * The second part of `npm run bench:semantic` runs ten shapes of queries over 10M rows of DuckDB
 * and 2M rows of Postgres, beside SQL that a person would write for the same rows. Prints the ratio
 * of the fastest of three runs each. Exits with 1 if a ratio is above 1.3.
 */
const mostRatio = 1.3;
const runs = 3;

interface Shape {
  readonly name: string;
  readonly query: Partial<Record<keyof SemanticQuery, unknown>>;
  /** `month` and `day` stand for the period of a row, `year` for a year as an interval. */
  readonly byHand: (period: (grain: string) => string, year: string) => string;
}

const grouped = (period: string): string =>
  `SELECT ${period} AS m, sum(amount) AS s FROM o GROUP BY 1`;
const byRegion =
  'SELECT c.region, sum(o.amount) AS s, count(*) AS n FROM o LEFT JOIN c ON c.id = o.customer_id';
const shapes: readonly Shape[] = [
  {
    name: 'by month',
    query: { metrics: ['o.total'], dimensions: ['o.moment.month'] },
    byHand: (period) => `${grouped(period('month'))} ORDER BY 1`,
  },
  {
    name: 'by day',
    query: { metrics: ['o.total'], dimensions: ['o.moment.day'] },
    byHand: (period) => `${grouped(period('day'))} ORDER BY 1`,
  },
  {
    name: 'by a joined field',
    query: { metrics: ['o.total', 'o.n'], dimensions: ['c.region'] },
    byHand: () => `${byRegion} GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'filtered metric',
    query: { metrics: ['o.paid', 'o.total'], dimensions: ['o.moment.month'] },
    byHand: (period) =>
      `SELECT ${period('month')} AS m, sum(amount) FILTER (WHERE status = 'paid'), sum(amount) FROM o GROUP BY 1 ORDER BY 1`,
  },
  {
    name: 'running total',
    query: { metrics: ['o.running'], dimensions: ['o.moment.month'] },
    byHand: (period) =>
      `SELECT m, sum(s) OVER (ORDER BY m) FROM (${grouped(period('month'))}) AS g ORDER BY 1`,
  },
  {
    name: 'rolling week',
    query: { metrics: ['o.rolling'], dimensions: ['o.moment.day'] },
    byHand: (period) =>
      `SELECT m, sum(s) OVER (ORDER BY m RANGE BETWEEN INTERVAL '6 days' PRECEDING AND CURRENT ROW) FROM (${grouped(period('day'))}) AS g ORDER BY 1`,
  },
  {
    name: 'previous year',
    query: { metrics: ['o.total'], dimensions: ['o.moment.month'], compare_to: '1 year' },
    byHand: (period, year) =>
      `WITH g AS (${grouped(period('month'))}) SELECT g.m, g.s, p.s, g.s - p.s FROM g LEFT JOIN g AS p ON p.m + ${year} = g.m ORDER BY 1`,
  },
  {
    name: 'share of total',
    query: { metrics: ['o.total'], dimensions: ['c.region'], share_of: 'total' },
    byHand: () =>
      `SELECT region, s, s / sum(s) OVER () FROM (${byRegion} GROUP BY 1) AS g ORDER BY 1`,
  },
  {
    name: 'top ten',
    query: { metrics: ['o.total'], dimensions: ['o.customer_id'], top: '10' },
    byHand: () =>
      'SELECT customer_id, sum(amount) AS s FROM o GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 10',
  },
  {
    name: 'joined condition',
    query: {
      metrics: ['o.total'],
      dimensions: ['o.moment.month'],
      where: ["c.region = 'r1'"],
    },
    byHand: (period) =>
      `SELECT ${period('month')} AS m, sum(amount) FROM o JOIN c ON c.id = o.customer_id WHERE c.region = 'r1' GROUP BY 1 ORDER BY 1`,
  },
];

const dataset = `dataset: o
source: o
primary_key: [id]
default_time: moment
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: amount, type: decimal}
  - {name: status, type: string}
  - {name: moment, type: datetime}
metrics:
  - {name: total, agg: sum, of: amount}
  - {name: paid, agg: sum, of: amount, where: status = 'paid'}
  - {name: n, agg: count}
  - {name: running, cumulative: {of: total}}
  - {name: rolling, cumulative: {of: total, window: 7 days}}
relationships: [{to: c, on: {customer_id: id}}]
`;
const customers = `dataset: c
source: c
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string}]
`;

/** Runs a statement to its end. */
type Run = (sql: string) => Promise<unknown>;

await loadAnalyzer();
await onDuckdb(10_000_000);
await onPostgres(2_000_000);

async function onDuckdb(rows: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-bench-shapes-'));
  const instance = await DuckDBInstance.create(join(dir, 'shapes.duckdb'));
  const connection = await instance.connect();
  try {
    await connection.run(
      `CREATE TABLE c AS SELECT range AS id, 'r' || range % 10 AS region FROM range(100000);
       CREATE TABLE o AS SELECT range AS id, hash(range) % 100000 AS customer_id, ((hash(range + 1) % 10000) / 100)::DECIMAL(12, 2) AS amount,
         CASE hash(range + 2) % 3 WHEN 0 THEN 'paid' ELSE 'open' END AS status,
         TIMESTAMP '2021-01-01' + INTERVAL (hash(range + 3) % 1576800) MINUTE AS moment FROM range(${rows})`,
    );
    await compare('DuckDB', duckdb, async (sql) => connection.runAndReadAll(sql));
  } finally {
    connection.closeSync();
    instance.closeSync();
    rmSync(dir, { recursive: true });
  }
}

async function onPostgres(rows: number): Promise<void> {
  let url = '';
  const stop = await startServer({
    provide: (_: string, value: unknown) => void (url = String(value)),
  } as Parameters<typeof startServer>[0]);
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(
      `CREATE TABLE c AS SELECT i AS id, 'r' || i % 10 AS region FROM generate_series(0, 99999) AS s (i);
       CREATE TABLE o AS SELECT i AS id, (i::bigint * 7919) % 100000 AS customer_id, ((i::bigint * 31) % 10000 / 100.0)::numeric(12, 2) AS amount,
         CASE i % 3 WHEN 0 THEN 'paid' ELSE 'open' END AS status,
         TIMESTAMP '2021-01-01' + make_interval(mins => ((i::bigint * 104729) % 1576800)::int) AS moment FROM generate_series(1, ${rows}) AS s (i);
       ANALYZE`,
    );
    await compare('Postgres', postgres, async (sql) => client.query(sql));
  } finally {
    await client.end();
    await stop();
  }
}

async function compare(engine: string, dialect: Dialect, run: Run): Promise<void> {
  const columns = (names: string) => names.split(' ').map((name) => ({ name }));
  const schema = dialect.defaultSchema;
  const { model, diagnostics } = await loadModel({
    dialect,
    files: [
      { path: 'semantic-layer/w/o.yaml', text: dataset },
      { path: 'semantic-layer/w/c.yaml', text: customers },
    ],
    tables: [
      { schema, table: 'o', columns: columns('id customer_id amount status moment') },
      { schema, table: 'c', columns: columns('id region') },
    ],
  });
  if (diagnostics[0] !== undefined) throw new Error(diagnostics[0].message);
  const period = (grain: string): string => `date_trunc('${grain}', moment)`;
  for (const { name, query, byHand } of shapes) {
    const planned = await fastest(run, emit(createPlan(model, querySchema.parse(query)), dialect));
    const written = await fastest(run, byHand(period, "INTERVAL '1 year'"));
    const ratio = planned / written;
    if (ratio > mostRatio) process.exitCode = 1;
    console.log(
      `${engine.padEnd(9)} ${name.padEnd(18)} ${planned.toFixed(0).padStart(5)} ms, by hand ${written.toFixed(0).padStart(5)} ms, ratio ${ratio.toFixed(2)}`,
    );
  }
}

async function fastest(run: Run, sql: string): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < runs; turn += 1) {
    const started = performance.now();
    await run(sql);
    times.push(performance.now() - started);
  }
  return Math.min(...times);
}
