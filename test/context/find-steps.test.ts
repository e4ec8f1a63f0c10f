import { expect, test } from 'vitest';
import { findSteps, listedFile } from '../../src/context/catalog/find-steps.ts';
import { datasetSchema, type Dataset } from '../../src/semantic/model/dataset.ts';

const count = { name: 'count', agg: 'count' };
const revenue = { name: 'revenue', agg: 'sum', of: 'amount' };

function dataset(name: string, file: Record<string, unknown> = {}): Dataset {
  return datasetSchema.parse({ dataset: name, source: name, metrics: [count], ...file });
}

function columns(...names: readonly string[]) {
  return { fields: names.map((name) => ({ name })) };
}

const orders = dataset('orders', columns('id', 'amount', 'status'));

test.for([
  {
    title: 'a staging view whose columns the table of the same things has',
    datasets: [orders, dataset('stg_shop__orders', columns('ID', 'amount'))],
    leftOut: ['stg_shop__orders'],
  },
  {
    title: 'not one with a column of its own',
    datasets: [orders, dataset('stg_orders', columns('id', 'discount'))],
    leftOut: [],
  },
  {
    title: 'not one that nothing stands behind',
    datasets: [orders, dataset('raw_events', columns('id'))],
    leftOut: [],
  },
  {
    title: 'not one without known columns',
    datasets: [orders, dataset('raw_orders')],
    leftOut: [],
  },
  {
    title: 'not one with a metric that somebody defined',
    datasets: [orders, dataset('raw_orders', { ...columns('id'), metrics: [count, revenue] })],
    leftOut: [],
  },
  {
    title: 'one with a metric that only names suggest',
    datasets: [
      orders,
      dataset('raw_orders', { ...columns('id'), metrics: [{ ...revenue, unreviewed: true }] }),
    ],
    leftOut: ['raw_orders'],
  },
  {
    title: 'by the schema, where the name of the table says nothing',
    datasets: [
      dataset('orders', { source: 'marts.orders', ...columns('id', 'amount') }),
      dataset('staging__orders', { source: 'staging.orders', ...columns('id') }),
    ],
    leftOut: ['staging__orders'],
  },
  {
    title: 'every declared step where marts are declared, whatever its columns',
    datasets: [
      dataset('orders', { layer: 'mart', ...columns('id') }),
      dataset('landing', { layer: 'raw', ...columns('payload') }),
      dataset('pivoted', { layer: 'intermediate', ...columns('week') }),
      dataset('raw_notes', columns('text')),
    ],
    leftOut: ['landing', 'pivoted'],
  },
  {
    title: 'no declared step of a project without marts',
    datasets: [dataset('stg_events', { layer: 'staging', ...columns('id') })],
    leftOut: [],
  },
  {
    title: 'not what somebody declares a mart, whatever its name',
    datasets: [orders, dataset('stg_orders', { layer: 'mart', ...columns('id') })],
    leftOut: [],
  },
])('lists leave out $title', ({ datasets, leftOut }) => {
  expect([...findSteps(datasets.map(listedFile))]).toEqual(leftOut);
});
