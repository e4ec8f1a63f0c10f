import { stringify } from 'yaml';
import { beforeAll, expect, test } from 'vitest';
import { readMetricflow } from '../../src/semantic/formats/metricflow.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { dialectNamed } from '../../src/sql/dialects.ts';
import { compile, load } from './shop.ts';

const duckdb = dialectNamed('duckdb');
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
      - {name: is_large, type: categorical, expr: amount > 100}
    measures:
      - {name: order_total, agg: sum, expr: amount}
      - {name: orders, agg: count, expr: 1}
      - {name: large_orders, agg: sum_boolean, expr: amount > 100}
      - {name: p90, agg: percentile, expr: amount, agg_params: {percentile: 0.9}}
      - {name: balance, agg: sum, expr: open_amount, non_additive_dimension: {name: ordered_at, window_choice: max}}
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
  - {name: funnel, type: conversion, type_params: {conversion_type_params: {}}}
  - {name: unreadable, type: simple, type_params: {measure: order_total}, filter: "{{ Metric('revenue', group_by=['customer']) }} > 1"}
saved_queries: []
`;

test('semantic models and metrics of dbt, over several files, become datasets', () => {
  const { datasets } = readMetricflow([metrics, models], duckdb);
  expect(datasets).toEqual([
    {
      dataset: 'orders',
      source: 'fct_orders',
      description: 'One row per order.',
      primary_key: ['order_id'],
      default_time: 'ordered_at',
      fields: [
        { name: 'order_id' },
        { name: 'customer_id' },
        { name: 'ordered_at', type: 'date' },
        { name: 'status', expr: 'order_status' },
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
        { name: 'orders', agg: 'count', hidden: true },
        { name: 'aov_orders', expr: 'orders.orders', hidden: true, where: "status = 'paid'" },
        { name: 'aov', ratio: { numerator: 'orders.revenue', denominator: 'orders.aov_orders' } },
        { name: 'order_count', agg: 'count' },
        { name: 'growth_before_before', offset: { of: 'orders.revenue', by: '1 year' }, hidden: true },
        { name: 'growth', expr: 'orders.revenue - orders.growth_before_before' },
        { name: 'order_total', agg: 'sum', of: 'amount', hidden: true },
        { name: 'running', cumulative: { of: 'orders.order_total', window: '7 days' } },
        { name: 'large_orders', agg: 'sum', of: 'case when amount > 100 then 1 else 0 end', hidden: true },
        { name: 'p90', agg: 'percentile', of: 'amount', fraction: 0.9, hidden: true },
      ],
    },
    {
      dataset: 'customers',
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
    'saved_queries: not read: ktx has no word for it',
    "semantic_models.orders: ref('fct_orders') is read as the table fct_orders: correct source where its schema differs",
    "semantic_models.customers: source('crm', 'customers') is read as the table crm.customers: correct source where its schema differs",
    'metrics.funnel: left out: ktx has no conversion metrics like this',
    "metrics.unreadable: left out: ktx cannot use the filter {{ Metric('revenue', group_by=['customer']) }} > 1",
    'measures.balance: left out: a balance (non_additive_dimension): write it with semi_additive',
    'measures.strange: left out: ktx has no aggregate hyperloglog',
  ]);
});

test('what was read can be asked', async () => {
  const { datasets } = readMetricflow([metrics, models], duckdb);
  const { model, diagnostics } = await load(Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)])));
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { sql } = compile(model, { metrics: ['orders.aov', 'orders.enterprise_revenue'], dimensions: ['metric_time.month'] });
  expect(sql).toContain(`("orders.customer"."segment" = 'ent')`);
});

test('metrics that are made of themselves are left out', () => {
  const circular =
    'metrics: [{name: a, type: derived, type_params: {expr: b, metrics: [b]}}, {name: b, type: derived, type_params: {expr: a, metrics: [a]}}]';
  expect(readMetricflow([circular], duckdb)).toMatchObject({ datasets: [], misfits: [{ at: 'metrics.a' }, { at: 'metrics.b' }] });
  expect(() => readMetricflow(['metrics: 1'], duckdb)).toThrow('metrics');
  expect(() => readMetricflow(['a: ['], duckdb)).toThrow('not YAML');
});
