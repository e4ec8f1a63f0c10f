import { writeFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alignRows } from '../../src/eval/report/rows/align-rows.ts';
import { writeRun } from '../../src/eval/run/run-file.ts';
import type { EvalRun } from '../../src/eval/run/run-schema.ts';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { openShop, type Shop } from '../mcp/shop.ts';

const exact = { numeric: { rel: 1e-9, abs: 1e-9 }, allow: [] };

function table(columns: string, ...rows: readonly (readonly (string | number | null)[])[]) {
  return { columns: columns.split(' ').map((name) => ({ name, type: 'string' as const })), rows };
}

describe('rows of an answer beside the golden ones', () => {
  test('a row goes to the one of the same name, and each cell says whether it differs', () => {
    const golden = table('region revenue', ['EU', 10], ['US', 20], ['UK', 30]);
    const actual = table('region revenue', ['US', 20], ['EU', 11], ['CH', 30]);
    const { rows, counts } = alignRows(actual, golden, exact);
    expect(counts).toEqual({ same: 1, different: 2, missing: 0, superfluous: 0 });
    expect(
      rows.map(({ kind, expected, actual: got, differs }) => [kind, expected, got, differs]),
    ).toEqual([
      ['different', ['EU', 10], ['EU', 11], [false, true]],
      ['different', ['UK', 30], ['CH', 30], [true, false]],
      ['same', ['US', 20], ['US', 20], [false, false]],
    ]);
  });

  test('rows that have nothing in common are missing, and superfluous', () => {
    const golden = table('region revenue', ['EU', 10], ['US', 20]);
    const { rows } = alignRows(table('region revenue', ['EU', 10], ['CH', 5]), golden, exact);
    expect(rows.map(({ kind, expected, actual }) => [kind, expected, actual])).toEqual([
      ['missing', ['US', 20], undefined],
      ['superfluous', undefined, ['CH', 5]],
      ['same', ['EU', 10], ['EU', 10]],
    ]);
  });

  test('columns go by name, then by values; what nobody asked for makes no row wrong', () => {
    const golden = table('region revenue', ['EU', 10], ['US', 20]);
    const actual = table('n total Region', [1, 10, 'EU'], [2, 21, 'US']);
    const { columns, rows } = alignRows(actual, golden, exact);
    expect(columns).toEqual([
      { expected: 'region', actual: 'Region' },
      { expected: 'revenue', actual: 'total' },
      { expected: undefined, actual: 'n' },
    ]);
    expect(rows.map(({ kind, differs }) => [kind, ...differs])).toEqual([
      ['different', false, true, false],
      ['same', false, false, false],
    ]);
    const without = alignRows(table('region', ['EU'], ['US']), golden, exact);
    expect(without.columns[1]).toEqual({ expected: 'revenue', actual: undefined });
    expect(without.counts).toMatchObject({ different: 2 });
  });

  test('numbers are compared as the case compares them', () => {
    const golden = table('revenue', [1000]);
    const near = table('revenue', [1000.4]);
    expect(alignRows(near, golden, exact).counts).toMatchObject({ missing: 1, superfluous: 1 });
    const rule = { numeric: { rel: 0.001, abs: 0 }, allow: [] };
    expect(alignRows(near, golden, rule).counts).toMatchObject({ same: 1 });
  });

  test('equal rows are as many as they are, and long results are cut and counted', () => {
    const twice = table('region', ['EU'], ['EU']);
    expect(alignRows(table('region', ['EU']), twice, exact).counts).toMatchObject({
      same: 1,
      missing: 1,
    });
    const many = table('id', ...Array.from({ length: 700 }, (_, id) => [id]));
    const compared = alignRows(many, many, exact);
    expect(compared.counts.same).toBe(500);
    expect(compared.rows).toHaveLength(50);
    expect(compared.unlisted).toBe(650);
    const long = alignRows(table('a', ['x'.repeat(999)]), table('a', ['x'.repeat(999)]), exact);
    expect(long.rows[0]?.expected).toEqual(['x'.repeat(200)]);
  });
});

const goldenSql = 'SELECT status, SUM(amount) AS revenue FROM orders GROUP BY status';
const wrongSql =
  "SELECT status, SUM(amount) + 1 AS total FROM orders WHERE status = 'paid' GROUP BY 1";
const turn = (answer: string, outcome: 'fail' | 'pass') => ({
  question: 'Revenue by status?',
  answer,
  outcome,
  stop_reason: 'completed',
  findings: [{ grader: 'result', outcome, found: '1 rows instead of 2' }],
  queries: [
    { id: 'q1', tool: 'run_sql', sql: wrongSql, metrics: [], rows: 1, truncated: false },
    { id: 'q2', tool: 'run_sql', sql: goldenSql, metrics: [], rows: 2, truncated: false },
  ],
  tools: [],
  golden_sql: goldenSql,
  tokens: 1,
  cost_usd: 0,
  ms: 1,
});
const run: EvalRun = {
  version: 1,
  id: 'run_1',
  started: '2026-01-01T00:00:00.000Z',
  ms: 1,
  ktx: '0.1.0',
  interrupted: false,
  context: { uncommitted: [], semantic_layer: '', wiki: '', questions: '', agents: [] },
  cases: [
    {
      id: 'set/revenue',
      tags: [],
      outcome: 'fail',
      flaky: true,
      attempts: [
        { outcome: 'pass', turns: [turn('It is 4 [q2].', 'pass')] },
        { outcome: 'fail', turns: [turn('It is 5 [q1].', 'fail')] },
      ],
    },
    { id: 'set/none', tags: [], outcome: 'fail', flaky: false, attempts: [] },
  ],
};

describe('ktx eval diff', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop('sqlite');
    await writeRun(shop.dir, run);
  });
  afterAll(() => shop?.remove());

  test('asks the warehouse for both, for the answer that failed, by the query that it cites', async () => {
    const { code, stdout, stderr } = await ktx(['eval', 'diff', 'revenue', '--format=csv'], {
      cwd: shop.dir,
    });
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      'row,status,revenue',
      'expected,paid,1800',
      'got,,1801',
      '-,refunded,2250',
      '',
    ]);
    expect(stderr).toContain(
      '0 rows are the same, 1 differ, 1 are missing (-), 0 superfluous (+) in q1.',
    );
    const { envelope } = await ktxJson(['eval', 'diff', 'set/revenue', '--attempt=1'], {
      cwd: shop.dir,
    });
    expect(envelope.data).toMatchObject({ attempt: 1, query: 'q2', counts: { same: 2 } });
  });

  test('the match rule of the case holds, and where golden SQL runs', async () => {
    mkdirSync(join(shop.dir, 'evals'), { recursive: true });
    writeFileSync(
      join(shop.dir, 'evals/set.yaml'),
      `cases:\n  - id: revenue\n    question: Revenue by status?\n    connection: shop\n    expect:\n      result:\n        golden_sql: ${goldenSql}\n        match: {numeric: {rel: 0.01}}\n`,
    );
    const { envelope } = await ktxJson(['eval', 'diff', 'revenue'], { cwd: shop.dir });
    expect(envelope.data).toMatchObject({ counts: { same: 1, missing: 1 } });
  });

  test('an answer from another warehouse is read there', async () => {
    const dir = join(shop.dir, 'two');
    mkdirSync(dir);
    const shops = { shop: 1800, other: 7 };
    for (const [name, amount] of Object.entries(shops)) {
      using db = new DatabaseSync(join(dir, `${name}.db`));
      db.exec(`CREATE TABLE orders (status TEXT, amount REAL)`);
      db.exec(`INSERT INTO orders VALUES ('paid', ${amount})`);
    }
    const connections = Object.keys(shops).map(
      (name) => `  ${name}:\n    driver: sqlite\n    path: ${name}.db\n`,
    );
    writeFileSync(join(dir, 'ktx.yaml'), `connections:\n${connections.join('')}`);
    mkdirSync(join(dir, 'evals'));
    const asked = `question: Revenue by status?\n    connection: shop\n    expect:\n      result:\n        golden_sql: ${goldenSql}`;
    writeFileSync(join(dir, 'evals/set.yaml'), `cases:\n  - id: revenue\n    ${asked}\n`);
    const { queries, ...own } = turn('It is 7 [q2].', 'fail');
    const elsewhere = queries.map((query) => ({ ...query, connection: 'other' }));
    const attempts = [{ outcome: 'fail' as const, turns: [{ ...own, queries: elsewhere }] }];
    const [first] = run.cases;
    if (first === undefined) throw new Error('the run has no case');
    await writeRun(dir, { ...run, cases: [{ ...first, attempts }] });
    const { envelope } = await ktxJson(['eval', 'diff', 'revenue'], { cwd: dir });
    expect(envelope.data).toMatchObject({ counts: { same: 0, different: 1 } });
  });

  test('says what cannot be compared', async () => {
    for (const [argv, error] of [
      [['nothing'], 'case_unknown'],
      [['set/none'], 'rows_unknown'],
      [['revenue', '--attempt=7'], 'rows_unknown'],
      [['revenue', '--run=nope'], 'run_unknown'],
    ] as const) {
      const { code, envelope } = await ktxJson(['eval', 'diff', ...argv], { cwd: shop.dir });
      expect([argv, code, envelope.error?.code]).toEqual([argv, 2, error]);
    }
  });
});
