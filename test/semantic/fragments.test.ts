import { beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { withAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { parseFragment } from '../../src/sql/fragment.ts';
import { splitDisjuncts } from '../../src/sql/boolean-operands.ts';
import { engineNames } from '../conformance/engines.ts';
import { compile, load, shop } from './shop.ts';

const hostile = [
  '1) or (1 = 1',
  '1=1) union select 1 --',
  'orders.status = 1 --',
  'orders.status = 1 /* x',
  'orders.status = 1; drop table orders',
  '(select 1) = 1',
  'exists (select 1)',
  'orders.id in (select id from customers)',
  'orders.id in (table customers)',
  '(values (1)) = 1',
  "pg_read_file('/etc/passwd') = ''",
  "read_csv('/etc/passwd') = ''",
  "orders.status = load_extension('x')",
  'pg_sleep(10) is null',
  "nextval('s') = 1",
  "set_config('a', 'b', false) = ''",
  '"pg_sleep"(1) = 1',
  'pg_catalog.pg_sleep(1) = 1',
  'orders.status.lower() = 1',
  'current_user = 1',
  'session_user = 1',
  '$1 = 1',
  '? = 1',
  ':x = 1',
  '@x = 1',
  "E'\\' or 1=1 --' = orders.status",
  '$$x$$ = orders.status',
  "orders.status = 'x",
  'orders."status = 1',
  'orders.*',
  '*',
  'count(orders.*) > 1',
  'a b',
  'orders.status orders.id',
  'orders.status, orders.id',
  'orders.status as x',
  'orders.status from orders',
  'sum(orders.amount) over () > 1',
  'sum(orders.amount) filter (where true) > 1',
  'row_number() over (order by orders.id) = 1',
  "query_to_xml('select 1', true, true, '') = ''",
  'x -> x + 1',
  '[1, 2] = 1',
  '{} = 1',
  'orders.status = `x`',
  '#x',
  '',
  ' ',
  '\0',
  "getenv('HOME') = ''",
  'orders.status[1] = 1',
  'customers.orders.status = 1',
  'main.orders.status = 1',
  "'a' = 'b' limit 1",
  'true group by 1',
  'true order by 1',
  'case when true then',
];

describe.each(engineNames)('fragments of a query on %s', (name) => {
  let model: SemanticModel;
  beforeAll(async () => {
    ({ model } = await load(shop, findDialect(name)));
  });

  test.each(hostile)('refuses %j everywhere', (text) => {
    for (const query of [
      { metrics: ['orders.revenue'], where: [text] },
      { metrics: ['orders.revenue'], having: [text] },
      { metrics: ['orders.revenue'], dimensions: ['orders.status'], qualify: [text] },
      { metrics: [text] },
      { metrics: [{ name: 'x', expr: text }] },
      { metrics: ['orders.revenue'], dimensions: [text] },
      { metrics: ['orders.revenue'], segments: [text] },
      { metrics: ['orders.revenue'], order_by: [{ field: text }] },
    ]) {
      expect(() => compile(model, query as never)).toThrow();
    }
    expect(() => compile(model, { metrics: ['orders.revenue'], where: [text || ' '] })).toThrow(
      UserError,
    );
  });

  test.each([
    "orders.status like 'a%' escape '!'",
    "lower(orders.status) in ('paid', 'x;--', 'it''s')",
    "orders.created_at between date '2024-01-01' and date '2024-02-01'",
    "extract(year from orders.created_at) = 2024 and orders.created_at.month = '2024-01-01'",
    'case when orders.amount > 1 and orders.id = 2 then 1 else 2 end = 1',
    'cast(orders.amount as decimal(10, 2)) > 1.5',
    'coalesce(orders.amount, -1) is not null and not orders.amount = 1',
    "orders.\"status\" = 'é𝒳' and buyer.segment = 'x'",
    '(orders.amount > 1 and orders.amount < 3)',
    'true',
  ])('accepts %j', (text) => {
    expect(compile(model, { metrics: ['orders.revenue'], where: [text] }).sql).toContain('WHERE');
  });
});

describe('arithmetic over metrics', () => {
  let model: SemanticModel;
  beforeAll(async () => {
    ({ model } = await load(shop));
  });
  const outer = (expr: string): string =>
    compile(model, { metrics: [{ name: 'x', expr }] })
      .sql.split('\n')
      .find((line) => line.startsWith('SELECT')) ?? '';

  test('divides for real, by no zero, and keeps precedence', () => {
    expect(outer('orders.revenue / orders.order_count / 2')).toMatchInlineSnapshot(
      `"SELECT (sum("orders"."amount") / NULLIF(count(*), 0) / 2) AS "x""`,
    );
    expect(
      outer('orders.revenue - orders.order_count * 2 / (orders.revenue + 1)'),
    ).toMatchInlineSnapshot(
      `"SELECT (sum("orders"."amount") - count(*) * 2 / NULLIF((sum("orders"."amount") + 1), 0)) AS "x""`,
    );
    expect(outer('-orders.revenue / -2')).toMatchInlineSnapshot(
      `"SELECT (-sum("orders"."amount") / -2) AS "x""`,
    );
    expect(
      outer('case when orders.revenue / 2 > 1 then 1 / orders.order_count end / 3'),
    ).toMatchInlineSnapshot(
      `"SELECT (case when sum("orders"."amount") / 2 > 1 then 1 / NULLIF(count(*), 0) end / 3) AS "x""`,
    );
    expect(
      outer('round(orders.revenue / 3, 2) + orders.revenue::double precision / 2'),
    ).toMatchInlineSnapshot(
      `"SELECT (round(sum("orders"."amount") / 3, 2) + sum("orders"."amount")::double precision / 2) AS "x""`,
    );
    expect(outer('coalesce(orders.revenue, 0) in (1, 2)')).toMatchInlineSnapshot(
      `"SELECT (coalesce(sum("orders"."amount"), 0) in (1, 2)) AS "x""`,
    );
  });

  test.each([
    'orders.revenue // 2',
    'orders.revenue ** 2',
    'orders.revenue || 2',
    'orders.revenue ^ 2',
  ])('refuses %s', (expr) => {
    expect(() => outer(expr)).toThrow(UserError);
  });
});

describe('a condition is cut', () => {
  const pieces = async (text: string, of: 'and' | 'or') => {
    const fragment = await withAnalyzer(() =>
      parseFragment(text, { dialect: findDialect('duckdb'), origin: 'query' }),
    );
    const spans = of === 'and' ? fragment.conjuncts : splitDisjuncts(fragment.tokens);
    return spans.map(({ start, end }) => text.slice(start, end));
  };

  test.each([
    ["o.a = 1 and o.b = 'x and y' and o.c = 2", ['o.a = 1', "o.b = 'x and y'", 'o.c = 2']],
    ['o.a between 1 and 5 and o.b > 2', ['o.a between 1 and 5', 'o.b > 2']],
    ['o.a between 1 and 2 and o.b between 3 and 4', ['o.a between 1 and 2', 'o.b between 3 and 4']],
    [
      'case when o.a = 1 and o.b = 2 then 1 end = 1 and o.c = 3',
      ['case when o.a = 1 and o.b = 2 then 1 end = 1', 'o.c = 3'],
    ],
    ['((o.a = 1) and (o.b = 2 and o.c = 3))', ['(o.a = 1)', '(o.b = 2 and o.c = 3)']],
    ['o.a = 1 and o.b = 2 or o.c = 3', ['o.a = 1 and o.b = 2 or o.c = 3']],
  ])('at AND: %s', async (text, parts) => expect(await pieces(text, 'and')).toEqual(parts));

  test.each([
    ['o.a = 1 or o.b = 2 and o.c = 3', ['o.a = 1', 'o.b = 2 and o.c = 3']],
    ['(o.a = 1 or (o.b = 2 or o.c = 3))', ['o.a = 1', '(o.b = 2 or o.c = 3)']],
    [
      'case when o.a = 1 or o.b = 2 then 1 end = 1 or o.c = 3',
      ['case when o.a = 1 or o.b = 2 then 1 end = 1', 'o.c = 3'],
    ],
    ['o.a = 1', ['o.a = 1']],
  ])('at OR: %s', async (text, parts) => expect(await pieces(text, 'or')).toEqual(parts));
});
