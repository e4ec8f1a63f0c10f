import { stringify } from 'yaml';
import { beforeAll, expect, test } from 'vitest';
import { readLookml } from '../../src/semantic/formats/lookml/read.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
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

test('views, measures and joins become datasets', () => {
  const { datasets } = readLookml([model, view], duckdb);
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
        { name: 'created', type: 'datetime', expr: 'created_at' },
      ],
      metrics: [
        { name: 'count', agg: 'count' },
        { name: 'revenue', agg: 'sum', of: 'amount' },
        {
          name: 'paid_revenue',
          agg: 'sum',
          of: 'amount',
          where: "status in ('paid', 'settled') and is_large",
        },
        { name: 'old_style', agg: 'count', where: "status = 'open'" },
        { name: 'aov', expr: 'revenue / nullif(count, 0)' },
        { name: 'p95', agg: 'percentile', of: 'amount', fraction: 0.95 },
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
  const { misfits } = readLookml([model, view], duckdb);
  expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toEqual([
    'access_grant finance: not read: ktx has no equivalent',
    'view +orders: left out: ktx does not read refinements',
    'view orders: not read: set',
    'view orders.status: not read: drill_fields',
    'view orders.size: left out: ktx has no equivalent for dimensions of type tier',
    'view orders.templated: left out: it is written in Liquid',
    'view orders.of_another: left out: it uses customers.name of another view',
    'view orders.revenue: not read: value_format_name',
    'view orders.recent: left out: ktx cannot tell what the filter created_date: "last 7 days" means',
    'view orders.latest: left out: ktx has no equivalent for measures of type date',
    'explore orders: not read: sql_always_where, so ktx counts rows that Looker filters out',
    'join recipient: the inner join is read as left_outer, which keeps rows without a match',
    'explore orders.odd: left out: ktx cannot read its sql_on: ${orders.customer_id} = ${odd.id} OR 1 = 1',
  ]);
});

test('what was read can be asked', async () => {
  const { datasets } = readLookml([model, view], duckdb);
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

test('what is no LookML is an error with its line', () => {
  expect(() => readLookml(['view: a {\n  dimension: b {\n'], duckdb)).toThrow(
    'property expected in line 3',
  );
  expect(() => readLookml(['view: a { dimension: [ { }'], duckdb)).toThrow('member of a list');
});
