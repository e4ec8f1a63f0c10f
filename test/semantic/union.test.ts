import { type EngineCase, testRowsOnEngines } from './rows-on-engines.ts';

const script = `
CREATE TABLE items (id INTEGER, kind VARCHAR(10));
INSERT INTO items VALUES (1, 'tea'), (2, 'cup');
CREATE TABLE store_sales (id INTEGER, sold_on DATE, item_id INTEGER, amount INTEGER);
INSERT INTO store_sales VALUES (1, '2024-01-05', 1, 10), (2, '2024-02-05', 2, 20);
CREATE TABLE web_sales (id INTEGER, sold_on DATE, item_id INTEGER, amount INTEGER);
INSERT INTO web_sales VALUES (1, '2024-01-07', 1, 30), (2, '2024-02-08', NULL, 40);`;

const files = {
  items: `
dataset: items
source: items
primary_key: [id]
fields: [{name: id, type: integer}, {name: kind, type: string}]
`,
  all_sales: `
dataset: all_sales
sql: |
  select 'store' as channel, id, sold_on, item_id, amount from store_sales
  union all
  select 'web', id, sold_on, item_id, amount from web_sales
primary_key: [channel, id]
default_time: sold_on
fields: [{name: channel, type: string}, {name: id, type: integer}, {name: sold_on, type: date}, {name: amount, type: integer}]
metrics: [{name: revenue, agg: sum, of: amount}, {name: sale_count, agg: count}]
relationships: [{to: items, on: {item_id: id}, role: product}]
`,
};

const cases: Readonly<Record<string, EngineCase>> = {
  'its channels side by side, with totals': {
    query: {
      metrics: ['all_sales.revenue', 'all_sales.sale_count'],
      dimensions: ['all_sales.channel'],
      rollup: true,
    },
    rows: [
      ['store', 'group', 30, 2],
      ['web', 'group', 70, 2],
      [null, 'total', 100, 4],
    ],
  },
  'shares by a joined field': {
    query: {
      metrics: ['all_sales.revenue'],
      dimensions: ['product.kind', 'metric_time.month'],
      share_of: 'metric_time.month',
    },
    rows: [
      ['cup', '2024-02-01', 20, 0.333333],
      ['tea', '2024-01-01', 40, 1],
      [null, '2024-02-01', 40, 0.666667],
    ],
  },
};

testRowsOnEngines('facts of one kind as one dataset', { script, files, cases });
