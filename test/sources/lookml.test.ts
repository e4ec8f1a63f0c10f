import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runQuery } from '../../src/project/answer/query.ts';
import { openProject } from '../../src/project/open/open.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import type { IngestReport } from '../../src/ingest/report.ts';
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

const regionMonths = `SELECT date_trunc('month', placed_at) AS month, cust_rgn AS region, count(*) AS n,
  sum(CASE WHEN status = 'paid' THEN amount END) AS revenue
  FROM orders LEFT JOIN customers ON customers.id = buyer_id
  WHERE channel IS DISTINCT FROM 'store' GROUP BY 1, 2`;

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
  'customer_facts.buyers': 'SELECT count(*) FROM (SELECT buyer_id FROM orders GROUP BY 1)',
  'customer_facts.regulars':
    'SELECT count(*) FROM (SELECT buyer_id FROM orders GROUP BY 1 HAVING count(*) >= 3)',
  'customer_facts.average_spent':
    'SELECT avg(spent) FROM (SELECT sum(amount) AS spent FROM orders GROUP BY buyer_id)',
  'region_months.rows': `SELECT count(*) FROM (${regionMonths})`,
  'region_months.best_revenue': `SELECT max(revenue) FROM (${regionMonths})`,
  'region_months.orders_of_first': `SELECT sum(n) FROM (SELECT n, rank() OVER (PARTITION BY month ORDER BY revenue DESC NULLS LAST) AS place FROM (${regionMonths})) WHERE place = 1`,
  'region_months.all_orders': `SELECT sum(n) FROM (${regionMonths})`,
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
    const { data: report } = JSON.parse(ingested.stdout.trimEnd().split('\n').at(-1) ?? '') as {
      data: IngestReport;
    };
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
      const byDimension: Readonly<Record<string, string>> = {
        'orders.recipient.cust_rgn':
          "SELECT c.cust_rgn, sum(o.amount) FROM orders o LEFT JOIN customers c ON c.id = o.recipient_id WHERE o.status = 'paid' GROUP BY 1",
        'orders.customer_facts.is_regular':
          "SELECT f.regular, sum(o.amount) FROM orders o LEFT JOIN (SELECT buyer_id, count(*) >= 3 AS regular FROM orders GROUP BY 1) f ON f.buyer_id = o.buyer_id WHERE o.status = 'paid' GROUP BY 1",
      };
      for (const [dimension, sql] of Object.entries(byDimension)) {
        const query = querySchema.parse({ metrics: ['orders.revenue'], dimensions: [dimension] });
        const { rows } = await runQuery(project, { query }, AbortSignal.timeout(20_000));
        const own = await shop.rows(sql);
        const sorted = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
        expect(sorted(rows), dimension).toEqual(sorted(own));
      }
    } finally {
      await project.close();
    }
    // A join to a derived table stands beside the one to the table, and contradicts nobody.
    expect(report.conflicts).toEqual([]);
    // The engine refuses one derived table; it is named once, and nothing is left of it.
    expect(report.quarantined.map(({ subject }) => subject)).toEqual(['dataset:shop.faulty']);
    expect(existsSync(`${dir}/semantic-layer/shop/faulty.yaml`)).toBe(false);
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
        items: expect.objectContaining({ added: [], changed: [], unchanged: 6 }) as unknown,
      }),
    ]);
  });
});

describe('the access filter of an explore', () => {
  interface Proposed {
    readonly id: string;
    readonly subject: string;
    readonly kind: string;
    readonly says: unknown;
  }
  const listRules = async (): Promise<readonly Proposed[]> => {
    const { stdout } = await ktx(['review', 'list', '--json'], { cwd: dir });
    const { data } = JSON.parse(stdout) as { data: { unreviewed: readonly Proposed[] } };
    return data.unreviewed.filter(({ kind }) => kind === 'access');
  };
  const path = () => `${dir}/semantic-layer/shop/orders.yaml`;

  test('is a row rule that only a person can write, and restricts nobody before', async () => {
    const [rule, ...others] = await listRules();
    expect(rule).toMatchObject({
      subject: 'dataset:shop.orders',
      says: { field: 'orders.channel', attribute: 'channel' },
    });
    expect(others).toEqual([]);
    const written = readFileSync(path(), 'utf8');
    expect(written).not.toContain('access');
    const accepted = await ktx(['review', 'accept', rule?.id ?? ''], { cwd: dir });
    expect(accepted.code).toBe(2);
    expect(accepted.stderr).toContain('semantic-layer/shop/orders.yaml');
    expect(accepted.stderr).toContain(`where: "orders.channel = '<channel>'"`);
    expect(readFileSync(path(), 'utf8')).toBe(written);

    const rules = `access:\n  - {role: web, where: "orders.channel = 'web'"}\n`;
    writeFileSync(path(), written + rules);
    expect(await listRules()).toEqual([]);
    const query = ['sl', 'query', '-m', 'orders.order_count', '--json'];
    const web = await ktx([...query, '--role', 'web'], { cwd: dir });
    const [[count]] = (JSON.parse(web.stdout) as { data: { rows: [[unknown]] } }).data.rows;
    const [own] = await shop.rows("SELECT count(*) FROM orders WHERE channel = 'web'");
    expect(Number(count)).toBe(Number(own?.[0]));

    writeFileSync(path(), written);
    const rejected = await ktx(['review', 'reject', rule?.id ?? ''], { cwd: dir });
    expect(rejected.code, rejected.stderr).toBe(0);
    expect(await listRules()).toEqual([]);
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
      'views/derived.view.lkml',
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
      {
        to: 'customer_facts',
        on: { buyer_id: 'customer_id' },
        cardinality: 'many_to_one',
        beside: true,
      },
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
        "models/shop.model.lkml line 29: explore orders.everything: left out: a cross join has no keys",
        "models/shop.model.lkml line 32: explore secret_orders: not read: access_filter, so ktx counts rows that Looker filters out",
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
        "views/derived.view.lkml line 1: view customer_facts: its table: the filter channel is left open",
        "views/derived.view.lkml line 40: view lines_of_orders: its table cannot be read, lines is not joined to one row of orders: set source or sql in the dataset file",
        "views/derived.view.lkml line 46: view bound_orders: its table cannot be read, its query has bind_all_filters: set source or sql in the dataset file",
      ]
    `);
  });

  test('takes a condition of bare words for a condition, and a name with spaces for one in quotes', () => {
    const text = `view: t { sql_table_name: main.tickets ;;
      dimension: is_open { type: yesno sql: \${TABLE}.closed_at IS NULL ;; }
      dimension: answer { type: number sql: \${TABLE}."csat" ;; }
      measure: open { type: count filters: [is_open: "yes"] } }`;
    const { said, problems } = readTexts({ 'a.view.lkml': text }, [shop.catalog]);
    expect(problems).toEqual([]);
    expect(said('field:shop.tickets.is_open', 'field')).toEqual([{ expr: 'closed_at IS NULL' }]);
    expect(said('field:shop.tickets.csat', 'synonyms')).toEqual([['answer']]);
    expect(said('metric:shop.tickets.open', 'metric')).toEqual([
      { agg: 'count', where: 'is_open' },
    ]);
  });

  test('is quoted with all of its lines', () => {
    const text = `view: tickets {
  sql_table_name: main.tickets ;;

  dimension: is_open {
    type: yesno # closed ones have a time
    sql: \${TABLE}.closed_at IS NULL ;;
  }
  measure: urgent {
    type: count
    filters: [
      priority: "high",
      is_open: "yes"
    ]
  }
  dimension: priority {}
}`;
    const { claims } = readTexts({ 'a.view.lkml': text }, [shop.catalog]);
    const evidenceOf = (subject: string) =>
      claims.find((claim) => claim.subject === subject)?.evidence[0];
    expect(evidenceOf('metric:shop.tickets.urgent')).toMatchObject({
      location: 'line 8',
      quote:
        'measure: urgent {\n  type: count\n  filters: [\n    priority: "high",\n    is_open: "yes"\n  ]\n}',
    });
    expect(evidenceOf('field:shop.tickets.is_open')).toMatchObject({
      location: 'line 4',
      quote: expect.stringContaining('closed_at IS NULL ;;\n}') as string,
    });
  });

  test('is left out with the reason where a derived table has none in the warehouse', () => {
    const texts = { 'derived.view.lkml': fixtureText('views/derived.view.lkml') };
    const { claims, leftOut } = readTexts(texts, [shop.catalog]);
    const queries = claims.flatMap(({ kind, subject }) => (kind === 'dataset' ? [subject] : []));
    expect(queries.sort()).toEqual(['dataset:shop.customers_again', 'dataset:shop.faulty']);
    expect(leftOut).toEqual([
      'derived table: view elsewhere: the warehouse has no table main.not_there',
    ]);
    const named = readTexts(
      { 'a.view.lkml': 'view: orders { derived_table: { sql: SELECT * FROM customers ;; } }' },
      [shop.catalog],
    );
    expect(named.claims).toEqual([]);
    expect(named.leftOut).toEqual([
      'derived table: view orders: a table of the warehouse is the dataset orders',
    ]);
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
    expect(performance.now() - start).toBeLessThan(60_000);
    expect(claims.filter(({ kind }) => kind === 'metric')).toEqual([]);
    expect(problems.some((problem) => problem.includes('it uses itself: a → b → a'))).toBe(true);
    expect(problems.some((problem) => problem.includes('it uses itself: p() → q() → p()'))).toBe(
      true,
    );
  });
});
