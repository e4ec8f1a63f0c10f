import { describe, expect, test } from 'vitest';
import type { Query } from './fuzz/query-text.ts';
import { type EngineCase, testRowsOnEngines } from './rows-on-engines.ts';
import { compile, load } from './shop.ts';

const script = `
CREATE TABLE sales (id INTEGER, shop VARCHAR(10), day DATE, amount INTEGER);
INSERT INTO sales VALUES (1, 'a', '2023-12-05', 10), (2, 'a', '2024-01-05', 20), (3, 'a', '2024-02-05', 5),
  (4, 'b', '2024-01-07', 40), (5, 'b', '2024-02-07', 41), (6, 'c', '2024-02-09', NULL);`;

const files = {
  sales: `
dataset: sales
source: sales
primary_key: [id]
default_time: day
fields: [{name: id, type: integer}, {name: shop, type: string}, {name: day, type: date}, {name: amount, type: integer}]
metrics: [{name: revenue, agg: sum, of: amount}, {name: rows, agg: count}]
`,
};

const byMonth: Query = {
  metrics: ['sales.revenue'],
  dimensions: ['sales.shop', 'metric_time.month'],
};

const cases: Readonly<Record<string, EngineCase>> = {
  'keeps rows by what is computed over all of them': {
    query: {
      metrics: ['sales.revenue'],
      dimensions: ['sales.shop'],
      over_rows: ['place = rank of sales.revenue', 'to_average of sales.revenue'],
      qualify: ['place = 2'],
    },
    rows: [['a', 35, 2, 0.603448]],
  },
  'the first month that is shown has the one before it': {
    query: {
      ...byMonth,
      where: ["sales.shop = 'a'"],
      over_rows: ['previous of sales.revenue', 'next of sales.revenue'],
      qualify: ["metric_time.month >= '2024-01'"],
    },
    rows: [
      ['a', '2024-01-01', 20, 10, 5],
      ['a', '2024-02-01', 5, 20, null],
    ],
  },
  'reads shares, bare names, texts and arithmetic; what is unknown is left out': {
    query: {
      ...byMonth,
      share_of: 'metric_time.month',
      qualify: ["sales.revenue.share > 0.5 or sales.shop in ('c', 'x')", 'revenue / 10 <> 1'],
    },
    rows: [
      ['b', '2024-01-01', 40, 0.666667],
      ['b', '2024-02-01', 41, 0.891304],
    ],
  },
  'works without metrics too': {
    query: { metrics: [], dimensions: ['sales.shop'], qualify: ["sales.shop <> 'b'"] },
    rows: [['a'], ['c']],
  },
  'ranks beside a running sum and an average of all rows, which MariaDB mixes up': {
    query: {
      metrics: ['sales.revenue'],
      dimensions: ['sales.shop', 'metric_time.month'],
      over_rows: [
        'so_far = running of sales.revenue',
        'usual = average of sales.revenue',
        'place = rank of sales.revenue',
      ],
      qualify: ['place <= 3'],
    },
    rows: [
      ['a', '2024-01-01', 20, 30, 23.2, 3],
      ['b', '2024-01-01', 40, 40, 23.2, 2],
      ['b', '2024-02-01', 41, 81, 23.2, 1],
    ],
  },
  'stands beside top and limit': {
    query: {
      metrics: ['sales.revenue', 'sales.rows'],
      dimensions: ['sales.shop'],
      top: '2 of sales.revenue',
      qualify: ['sales.rows = 3'],
      limit: 1,
    },
    rows: [['a', 35, 3]],
  },
};

testRowsOnEngines('qualify', { script, files, cases });

describe('a condition on the result', () => {
  test.each<[string, Query, object]>([
    [
      'names a column that is not there',
      { ...byMonth, qualify: ['sales.revenu > 3'] },
      { code: 'unknown_name', hint: 'Did you mean sales.revenue?' },
    ],
    [
      'has an aggregate of its own',
      { ...byMonth, qualify: ['sum(sales.amount) > 3'] },
      { code: 'invalid_condition' },
    ],
    [
      'stands beside totals, which count what it leaves out',
      { ...byMonth, rollup: true, qualify: ['sales.revenue > 3'] },
      { code: 'not_supported' },
    ],
    [
      'stands beside the others',
      { ...byMonth, top: '1', others: true, qualify: ['sales.revenue > 3'] },
      { code: 'not_supported' },
    ],
    [
      'compares a month with a day of it',
      { ...byMonth, qualify: ["metric_time.month = '2024-01-15'"] },
      { code: 'literal_type' },
    ],
    [
      'has a query inside',
      { ...byMonth, qualify: ['sales.revenue > (select 1)'] },
      { code: 'subquery' },
    ],
  ])('%s', async (_, query, failure) => {
    const { model } = await load(files);
    expect(() => compile(model, query)).toThrow(expect.objectContaining(failure));
  });

  test('is told by the receipt', async () => {
    const { model } = await load(files);
    const { receipt } = compile(model, { ...byMonth, qualify: ['sales.revenue > 3'] });
    expect(receipt.computed).toEqual([
      {
        column: 'qualify',
        is: 'only the rows where sales.revenue > 3; what is computed over rows counts the others too',
      },
    ]);
  });
});
