import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runQuery } from '../../src/project/answer/query.ts';
import { openProject } from '../../src/project/open/open.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { ktx } from '../cli/run-cli.ts';
import { lookmlProject, openShop, readTexts } from './lookml-project.ts';

let dir: string;
let shop: Awaited<ReturnType<typeof openShop>>;

beforeAll(async () => {
  await loadAnalyzer();
  dir = await lookmlProject();
  shop = await openShop(dir);
});
afterAll(async () => {
  await shop.close();
  rmSync(dir, { recursive: true, force: true });
});

const fixtureText = (path: string) => readFileSync(`${dir}/looker/${path}`, 'utf8');

/** Each measure of the LookML in SQL that was written without it. */
const byHand: Readonly<Record<string, string>> = {
  'orders.order_count': 'SELECT count(*) FROM orders',
  'orders.revenue': "SELECT sum(amount) FROM orders WHERE status = 'paid'",
  'orders.large_revenue':
    "SELECT sum(amount) FROM orders WHERE amount > 200 AND status IS DISTINCT FROM 'cancelled'",
  'orders.average_amount': 'SELECT avg(amount) FROM orders',
  'orders.buyers': 'SELECT count(DISTINCT buyer_id) FROM orders',
  'orders.median_amount': 'SELECT median(amount::DOUBLE) FROM orders',
  'orders.p90_amount': 'SELECT quantile_cont(amount::DOUBLE, 0.9) FROM orders',
  'orders.largest': 'SELECT 100 * max(amount) FROM orders',
  'orders.paid_orders': "SELECT count(*) FROM orders WHERE status = 'paid'",
  'orders.paid_share': "SELECT avg(CASE WHEN status = 'paid' THEN 1.0 ELSE 0 END) FROM orders",
  'customers.customer_count': 'SELECT count(*) FROM customers',
  'order_lines.units': 'SELECT sum(qty) FROM order_lines',
  'order_lines.line_value': 'SELECT sum(qty * unit_price) FROM order_lines',
  'order_lines.orders_amount':
    'SELECT avg(price) FROM (SELECT max(unit_price) AS price FROM order_lines GROUP BY order_id)',
};

describe('LookML over the sample company', () => {
  test('is added, ingested without a model, and gives the numbers of SQL by hand', async () => {
    const added = await ktx(
      ['connection', 'add', 'looker', '--driver', 'lookml', '--path', './looker', '--json'],
      { cwd: dir },
    );
    expect(added.code).toBe(0);
    const ingested = await ktx(['ingest', '--json'], { cwd: dir });
    // The broken file alone is left out.
    expect(ingested.code).toBe(3);
    expect(ingested.stdout).toContain('views/broken.view.lkml');
    const project = await openProject(dir);
    try {
      for (const [metric, sql] of Object.entries(byHand)) {
        const { rows } = await runQuery(
          project,
          { query: querySchema.parse({ metrics: [metric] }) },
          AbortSignal.timeout(20_000),
        );
        const [expected] = await shop.rows(sql);
        expect(Number(rows[0]?.[0]), metric).toBeCloseTo(Number(expected?.[0]), 6);
      }
      const { rows } = await runQuery(
        project,
        {
          query: querySchema.parse({
            metrics: ['orders.revenue'],
            dimensions: ['orders.recipient.cust_rgn'],
          }),
        },
        AbortSignal.timeout(20_000),
      );
      const own = await shop.rows(
        "SELECT c.cust_rgn, sum(o.amount) FROM orders o LEFT JOIN customers c ON c.id = o.recipient_id WHERE o.status = 'paid' GROUP BY 1",
      );
      const sorted = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
      expect(sorted(rows)).toEqual(sorted(own));
    } finally {
      await project.close();
    }
    const explained = await ktx(['explain', 'metric:shop.orders.revenue', '--json'], { cwd: dir });
    const line = fixtureText('views/orders.view.lkml')
      .split('\n')
      .findIndex((text) => text.includes('measure: revenue'));
    expect(explained.stdout).toContain('sources/looker/views/orders.view.lkml');
    expect(explained.stdout).toContain(`line ${line + 1}`);
    const again = await ktx(['ingest', '--json'], { cwd: dir });
    const { data } = JSON.parse(again.stdout.trimEnd().split('\n').at(-1) ?? '') as {
      data: Record<string, unknown>;
    };
    expect(data['commit']).toEqual({ none: 'unchanged' });
    expect(data['sources']).toEqual([
      expect.objectContaining({
        items: expect.objectContaining({ added: [], changed: [], unchanged: 5 }) as unknown,
      }),
    ]);
  });
});

describe('what LookML says', () => {
  const all = () => {
    const keys = [
      'manifest.lkml',
      'models/shop.model.lkml',
      'views/orders.view.lkml',
      'views/people.view.lkml',
      'views/broken.view.lkml',
      'views/weekly.dashboard.lookml',
    ];
    return readTexts(Object.fromEntries(keys.map((key) => [key, fixtureText(key)])), [
      shop.catalog,
    ]);
  };

  test('becomes claims about the tables of the warehouse', () => {
    const { said } = all();
    expect(said('dataset:shop.orders', 'primary_key')).toEqual([['id']]);
    expect(said('field:shop.orders.id', 'synonyms')).toEqual([['order_no']]);
    expect(said('field:shop.orders.is_large', 'field')).toEqual([{ expr: 'amount_cents > 20000' }]);
    expect(said('relationship:shop.orders(buyer_id)', 'relationship')).toEqual([
      { to: 'customers', on: { buyer_id: 'id' }, role: 'buyer', cardinality: 'many_to_one' },
    ]);
    expect(said('relationship:shop.order_lines(order_id)', 'relationship')).toEqual([
      { to: 'orders', on: { order_id: 'id' }, cardinality: 'many_to_one' },
    ]);
    expect(said('metric:shop.orders.revenue', 'unit')).toEqual(['EUR']);
    expect(said('metric:shop.orders.running', 'metric')).toEqual([]);
  });

  test('is named with its line where it does not fit', () => {
    expect(all().problems).toMatchInlineSnapshot(`
      [
        "models/shop.model.lkml line 25: explore orders.everything: left out: a cross join has no keys",
        "models/shop.model.lkml line 28: explore secret_orders: not read: access_filter, so ktx counts rows that Looker filters out",
        "views/orders.view.lkml line 19: view orders.on_demand: left out: it depends on _user_attributes['team'] == 'a'",
        "views/orders.view.lkml line 20: view orders.placed: the timeframes week_of_year are left out: ktx has no equivalent",
        "views/orders.view.lkml line 36: view orders.channels: left out: ktx has no equivalent for measures of type list",
        "views/orders.view.lkml line 37: view orders.running: left out: ktx has no equivalent for measures of type running_total",
        "views/orders.view.lkml line 38: view orders.share_of_total: left out: ktx has no equivalent for measures of type percent_of_total",
        "views/orders.view.lkml line 39: view orders.recent: left out: its filter is on placed_date, which is no dimension of the view",
        "views/orders.view.lkml line 18: view orders.coupon: left out: the table has no column coupon_code",
        "views/orders.view.lkml line 40: view orders.coupon_orders: left out: it uses coupon, which is left out",
        "views/people.view.lkml line 21: view gone: the warehouse has no table main.no_such_table",
        "views/broken.view.lkml line 4: file views/broken.view.lkml: left out: This is not valid LookML: property expected in line 4",
      ]
    `);
  });

  test('is not read where the engine is not known', () => {
    const texts = {
      'a.view.lkml': 'view: sales { sql_table_name: main.orders ;; measure: n { type: count } }',
    };
    const other = { ...shop.catalog, connection: 'other', dialect: 'postgres' };
    const { claims, problems } = readTexts(texts, [shop.catalog, other]);
    expect(claims).toEqual([]);
    expect(problems).toEqual([
      'a.view.lkml line 1: the tables could be in several warehouses of different engines: set warehouse in ktx.yaml',
    ]);
    const { said } = readTexts(texts, [shop.catalog, other], { warehouse: 'shop' });
    expect(said('metric:shop.orders.n', 'metric')).toEqual([{ agg: 'count' }]);
  });

  test('ends, whatever the files are', () => {
    const members = Array.from(
      { length: 3000 },
      (_, index) => `dimension: d${index} { sql: upper(\${d${index + 1}}) ;; }`,
    );
    const loop =
      'dimension: a { sql: ${b} ;; } dimension: b { sql: ${a} ;; } measure: m { type: max sql: ${a} ;; }';
    const measures =
      'measure: p { type: number sql: ${q} + 1 ;; } measure: q { type: number sql: ${p} + 1 ;; }';
    const texts = {
      'chain.view.lkml': `view: chain { sql_table_name: main.orders ;; ${members.join('\n')} }`,
      'loop.view.lkml': `view: loop { sql_table_name: main.orders ;; ${loop} ${measures} }`,
      'odd.view.lkml':
        'view: __proto__ { sql_table_name: main.orders ;; dimension: constructor {} dimension: toString {} }',
      'tags.view.lkml': `view: tags { sql_table_name: ${'[".'.repeat(50_000)} ;; dimension: x {} }`,
    };
    const start = performance.now();
    const { claims, problems } = readTexts(texts, [shop.catalog]);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(claims.filter(({ kind }) => kind === 'metric')).toEqual([]);
    expect(problems.some((problem) => problem.includes('it uses itself: a → b → a'))).toBe(true);
    expect(problems.some((problem) => problem.includes('it uses itself: p() → q() → p()'))).toBe(
      true,
    );
  });
});
