import { stringify } from 'yaml';
import { beforeAll, expect, test } from 'vitest';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { compile, load } from './shop.ts';

const duckdb = findDialect('duckdb');
beforeAll(loadAnalyzer);

const models = `
semantic_models:
  - name: orders
    model: ref('fct_orders')
    description: One row per order.
    defaults: {agg_time_dimension: ordered_at}
    entities:
      - {name: order, type: primary, expr: order_id}
      - {name: customer, type: foreign, expr: customer_id}
    dimensions:
      - {name: ordered_at, type: time, type_params: {time_granularity: day}}
      - {name: status, type: categorical, expr: order_status}
      - {name: shipped_at, type: time, type_params: {time_granularity: second}}
      - {name: is_large, type: categorical, expr: amount > 100}
    measures:
      - {name: order_total, agg: sum, expr: amount}
      - {name: orders, agg: count, expr: 1}
      - {name: large_orders, agg: sum_boolean, expr: amount > 100}
      - {name: p90, agg: percentile, expr: amount, agg_params: {percentile: 0.9}}
      - {name: balance, agg: sum, expr: open_amount, non_additive_dimension: {name: ordered_at, window_choice: max, window_groupings: [customer]}}
      - {name: shadowed, agg: sum, expr: case when status = 1 then 1 end}
      - {name: late, agg: count, expr: 1, agg_time_dimension: shipped_at}
      - {name: strange, agg: hyperloglog}
  - name: customers
    model: source('crm', 'customers')
    entities: [{name: customer, type: primary, expr: id}]
    dimensions: [{name: segment, type: categorical}]
    measures: [{name: customers, agg: count_distinct, expr: id, create_metric: true}]
`;
const metrics = `
metrics:
  - {name: revenue, type: simple, description: All sales., type_params: {measure: order_total}}
  - {name: paid_revenue, type: simple, type_params: {measure: {name: order_total, filter: "{{ Dimension('order__status') }} = 'paid'"}}}
  - name: enterprise_revenue
    type: simple
    type_params: {measure: order_total}
    filter: ["{{ Dimension('customer__segment') }} = 'ent'", "{{ Dimension('order__status') }} = 'paid' or {{ Dimension('order__is_large') }}"]
  - {name: aov, type: ratio, type_params: {numerator: revenue, denominator: {name: orders, filter: "{{ Dimension('order__status') }} = 'paid'"}}}
  - {name: order_count, type: simple, type_params: {measure: orders}}
  - {name: growth, type: derived, type_params: {expr: now - before, metrics: [{name: revenue, alias: now}, {name: revenue, alias: before, offset_window: 1 year}]}}
  - {name: running, type: cumulative, type_params: {measure: order_total, window: 7 days}}
  - name: returning
    type: conversion
    type_params:
      conversion_type_params: {entity: customer, calculation: conversions, window: 7 days, base_measure: orders, conversion_measure: large_orders}
  - {name: last_year, label: A year ago, type: derived, type_params: {expr: revenue, metrics: [{name: revenue, offset_window: 1 year}]}}
  - {name: odd, type: derived, type_params: {expr: revenue / sales, metrics: [revenue]}}
  - {name: funnel, type: conversion, type_params: {conversion_type_params: {}}}
  - {name: unreadable, type: simple, type_params: {measure: order_total}, filter: "{{ Metric('revenue', group_by=['nobody']) }} > 1"}
`;

test('semantic models and metrics of dbt, over several files, become datasets', () => {
  const { datasets } = readMetricflow([metrics, models], duckdb);
  expect(datasets).toEqual([
    {
      dataset: 'orders',
      source: 'fct_orders',
      description: 'One row per order.',
      primary_key: ['order_id'],
      entity: 'order',
      missing: 'none',
      default_time: 'ordered_at',
      fields: [
        { name: 'order_id' },
        { name: 'customer_id' },
        { name: 'ordered_at', type: 'date' },
        { name: 'status', expr: 'order_status' },
        { name: 'shipped_at', type: 'datetime' },
        { name: 'is_large', expr: 'amount > 100' },
      ],
      relationships: [{ to: 'customers', on: { customer_id: 'id' }, role: 'customer' }],
      metrics: [
        { name: 'revenue', agg: 'sum', of: 'amount', description: 'All sales.' },
        { name: 'paid_revenue', agg: 'sum', of: 'amount', where: "status = 'paid'" },
        {
          name: 'enterprise_revenue',
          agg: 'sum',
          of: 'amount',
          where: "(orders.customer.segment = 'ent') and (status = 'paid' or is_large)",
        },
        { name: 'aov', ratio: { numerator: 'revenue', denominator: 'aov__orders' } },
        { name: 'order_count', agg: 'count' },
        { name: 'growth', expr: 'revenue - growth__before' },
        { name: 'running', cumulative: { of: 'revenue', window: '7 days' } },
        {
          name: 'large_orders',
          agg: 'sum',
          of: 'case when amount > 100 then 1 else 0 end',
          hidden: true,
        },
        {
          name: 'returning',
          conversion: {
            base: 'order_count',
            to: 'large_orders',
            on: { customer_id: 'customer_id' },
            window: '7 days',
            calculation: 'conversions',
          },
        },
        { name: 'last_year', offset: { of: 'revenue', by: '1 year' }, synonyms: ['A year ago'] },
        { name: 'p90', agg: 'percentile', of: 'amount', fraction: 0.9, hidden: true },
        {
          name: 'balance',
          agg: 'sum',
          of: 'open_amount',
          semi_additive: { over: 'ordered_at', take: 'last', per: ['customer_id'] },
          hidden: true,
        },
        { name: 'late', agg: 'count', time: 'shipped_at', hidden: true },
        { name: 'aov__orders', agg: 'count', where: "status = 'paid'", hidden: true },
        { name: 'growth__before', offset: { of: 'revenue', by: '1 year' }, hidden: true },
      ],
    },
    {
      dataset: 'customers',
      entity: 'customer',
      missing: 'none',
      source: 'crm.customers',
      primary_key: ['id'],
      fields: [{ name: 'id' }, { name: 'segment' }],
      metrics: [{ name: 'customers', agg: 'count_distinct', of: 'id' }],
    },
  ]);
});

test('what does not fit is named, and nothing is read as something else', () => {
  const { misfits } = readMetricflow([metrics, models], duckdb);
  expect(misfits.map(({ at, message }) => `${at}: ${message}`)).toEqual([
    "semantic_models.orders: ktx reads ref('fct_orders') as the table fct_orders: correct source if the table is in another schema",
    "semantic_models.customers: ktx reads source('crm', 'customers') as the table crm.customers: correct source if the table is in another schema",
    'metrics.funnel: left out: it has no entity',
    'metrics.odd: left out: sales in revenue / sales is unknown or means something else here',
    'metrics.unreadable: left out: its filter takes a metric by nobody, which orders lacks',
    'measures.shadowed: left out: status in case when status = 1 then 1 end is unknown or means something else here',
    'measures.strange: left out: ktx has no aggregate hyperloglog',
    ...['metrics.growth', 'metrics.running', 'metrics.last_year'].map((metric) =>
      expect.stringMatching(`^${metric}: ktx knows no time spine of this project`),
    ),
  ]);
});

test('what was read can be asked', async () => {
  const { datasets } = readMetricflow([metrics, models], duckdb);
  const { model, diagnostics } = await load(
    Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)])),
  );
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { sql } = compile(model, {
    metrics: ['orders.aov', 'orders.enterprise_revenue'],
    dimensions: ['metric_time.month'],
  });
  expect(sql).toContain(`("orders.customer"."segment" = 'ent')`);
});

test('entities of one row each join one to one, and a role leads through filters', () => {
  const text = `
semantic_models:
  - {name: trips, model: x.trips, entities: [{name: trip, type: primary, expr: id}, {name: driver, type: foreign, expr: driver_id}, {name: rider, type: foreign, expr: rider_id}], measures: [{name: rides, agg: count, expr: "1"}]}
  - {name: people, model: x.people, entities: [{name: driver, type: primary, expr: id}, {name: rider, type: unique, expr: id}], dimensions: [{name: town, type: categorical}]}
  - {name: trip_notes, model: x.trip_notes, entities: [{name: note, type: primary, expr: id}, {name: trip, type: unique, expr: trip_id}]}
metrics:
  - {name: rides_of_locals, type: simple, type_params: {measure: rides}, filter: "{{ Dimension('rider__town') }} = 'Lund'"}
`;
  const { datasets, misfits } = readMetricflow([text], duckdb);
  expect(misfits).toEqual([]);
  expect(datasets).toMatchObject([
    {
      source: 'x.trips',
      relationships: [
        { to: 'people', on: { driver_id: 'id' }, role: 'driver' },
        { to: 'people', on: { rider_id: 'id' }, role: 'rider' },
      ],
      metrics: [{ name: 'rides_of_locals', agg: 'count', where: "trips.rider.town = 'Lund'" }],
    },
    { primary_key: ['id'], fields: [{ name: 'id' }, { name: 'town' }] },
    {
      unique_keys: [['trip_id']],
      relationships: [{ to: 'trips', on: { trip_id: 'id' }, cardinality: 'one_to_one' }],
    },
  ]);
});

test('metrics that are made of themselves are left out', () => {
  const circular =
    'metrics: [{name: a, type: derived, type_params: {expr: b, metrics: [b]}}, {name: b, type: derived, type_params: {expr: a, metrics: [a]}}]';
  expect(readMetricflow([circular], duckdb)).toMatchObject({
    datasets: [],
    misfits: [{ at: 'metrics.a' }, { at: 'metrics.b' }],
  });
  expect(() => readMetricflow(['metrics: 1'], duckdb)).toThrow('metrics');
  expect(() => readMetricflow(['a: ['], duckdb)).toThrow('not YAML');
});

const savedQueries = `
saved_queries:
  - name: monthly_sales
    label: Sales by month
    description: As finance reports it.
    query_params:
      metrics: [revenue, order_count]
      group_by: ["TimeDimension('metric_time', 'month')", "Dimension('customer__segment')", "Entity('customer')"]
      where: ["{{ Dimension('order__status') }} = 'paid'", "{{ TimeDimension('metric_time', 'day') }} >= '2024-01-01'"]
    exports: [{name: monthly_sales, config: {export_as: table}}]
  - name: people and sales
    query_params:
      metrics: [revenue, customers]
      group_by: [customer__segment]
      where: "{{ Dimension('customer__segment') }} = 'ent'"
      limit: 3
  - {name: by_nothing, query_params: {metrics: [sales], group_by: [order__status]}}
  - {name: odd_filter, query_params: {metrics: [revenue], where: "{{ Metric('revenue', ['customer']) }} > 1"}}
  - {name: first_three, query_params: {metrics: [revenue], group_by: [order__status], order_by: [revenue], limit: 3}}
  - {name: ordered, query_params: {metrics: [revenue], group_by: [metric_time__month], order_by: [metric_time__month]}}
  - {query_params: {metrics: [revenue]}}
`;

test('saved queries become saved queries that have an answer', async () => {
  const {
    datasets,
    queries = [],
    misfits,
  } = readMetricflow([metrics, models, savedQueries], duckdb);
  expect(queries).toEqual([
    {
      query: 'monthly_sales',
      description: 'As finance reports it.',
      synonyms: ['Sales by month'],
      metrics: ['orders.revenue', 'orders.order_count'],
      dimensions: ['metric_time.month', 'orders.customer.segment', 'customer'],
      where: ["orders.status = 'paid'", "metric_time.day >= '2024-01-01'"],
    },
    {
      query: 'people_and_sales',
      metrics: ['orders.revenue', 'customers.customers'],
      dimensions: ['orders.customer.segment = customers.segment'],
      where: [
        { on: 'orders', where: "orders.customer.segment = 'ent'" },
        { on: 'customers', where: "customers.segment = 'ent'" },
      ],
      limit: 3,
    },
    {
      query: 'ordered',
      metrics: ['orders.revenue'],
      dimensions: ['metric_time.month'],
      where: [],
    },
  ]);
  const about = misfits.filter(({ at }) => at.startsWith('saved_queries'));
  expect(about.map(({ at, message }) => `${at}: ${message}`)).toEqual([
    'saved_queries.monthly_sales: its exports are not read: ktx writes no tables',
    'saved_queries.by_nothing: left out: its metric sales is not there',
    "saved_queries.odd_filter: left out: its filter uses Metric('revenue', ['customer'])",
    'saved_queries.first_three: left out: it keeps the first rows of an order that ktx does not read',
    'saved_queries.ordered: its order_by is not read: the rows come in the order of their dimensions',
    expect.stringMatching(/^saved_queries\.undefined: left out: name: /),
  ]);
  const files = Object.fromEntries(datasets.map((file) => [file.dataset, stringify(file)]));
  const { model } = await load(files, duckdb);
  for (const { metrics: asked, dimensions, where, limit } of queries)
    expect(compile(model, { metrics: asked, dimensions, where, limit }).sql).toContain('SELECT');
});
