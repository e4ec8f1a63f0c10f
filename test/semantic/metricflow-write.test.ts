import { load as readYaml } from 'js-yaml';
import { stringify } from 'yaml';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Dataset, datasetSchema } from '../../src/semantic/model/dataset.ts';
import { readMetricflow } from '../../src/semantic/formats/metricflow/read.ts';
import { writeMetricflow } from '../../src/semantic/formats/metricflow/write.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { findDialect } from '../../src/sql/dialects.ts';
import { compile, load, shop } from './shop.ts';

const duckdb = findDialect('duckdb');
await loadAnalyzer();

const write = (datasets: readonly Dataset[]) => writeMetricflow(datasets, { dialect: duckdb });
const parsed = (texts: readonly string[]) =>
  texts.map((text) => datasetSchema.parse(readYaml(text)));
const filesOf = (datasets: readonly Dataset[]) =>
  Object.fromEntries(datasets.map((one) => [one.dataset, stringify(one)]));
const documentSchema = z.looseObject({
  semantic_models: z.array(z.looseObject({ name: z.string() })),
  metrics: z.array(z.looseObject({ name: z.string(), type: z.string() })),
});
const documentOf = (text: string) => documentSchema.parse(readYaml(text));
const messages = (misfits: readonly { at: string; message: string }[]) =>
  misfits.map(({ at, message }) => `${at}: ${message}`);

describe('the shop', () => {
  const datasets = parsed(Object.values(shop));

  test('goes to dbt and back with the same SQL for every metric that dbt can say', async () => {
    const { text } = write(datasets);
    const back = readMetricflow([text], duckdb);
    const before = await load(shop);
    const after = await load(filesOf(back.datasets));
    expect(after.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    const sqlOf = ({ model }: typeof before, metric: string, dataset: string) =>
      compile(model, {
        metrics: [`${dataset}.${metric}`],
        dimensions: dataset === 'orders' ? ['orders.created_at.month'] : [],
      }).sql;
    const compared = datasets.flatMap(({ dataset }) =>
      [...(after.model.datasets.get(dataset)?.metrics.keys() ?? [])].map(
        (metric) => [dataset, metric] as const,
      ),
    );
    expect(compared.length).toBe(26);
    for (const [dataset, metric] of compared) {
      const sql = sqlOf(after, metric, dataset);
      // What ktx makes a real division itself, it leaves to a person's `1.0`.
      if (!sql.includes('* 1.0 /')) expect(sql).toBe(sqlOf(before, metric, dataset));
    }
    const again = documentOf(write(back.datasets).text);
    expect(new Map(again.metrics.map((one) => [one.name, one]))).toEqual(
      new Map(documentOf(text).metrics.map((one) => [one.name, one])),
    );
  });

  test('names what dbt cannot say', () => {
    expect(messages(write(datasets).misfits)).toEqual(
      expect.arrayContaining([
        'relationships.orders.tags: left out: dbt has no bridges',
        'relationships.employees.manager: left out: dbt cannot join a dataset to itself',
        'metrics.orders.lowest: left out: dbt has no equivalent for take: min of a balance',
        'metrics.orders.per_buyer: left out: dbt has no aggregates of aggregates',
        'metrics.customers.urgent_count: left out: dbt cannot express its filter',
        'datasets.orders: dbt has no equivalent for: segments, type of fields, hidden of fields, hidden of metrics',
        'datasets.customers: dbt refuses measures without a time: set default_time',
      ]),
    );
  });
});

const sales = `
dataset: sales
source: lake.mart.sales
primary_key: [id]
default_time: day
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: day, type: date}
  - {name: sold_at, type: datetime}
  - {name: Net__Amount, expr: gross - tax, type: decimal}
  - {name: doubled, expr: Net__Amount * 2 / parts, type: decimal}
  - {name: status, type: string}
  - {name: secret, hidden: true}
metrics:
  - {name: count, agg: count}
  - {name: margin, expr: sum(Net__Amount) / count(distinct customer_id), where: status = 'paid'}
  - {name: late, agg: sum, of: doubled, where: "sold_at > '2024-01-01' and tax > 1"}
  - {name: early, agg: sum, of: doubled, where: "day < '2024-01-01'"}
  - {name: base, agg: count, where: status = 'paid', hidden: true}
  - {name: share, ratio: {numerator: base, denominator: count}}
  - {name: unused, agg: max, of: secret, hidden: true}
  - {name: p90, agg: percentile, of: gross, fraction: 0.9, unit: EUR}
  - {name: p90_disc, agg: percentile_disc, of: gross, fraction: 0.9}
  - {name: again, conversion: {base: count, to: returns.count, on: {customer_id: customer_id}, window: 7 days, calculation: conversion_rate}}
  - {name: paid_so_far, cumulative: {of: base, window: 30 days}}
relationships: [{to: customers, on: {customer_id: id}}]
`;
const others = [
  'dataset: returns\nsource: returns\nprimary_key: [id]\ndefault_time: day\nfields: [{name: id}, {name: customer_id}, {name: day, type: date}]\nmetrics: [{name: count, agg: count}]\nrelationships: [{to: customers, on: {customer_id: id}}]',
  'dataset: customers\nsource: mart.customers\nprimary_key: [id]\nfields: [{name: id}, {name: town}]',
  'dataset: cards\nsource: mart.cards\nprimary_key: [customer_id]\nfields: [{name: customer_id}, {name: colour}]\nrelationships: [{to: customers, on: {customer_id: id}, cardinality: one_to_one}]',
  'dataset: summary\nsql: SELECT 1 AS one\nfields: [{name: one}]',
  'dataset: stock\nsource: stock\nprimary_key: [day, shop]\ndefault_time: day\nfields: [{name: day, type: date}, {name: shop}]\nmetrics: [{name: level, agg: sum, of: on_hand, semi_additive: {over: day, take: last, per: []}}, {name: of_shops, agg: sum, of: on_hand, semi_additive: {over: day, take: last}}]',
];

describe('a model with what dbt says in another way', () => {
  const { text, misfits } = write(parsed([sales, ...others]));
  const { semantic_models, metrics } = documentOf(text);
  const model = (name: string) => semantic_models.find((one) => one.name === name);
  const metric = (name: string) => metrics.find((one) => one.name === name);

  test('has expressions over columns, filters where dbt has them, and CASE where not', () => {
    expect(model('sales')).toMatchObject({
      model: "ref('sales')",
      config: { meta: { ktx: { source: 'lake.mart.sales' } } },
      dimensions: expect.arrayContaining([
        { name: 'the_day', type: 'time', type_params: { time_granularity: 'day' }, expr: 'day' },
        { name: 'net_amount', type: 'categorical', expr: 'gross - tax' },
        { name: 'doubled', type: 'categorical', expr: '(gross - tax) * 2 * 1.0 / parts' },
      ]) as unknown,
    });
    expect(model('sales')?.['measures']).toContainEqual({
      name: 'late',
      agg: 'sum',
      expr: "case when sold_at > '2024-01-01' and tax > 1 then ((gross - tax) * 2 * 1.0 / parts) end",
    });
    expect(metric('early')).toMatchObject({
      filter: "{{ TimeDimension('sales__the_day', 'day') }} < '2024-01-01'",
    });
    expect(metric('margin')).toMatchObject({
      type_params: { expr: 'margin_1 * 1.0 / margin_2' },
      filter: "{{ Dimension('sales__status') }} = 'paid'",
    });
    expect(metric('base')).toMatchObject({ config: { meta: { ktx: { hidden: true } } } });
    expect(metric('unused')).toBeUndefined();
    expect(metric('again')?.['type_params']).toEqual({
      conversion_type_params: {
        entity: 'customers',
        calculation: 'conversion_rate',
        base_measure: { name: 'sales_count' },
        conversion_measure: { name: 'returns_count' },
        window: '7 days',
      },
    });
    expect(metric('paid_so_far')?.['type_params']).toMatchObject({
      measure: { name: 'sales_count', filter: "{{ Dimension('sales__status') }} = 'paid'" },
    });
  });

  test('comes back as what it was, but for names and what has none there', () => {
    const { datasets } = readMetricflow([text], duckdb);
    const back = datasets.find(({ dataset }) => dataset === 'sales');
    expect(back).toMatchObject({
      source: 'lake.mart.sales',
      primary_key: ['id'],
      default_time: 'the_day',
    });
    expect(back?.relationships).toEqual([
      { to: 'customers', on: { customer_id: 'id' }, shared: true },
      { to: 'cards', on: { customer_id: 'customer_id' }, role: 'customers', shared: true },
    ]);
    expect(datasets.find(({ dataset }) => dataset === 'cards')?.relationships).toEqual([
      {
        to: 'customers',
        on: { customer_id: 'id' },
        shared: true,
        cardinality: 'one_to_one',
      },
    ]);
    const metricOf = (name: string) =>
      datasets.flatMap((one) => one.metrics ?? []).find((one) => one.name === name);
    expect(metricOf('base')).toEqual({
      name: 'base',
      agg: 'count',
      where: "status = 'paid'",
      hidden: true,
    });
    expect(metricOf('paid_so_far')).toEqual({
      name: 'paid_so_far',
      cumulative: { of: 'base', window: '30 days' },
    });
    expect(metricOf('again')).toMatchObject({
      conversion: {
        base: 'sales_count',
        to: 'returns.returns_count',
        on: { customer_id: 'customer_id' },
      },
    });
    expect(metricOf('p90')).toEqual({ name: 'p90', agg: 'percentile', of: 'gross', fraction: 0.9 });
    expect(metricOf('p90_disc')).toMatchObject({ agg: 'percentile_disc', fraction: 0.9 });
    expect(metricOf('level')).toMatchObject({
      semi_additive: { over: 'the_day', take: 'last', per: [] },
    });
  });

  test('names what is called otherwise, and what is left out', () => {
    expect(messages(misfits)).toEqual(
      expect.arrayContaining([
        'datasets.summary: left out: in dbt, a query is a model of its own',
        'fields.sales.Net__Amount: is called net_amount in dbt',
        'metrics.sales.count: is called sales_count in dbt',
        'metrics.stock.of_shops: left out: dbt groups a balance by entities only',
        'datasets.sales: dbt has no equivalent for: type of fields, hidden of fields, unit of metrics, hidden of metrics',
        'datasets.stock: dbt has no equivalent for: keys of several columns, type of fields',
      ]),
    );
  });
});
