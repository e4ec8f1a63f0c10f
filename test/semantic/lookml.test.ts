import { stringify } from 'yaml';
import { beforeAll, expect, test } from 'vitest';
import { readLookml } from '../../src/semantic/formats/lookml/read.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const duckdb = findDialect('duckdb');
beforeAll(loadAnalyzer);

const view = `
# a comment: { with a brace
view: orders {
  sql_table_name: public.orders ;;
  label: "Shop orders"
  dimension: id { primary_key: yes type: number sql: \${TABLE}.id ;; hidden: yes }
  dimension: status { type: string description: "He said \\"paid\\"" sql: \${TABLE}.order_status ;; drill_fields: [id, status] }
  dimension: customer_id { type: number }
  dimension: recipient_id { type: number }
  dimension: is_large { type: yesno sql: \${TABLE}.amount > 100 ;; }
  dimension: size { type: tier tiers: [1, 10] sql: \${TABLE}.amount ;; }
  dimension: templated { sql: {% if x %} a {% endif %} ;; }
  dimension: of_another { sql: \${customers.name} ;; }
  dimension_group: created { type: time timeframes: [raw, date, month] sql: \${TABLE}.created_at ;; }
  measure: count { type: count }
  measure: revenue { type: sum sql: \${TABLE}.amount ;; value_format_name: eur }
  measure: paid_revenue { type: sum sql: \${TABLE}.amount ;; filters: [status: "paid, settled", is_large: "yes"] }
  measure: old_style { type: count filters: { field: status value: "open" } }
  measure: recent { type: count filters: [created_date: "last 7 days"] }
  measure: aov { type: number sql: \${revenue} / nullif(\${count}, 0) ;; }
  measure: p95 { type: percentile percentile: 95 sql: \${TABLE}.amount ;; }
  measure: latest { type: date sql: max(\${created_raw}) ;; }
  set: details { fields: [id, status] }
}
view: customers {
  derived_table: { sql: SELECT * FROM crm.customers WHERE NOT deleted ;; }
  dimension: id { primary_key: yes type: number }
  dimension: name {}
}
view: +orders { dimension: more {} }
`;
const model = `
connection: "warehouse"
include: "/views/*.view"
explore: orders {
  sql_always_where: \${orders.status} <> 'test' ;;
  join: buyer { from: customers sql_on: \${orders.customer_id} = \${buyer.id} ;; relationship: many_to_one }
  join: recipient { from: customers type: inner sql_on: \${orders.recipient_id} = \${recipient.id} ;; relationship: many_to_one }
  join: odd { from: customers sql_on: \${orders.customer_id} = \${odd.id} OR 1 = 1 ;; }
}
explore: customers {
  join: orders { sql_on: \${customers.id} = \${orders.customer_id} ;; relationship: one_to_many }
}
access_grant: finance { user_attribute: department allowed_values: ["finance"] }
`;

const files = (...texts: readonly string[]) =>
  texts.map((text, index) => ({ file: `${index}.lkml`, text }));

test('views, measures and joins become datasets', () => {
  const { datasets } = readLookml(files(model, view), { dialect: duckdb });
  expect(datasets).toEqual([
    {
      dataset: 'orders',
      source: 'public.orders',
      synonyms: ['Shop orders'],
      primary_key: ['id'],
      fields: [
        { name: 'id', type: 'decimal', hidden: true },
        { name: 'status', type: 'string', expr: 'order_status', description: 'He said "paid"' },
        { name: 'customer_id', type: 'decimal' },
        { name: 'recipient_id', type: 'decimal' },
        { name: 'is_large', type: 'boolean', expr: 'amount > 100' },
        {
          name: 'size',
          type: 'string',
          expr: "case when (amount) < 1 then '(-inf, 1)' when (amount) < 10 then '[1, 10)' when (amount) >= 10 then '[10, inf)' else 'Undefined' end",
        },
        { name: 'more', type: 'string' },
        { name: 'created', type: 'datetime', expr: 'created_at' },
      ],
      metrics: [
        { name: 'count', agg: 'count' },
        { name: 'revenue', agg: 'sum', of: 'amount', unit: 'EUR' },
        {
          name: 'paid_revenue',
          agg: 'sum',
          of: 'amount',
          where: "status in ('paid', 'settled') and is_large",
        },
        { name: 'old_style', agg: 'count', where: "status = 'open'" },
        { name: 'aov', expr: 'revenue / nullif(count, 0)' },
        { name: 'p95', agg: 'percentile', of: 'amount', fraction: 0.95 },
        { name: 'latest', expr: 'max(created)' },
      ],
      relationships: [
        { to: 'customers', on: { customer_id: 'id' }, role: 'buyer' },
        { to: 'customers', on: { recipient_id: 'id' }, role: 'recipient' },
        { to: 'customers', on: { customer_id: 'id' } },
      ],
    },
    {
      dataset: 'customers',
      sql: 'SELECT * FROM crm.customers WHERE NOT deleted',
      primary_key: ['id'],
      fields: [
        { name: 'id', type: 'decimal' },
        { name: 'name', type: 'string' },
      ],
    },
  ]);
});

test('what does not fit is named', () => {
  const { misfits } = readLookml(files(model, view), { dialect: duckdb });
  expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toEqual([
    '0.lkml:13: access_grant finance: not read: ktx has no equivalent',
    '0.lkml:4: explore orders: not read: sql_always_where, so ktx counts rows that Looker filters out',
    '0.lkml:7: explore orders.recipient: the inner join is read as left_outer, which keeps rows without a match',
    '0.lkml:8: explore orders.odd: left out: ktx cannot read its sql_on: ${orders.customer_id} = ${odd.id} OR 1 = 1',
    '1.lkml:11: view orders.size: its tiers have the labels of the style interval',
    '1.lkml:12: view orders.templated: left out: it depends on x',
    '1.lkml:13: view orders.of_another: left out: it uses customers.name of another view',
    '1.lkml:19: view orders.recent: left out: its filter is on created_date, which is no dimension of the view',
  ]);
});

test('what was read can be asked', async () => {
  const { datasets } = readLookml(files(model, view), { dialect: duckdb });
  const { model: loaded, diagnostics } = await load(
    Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)])),
  );
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { sql } = compile(loaded, {
    metrics: ['orders.paid_revenue'],
    dimensions: ['orders.buyer.name'],
  });
  expect(sql).toContain(
    `("orders".order_status in ('paid', 'settled') and ("orders".amount > 100))`,
  );
});

test('a file that is no LookML is named with its line, and the others are read', () => {
  const broken = 'view: a {\n  dimension: b {\n';
  const { datasets, misfits } = readLookml(files(broken, view, 'view: a { dimension: [ { }'), {
    dialect: duckdb,
  });
  expect(datasets.map(({ dataset }) => dataset)).toEqual(['orders', 'customers']);
  expect(
    misfits.filter(({ at }) => at.includes(' file ')).map(({ at, message }) => `${at}: ${message}`),
  ).toMatchInlineSnapshot(`
    [
      "0.lkml:3: file 0.lkml: left out: This is not valid LookML: property expected in line 3",
      "2.lkml:1: file 2.lkml: left out: This is not valid LookML: member of a list expected in line 1",
    ]
  `);
});

const project = `
constant: schema { value: "shop" }
view: base {
  extension: required
  dimension: id { primary_key: yes type: number }
  measure: count { type: count }
}
view: sales {
  extends: [base]
  sql_table_name: @{schema}.sales ;;
  parameter: scale { type: unquoted default_value: "eur" allowed_value: { value: "eur" } allowed_value: { value: "usd" } }
  parameter: open { type: string }
  dimension: buyer_id { type: number }
  dimension: amount { type: number sql: \${TABLE}.{% parameter scale %} ;; }
  dimension: same { type: number sql: {% if x._in_query %} \${amount} {% else %}\${amount}{% endif %} ;; }
  dimension: by_default { type: number sql: {% if scale._parameter_value == 'usd' %} 1 {% else %} 2 {% endif %} ;; }
  dimension: of_engine { type: number sql: {% if _dialect._name == 'duckdb' %} 3 {% else %} \${lost} {% endif %} ;; }
  dimension: asked { type: number sql: {% if open._parameter_value == 'a' %} 1 {% else %} 2 {% endif %} ;; }
  dimension: size { type: tier tiers: [10, 20] style: integer sql: \${amount} ;; }
  dimension: kind { case: { when: { sql: \${amount} > 5 ;; label: "it's big" } else: "small" } }
  dimension: of_buyer { sql: upper(\${buyer.name}) ;; }
  dimension: buyer_day { type: date sql: \${buyer.joined_date} ;; }
  dimension: place { type: location sql_latitude: \${TABLE}.lat ;; sql_longitude: \${TABLE}.lon ;; }
  dimension_group: open_for { type: duration intervals: [day, month] sql_start: \${TABLE}.a ;; sql_end: \${TABLE}.b ;; }
  dimension_group: sold { type: time datatype: date sql: \${TABLE}.sold_on ;; }
  measure: once { type: sum_distinct sql: \${amount} ;; sql_distinct_key: \${buyer_id} ;; value_format_name: eur_0 }
  measure: own_key { type: sum_distinct sql: \${amount} ;; sql_distinct_key: \${id} ;; }
  measure: by_day { type: average_distinct sql: \${amount} ;; sql_distinct_key: concat(\${buyer_id}, \${sold_date}) ;; }
  measure: northern { type: count filters: [buyer.name: "%north%,", amount: ">5"] }
  measure: not_big { type: count filters: [kind: "-it's big", amount: "[1, 20)", size: "-EMPTY"] }
  measure: north { type: count filters: [buyer.name: "north%"] }
  measure: days { type: count_distinct sql: \${sold_date} ;; }
  measure: last_day { type: date sql: max(\${sold_raw}) ;; }
  measure: no_aggregate { type: number sql: \${amount} * 2 ;; }
  measure: of_buyers { type: number sql: \${count} / \${buyer.count} ;; }
}
view: +sales { dimension: buyer_id { label: "Customer" } dimension: added {} }
view: +nobody { dimension: x {} }
view: people {
  sql_table_name: people ;;
  dimension: id { primary_key: yes type: number }
  dimension: name {}
  dimension: is_active { type: yesno sql: \${TABLE}.active = 1 ;; }
  dimension_group: joined { type: time }
  measure: count { type: count }
}
view: busy { derived_table: { sql: select * from \${sales.SQL_TABLE_NAME} where {% condition f %} amount {% endcondition %} ;; } dimension: id { type: number } }
view: built { derived_table: { explore_source: sales { column: id {} } } dimension: id { type: number } }
view: loop_a { extends: [loop_b] dimension: x {} }
view: loop_b { extends: [loop_a] dimension: y {} }
view: twice { sql_table_name: one ;; dimension: id {} }
view: twice { sql_table_name: two ;; dimension: id {} }
explore: basis {
  extension: required
  join: buyer { from: people sql_on: sales.buyer_id = \${buyer.id} and (\${buyer.is_active} or \${buyer.is_active} is null) ;; relationship: many_to_one }
}
explore: sales {
  extends: [basis]
  join: giver { from: people foreign_key: buyer_id }
  join: busy { relationship: one_to_one sql_on: (\${busy.id} = \${sales.id}) ;; }
  join: twice { relationship: one_to_one sql_on: \${twice.id} = \${sales.id} ;; }
  join: third { from: people sql_on: \${third.id} = \${sales.buyer_id} and \${third.name} = \${giver.name} ;; }
}
`;

test('constants, extensions, refinements and Liquid are resolved', async () => {
  const { datasets, misfits, places } = readLookml(files(project), { dialect: duckdb });
  expect(datasets).toMatchSnapshot();
  expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toMatchSnapshot();
  expect(places.get('sales.kind')).toMatchObject({ file: '0.lkml', line: 20 });
  const usable = datasets.filter(({ source, sql }) => source !== undefined || sql !== undefined);
  const { model: loaded, diagnostics } = await load(
    Object.fromEntries(usable.map((one) => [one.dataset, stringify(one)])),
  );
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  for (const metric of ['once', 'own_key', 'by_day', 'not_big', 'days', 'last_day'])
    expect(
      compile(loaded, { metrics: [`sales.${metric}`], dimensions: ['sales.kind'] }).sql,
    ).toContain("it''s big");
});

test.each([
  ['(${a.id} = ${b.id})', { id: 'id' }],
  ['${a.id}=${b.id} and ((${a.day_raw} = ${b.day_raw}))', { id: 'id', day: 'day' }],
  ["${a.id} = ${b.id} AND ${b.name} = 'this and that'", "id = b.id and (b.name = 'this and that')"],
  [
    '((${a.id} = ${b.id}) and (${b.n} = 0 or ${b.n} is null))',
    'id = b.id and (b.n = 0 or b.n is null)',
  ],
  [
    '${a.id} = ${b.id} and ${b.n} between 1 and 3 and ${a.n} > 2',
    'id = b.id and (b.n between 1 and 3) and (n > 2)',
  ],
  [
    '${a.id} = ${b.id} and case when ${b.n} = 1 or ${b.n} = 2 then true end',
    'id = b.id and (case when b.n = 1 or b.n = 2 then true end)',
  ],
  ['${a.id} = ${b.id} or ${a.n} = ${b.n}', undefined],
])('the join %s', (sqlOn, expected) => {
  const members =
    'dimension: id { type: number } dimension: n { type: number } dimension: name {} dimension_group: day { type: time }';
  const text = `view: a { ${members} } view: b { ${members} } explore: a { join: b { sql_on: ${sqlOn} ;; } }`;
  const { datasets } = readLookml(files(text), { dialect: duckdb });
  expect(datasets[0]?.relationships?.[0]?.on).toEqual(expected);
});

const shadowed = `view: sales {
  sql_table_name: sales ;;
  dimension: amount { type: number sql: \${TABLE}.amount / 100 ;; }
  dimension: sold { type: date sql: \${TABLE}.sold_at ;; }
  dimension: action {}
  dimension_group: action { type: time sql: \${TABLE}.acted_at ;; }
  dimension: id { type: number }
  dimension: id_twice { type: number sql: \${TABLE}.id * 2 ;; }
  dimension: on_day { sql: upper(sold) ;; }
  measure: cents { type: sum sql: \${TABLE}.amount ;; }
  measure: euros { type: sum sql: \${amount} ;; }
  measure: ids { type: sum sql: \${TABLE}.id ;; }
}`;

test('a column that a dimension of another meaning hides is never read as that dimension', () => {
  const { datasets, misfits } = readLookml(files(shadowed), { dialect: duckdb });
  expect(datasets[0]?.fields?.map(({ name }) => name)).toEqual([
    'amount',
    'sold',
    'action',
    'id',
    'id_twice',
  ]);
  expect(datasets[0]?.metrics?.map(({ name }) => name)).toEqual(['euros', 'ids']);
  expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toEqual([
    '0.lkml:9: view sales.on_day: left out: it uses the column sold, and the dimension of that name has another meaning',
    '0.lkml:6: view sales.action: left out: another field of the view has its name',
    '0.lkml:10: view sales.cents: left out: it uses the column amount, and the dimension of that name has another meaning',
  ]);
});

test('timeframes that are parts of a time become fields; those that ktx lacks are named', async () => {
  const text = `view: sales { dimension_group: sold { type: time
    timeframes: [raw, date, week, month_num, month_name, quarter_of_year, day_of_month, hour_of_day, day_of_week, day_of_week_index, week_of_year]
    sql: \${TABLE}.sold_at ;; } measure: count { type: count } }`;
  const { datasets, misfits } = readLookml(files(text), { dialect: duckdb });
  expect(misfits.map(({ message }) => message)).toEqual([
    'the timeframes week_of_year are left out: ktx has no equivalent',
  ]);
  const engine = await engineWith(
    'duckdb',
    `CREATE TABLE sales AS SELECT TIMESTAMP '2023-12-20 05:30:00' + to_hours(n * 31) AS sold_at FROM range(400) AS r(n)`,
  );
  try {
    const { model: loaded } = await load({ sales: stringify(datasets[0]) });
    const expected: Readonly<Record<string, string>> = {
      month_num: 'month(sold_at)',
      month_name: 'monthname(sold_at)',
      quarter_of_year: "'Q' || quarter(sold_at)",
      day_of_month: 'day(sold_at)',
      hour_of_day: 'hour(sold_at)',
      day_of_week: 'dayname(sold_at)',
      day_of_week_index: 'isodow(sold_at) - 1',
    };
    for (const [part, byHand] of Object.entries(expected)) {
      const { sql } = compile(loaded, {
        metrics: ['sales.count'],
        dimensions: [`sales.sold_${part}`],
      });
      const rows = await rowsOf(engine, sql);
      const own = await rowsOf(engine, `SELECT ${byHand}, count(*) FROM sales GROUP BY 1`);
      const sorted = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
      expect(sorted(rows), part).toEqual(sorted(own));
    }
  } finally {
    await engine.close();
  }
});

test('constants of the configuration win', () => {
  const { datasets } = readLookml(files(project), { dialect: duckdb, constants: { schema: 'eu' } });
  expect(datasets.find(({ dataset }) => dataset === 'sales')?.source).toBe('eu.sales');
});

test.each([
  [
    'a chain of extensions',
    Array.from(
      { length: 5000 },
      (_, i) => `view: v${i} { extends: [v${i + 1}] dimension: d${i} {} }`,
    ).join('\n'),
  ],
  [
    'queries that repeat queries',
    Array.from(
      { length: 5000 },
      (_, i) =>
        `view: v${i} { derived_table: { sql: \${v${i + 1}.SQL_TABLE_NAME} \${v${i + 1}.SQL_TABLE_NAME} ;; } dimension: id {} }`,
    ).join('\n'),
  ],
  [
    'a join in many parentheses',
    `view: a { dimension: id {} } view: b { dimension: id {} } explore: a { join: b { sql_on: ${'('.repeat(20_000)}\${a.id} = \${b.id}${')'.repeat(20_000)} ;; } }`,
  ],
  ['nested Liquid', `view: v { dimension: d { sql: ${'{% if a %}'.repeat(20_000)} ;; } }`],
  [
    'a view with a hostile name',
    'view: __proto__ { dimension: constructor {} } view: +__proto__ { extends: [__proto__] }',
  ],
])('%s ends', (_, text) => {
  const start = performance.now();
  readLookml(files(text), { dialect: duckdb });
  expect(performance.now() - start).toBeLessThan(60_000);
});
