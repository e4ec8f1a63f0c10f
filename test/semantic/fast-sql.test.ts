import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import {
  type Engine,
  engineNames,
  engineWith,
  roundedCell,
  rowsOf,
} from '../conformance/engines.ts';
import type { Query } from './fuzz/query-text.ts';
import { compile, load } from './shop.ts';

/**
 * Keys are NULL on both sides. Each amount is a power of two, so that a sum says which rows are in
 * it.
 */
const script = `
CREATE TABLE orders (id INTEGER, ref INTEGER, shop INTEGER, amount INTEGER, bar INTEGER, day DATE);
INSERT INTO orders VALUES (1, 10, 1, 1, 5, '2024-01-01'), (2, NULL, 1, 2, 5, '2024-01-01'), (3, 30, 2, 4, 5, '2024-01-03'),
  (4, 40, 2, 8, 0, '2024-01-09'), (5, 50, 1, 16, 9, NULL);
CREATE TABLE items (id INTEGER, order_ref INTEGER, shop INTEGER, price INTEGER);
INSERT INTO items VALUES (1, 10, 1, 7), (2, NULL, 1, 7), (3, 30, 2, 1), (4, 40, 1, 7), (5, NULL, 2, 1), (6, 50, 1, 7);`;

const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
unique_keys: [[ref], [ref, shop]]
default_time: day
fields:
  - {name: id, type: integer}
  - {name: ref, type: integer}
  - {name: shop, type: integer}
  - {name: amount, type: integer}
  - {name: bar, type: integer}
  - {name: day, type: date}
metrics:
  - {name: total, agg: sum, of: amount}
  - {name: rows, agg: count}
  - {name: large, agg: sum, of: amount, where: items.price > 5}
  - {name: shops, agg: count_distinct, of: shop}
  - {name: mean, agg: avg, of: amount}
  - {name: most, agg: max, of: amount}
  - {name: running_total, cumulative: {of: total}}
  - {name: running_rows, cumulative: {of: rows}}
  - {name: running_large, cumulative: {of: large}}
  - {name: running_shops, cumulative: {of: shops}}
  - {name: running_mean, cumulative: {of: mean}}
  - {name: weekly_most, cumulative: {of: most, window: 7 days}}
  - {name: weekly_rows, cumulative: {of: rows, window: 7 days}}
  - {name: total_before, offset: {of: total, by: 1 month}}
  - {name: large_before, offset: {of: large, by: 1 month}}
  - {name: total_days_before, offset: {of: total, by: 8 days}}
`,
  items: `
dataset: items
source: items
primary_key: [id]
fields: [{name: id, type: integer}, {name: price, type: integer}, {name: shop, type: integer}]
relationships: [{to: orders, on: {order_ref: ref}}]
`,
};
const composite = {
  ...files,
  items: files.items.replace('{order_ref: ref}', '{order_ref: ref, shop: shop}'),
};
const written = {
  ...files,
  items: files.items.replace('{order_ref: ref}', 'order_ref = orders.ref'),
};

interface Case {
  readonly query: Query;
  readonly rows: readonly (readonly unknown[])[];
  readonly has: RegExp;
  readonly hasNot: RegExp;
  readonly model?: typeof files;
}

const total = ['orders.total'];
const readsOrdersTwice = /FROM ["`]orders["`]\s[^]*FROM ["`]orders["`]\s/;
const byDay = ['metric_time.day'];
const cases: Readonly<Record<string, Case>> = {
  'a filter of one key is IN': {
    query: { metrics: total, where: ['items.price > 5'] },
    rows: [[25]],
    has: / IN \(SELECT /,
    hasNot: /EXISTS/,
  },
  'conditions under NOT stay inside of it': {
    query: { metrics: total, where: ['not (items.price > 5)'] },
    rows: [[4]],
    has: / IN \(SELECT /,
    hasNot: /EXISTS/,
  },
  'a filter of one key that is written as SQL': {
    query: { metrics: total, where: ['items.price > 5'] },
    rows: [[25]],
    has: / IN \(SELECT /,
    hasNot: /EXISTS/,
    model: written,
  },
  'two of them under OR': {
    query: { metrics: total, where: ['items.price < 5 or orders.amount = 2'] },
    rows: [[6]],
    has: / IN \(SELECT /,
    hasNot: /EXISTS/,
  },
  'a filter of a metric': {
    query: { metrics: ['orders.large', 'orders.total'] },
    rows: [[25, 31]],
    has: / IN \(SELECT /,
    hasNot: /EXISTS/,
  },
  'a comparison with the outer row needs EXISTS': {
    query: { metrics: total, where: ['items.price > orders.bar'] },
    rows: [[9]],
    has: /EXISTS \(/,
    hasNot: / IN \(SELECT /,
  },
  'a composite key needs EXISTS': {
    query: { metrics: total, where: ['items.price > 5'] },
    rows: [[17]],
    has: /EXISTS \(/,
    hasNot: / IN \(SELECT /,
    model: composite,
  },
  'a running total reads each row once': {
    query: { metrics: ['orders.running_total', 'orders.running_rows'], dimensions: byDay },
    rows: [
      ['2024-01-01', 3, 2],
      ['2024-01-03', 7, 3],
      ['2024-01-09', 15, 4],
    ],
    has: /JOIN ["`]ktx parts["`] ON/,
    hasNot: readsOrdersTwice,
  },
  'a rolling total by another dimension': {
    query: {
      metrics: ['orders.weekly_rows', 'orders.weekly_most'],
      dimensions: ['orders.shop', ...byDay],
    },
    rows: [
      [1, '2024-01-01', 2, 2],
      [1, '2024-01-03', 2, 2],
      [2, '2024-01-03', 1, 4],
      [2, '2024-01-09', 2, 8],
    ],
    has: /JOIN ["`]ktx parts["`] ON/,
    hasNot: readsOrdersTwice,
  },
  'a running total of a filtered metric': {
    query: { metrics: ['orders.running_large'], dimensions: byDay },
    rows: [
      ['2024-01-01', 1],
      ['2024-01-03', 1],
      ['2024-01-09', 9],
    ],
    has: /JOIN ["`]ktx parts["`] ON/,
    hasNot: /EXISTS/,
  },
  'periods of a part of the rows are read by themselves': {
    query: {
      metrics: ['orders.running_total'],
      dimensions: byDay,
      where: ["metric_time >= '2024-01-03'"],
    },
    rows: [
      ['2024-01-03', 7],
      ['2024-01-09', 15],
    ],
    has: /\) AS ["`]ktx parts["`] ON/,
    hasNot: /DISTINCT/,
  },
  'a running total beside the plain total': {
    query: { metrics: ['orders.running_total', 'orders.total'], dimensions: byDay },
    rows: [
      ['2024-01-01', 3, 3],
      ['2024-01-03', 7, 4],
      ['2024-01-09', 15, 8],
      [null, null, 16],
    ],
    has: /JOIN ["`]ktx parts["`] ON/,
    hasNot: /EXISTS/,
  },
  'distinct counts and means need the rows': {
    query: { metrics: ['orders.running_shops', 'orders.running_mean'], dimensions: byDay },
    rows: [
      ['2024-01-01', 1, 1.5],
      ['2024-01-03', 2, 2.3333],
      ['2024-01-09', 2, 3.75],
    ],
    has: /JOIN ["`]orders["`]/,
    hasNot: /ktx parts/,
  },
  'the month before reads each row once': {
    query: { metrics: ['orders.total', 'orders.total_before'], dimensions: ['metric_time.month'] },
    rows: [
      ['2024-01-01', 15, null],
      ['2024-02-01', null, 15],
      [null, 16, 16],
    ],
    has: /FROM ["`]ktx facts 1["`]/,
    hasNot: readsOrdersTwice,
  },
  'days of the month before are days of a longer month or a shorter one': {
    query: { metrics: ['orders.total', 'orders.total_before'], dimensions: byDay },
    rows: [
      ['2024-01-01', 3, null],
      ['2024-01-03', 4, null],
      ['2024-01-09', 8, null],
      ['2024-02-01', null, 3],
      ['2024-02-03', null, 4],
      ['2024-02-09', null, 8],
      [null, 16, 16],
    ],
    has: readsOrdersTwice,
    hasNot: /ktx parts/,
  },
  'eight days before, by day': {
    query: { metrics: ['orders.total', 'orders.total_days_before'], dimensions: byDay },
    rows: [
      ['2024-01-01', 3, null],
      ['2024-01-03', 4, null],
      ['2024-01-09', 8, 3],
      ['2024-01-11', null, 4],
      ['2024-01-17', null, 8],
      [null, 16, 16],
    ],
    has: /FROM ["`]ktx facts 1["`]/,
    hasNot: readsOrdersTwice,
  },
  'eight days before, by month': {
    query: {
      metrics: ['orders.total', 'orders.total_days_before'],
      dimensions: ['metric_time.month'],
    },
    rows: [
      ['2024-01-01', 15, 15],
      [null, 16, 16],
    ],
    has: readsOrdersTwice,
    hasNot: /ktx parts/,
  },
  'another metric of the month before has rows of its own': {
    query: { metrics: ['orders.total', 'orders.large_before'], dimensions: ['metric_time.month'] },
    rows: [
      ['2024-01-01', 15, null],
      ['2024-02-01', null, 9],
      [null, 16, 16],
    ],
    has: readsOrdersTwice,
    hasNot: /ktx parts/,
  },
};

const sorted = (rows: Case['rows']) =>
  rows.map((row) => JSON.stringify(row.map((cell) => roundedCell(cell, 4)))).toSorted();

describe.each(engineNames)('%s', (name) => {
  let engine: Engine;
  const models = new Map<typeof files, SemanticModel>();
  beforeAll(async () => {
    engine = await engineWith(name, script);
    for (const given of [files, composite, written])
      models.set(given, (await load(given, engine.warehouse.dialect)).model);
  });
  afterAll(async () => engine.close());

  test.each(Object.entries(cases))('%s', async (_, { query, rows, has, hasNot, model = files }) => {
    const loaded = models.get(model);
    if (loaded === undefined) throw new Error('no such model');
    const { sql } = compile(loaded, query);
    expect(sql).toMatch(has);
    expect(sql).not.toMatch(hasNot);
    expect(sorted(await rowsOf(engine, sql))).toEqual(sorted(rows));
  });
});
