import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

const script = `
CREATE TABLE orders (id INTEGER, buyer_id INTEGER, amount INTEGER, placed_at TIMESTAMP);
INSERT INTO orders VALUES (1, 1, 10, '2024-01-31 23:00:00'), (2, 1, 20, '2024-02-01 00:00:00'), (3, 1, 40, '2025-01-01 00:00:00'), (4, 2, 80, '2024-01-15 00:00:00'), (5, 1, 160, NULL), (6, 2, 5, '2023-01-01 00:00:00');
CREATE TABLE tiers (buyer_id INTEGER, tier VARCHAR(9), since DATE, until DATE);
INSERT INTO tiers VALUES (1, 'basic', NULL, '2024-02-01'), (1, 'gold', '2024-02-01', NULL), (2, 'basic', '2024-01-01', '2024-01-15');
CREATE TABLE bands (name VARCHAR(9), low INTEGER, high INTEGER);
INSERT INTO bands VALUES ('small', NULL, 20), ('middle', 21, 79), ('large', 80, NULL);`;

const orders = (more: string) => `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}, {name: buyer_id, type: integer}, {name: amount, type: integer}, {name: placed_at, type: datetime}]
metrics: [{name: revenue, agg: sum, of: amount}, {name: count, agg: count}]
relationships:
  - {to: tiers, on: {buyer_id: buyer_id}, within: {field: placed_at, from: since, to: until${more}}}
  - {to: bands, on: {}, within: {field: amount, from: low, to: high, includes_end: true}}
`;
const files = {
  orders: orders(''),
  tiers: `
dataset: tiers
source: tiers
unique_keys: [[buyer_id, since]]
fields: [{name: buyer_id, type: integer}, {name: tier, type: string}, {name: since, type: date}, {name: until, type: date}]
metrics: [{name: versions, agg: count}]
`,
  bands: `
dataset: bands
source: bands
primary_key: [low]
fields: [{name: name, type: string}, {name: low, type: integer}, {name: high, type: integer}]
metrics: [{name: band_count, agg: count}]
`,
};

type Query = z.input<typeof querySchema>;

describe.each(engineNames)('ranges and validity windows on %s', (name) => {
  test('lead to the one row that holds at the time, and back to many', async () => {
    const engine = await engineWith(name, script);
    try {
      const answer = async (query: Query, more = '') => {
        const { model, diagnostics } = await load(
          { ...files, orders: orders(more) },
          engine.warehouse.dialect,
        );
        expect(diagnostics).toEqual([]);
        return (await rowsOf(engine, compile(model, query).sql)).map((row) =>
          row.map((cell) => (/^\d+$/.test(String(cell)) ? Number(cell) : cell)),
        );
      };
      const byTier = { metrics: ['orders.revenue', 'orders.count'], dimensions: ['tiers.tier'] };
      expect(await answer(byTier)).toEqual([
        ['basic', 10, 1],
        ['gold', 60, 2],
        [null, 245, 3],
      ]);
      // The end is a whole day.
      expect(
        await answer({ ...byTier, where: ['orders.buyer_id = 2'] }, ', includes_end: true'),
      ).toEqual([
        ['basic', 80, 1],
        [null, 5, 1],
      ]);
      expect(await answer({ metrics: ['orders.count'], dimensions: ['bands.name'] })).toEqual([
        ['large', 2],
        ['middle', 1],
        ['small', 3],
      ]);
      expect(
        await answer({
          metrics: ['orders.revenue'],
          where: ["tiers.tier = 'gold'", "bands.name = 'middle'"],
        }),
      ).toEqual([[40]]);
      expect(await answer({ metrics: ['tiers.versions'], where: ['orders.amount > 15'] })).toEqual([
        [1],
      ]);
    } finally {
      await engine.close();
    }
  });
});

test('what says that ranges do not overlap is asked for; fields must be there and of one kind', async () => {
  const rules = async (given: Record<string, string>) =>
    (await load({ ...files, ...given })).diagnostics.map(
      ({ rule, severity, message, hint }) => `${severity} ${rule}: ${message} ${hint}`,
    );
  expect(
    await rules({
      tiers: files.tiers.replace('unique_keys: [[buyer_id, since]]', 'primary_key: [tier]'),
    }),
  ).toEqual([
    'warning overlap: No key says that ranges of tiers do not overlap, so a row of orders could count more than once If they do not, declare unique_keys: [[buyer_id, since]] in semantic-layer/warehouse/tiers.yaml.',
  ]);
  expect(await rules({ orders: files.orders.replace('from: since', 'from: sinse') })).toEqual([
    expect.stringContaining('error unknown_name: tiers has no field named sinse'),
  ]);
  expect(
    await rules({ orders: files.orders.replace('field: amount', 'field: placed_at') }),
  ).toEqual([expect.stringContaining('error within: A range compares time with number')]);
  const both = files.orders.replace('- {to: tiers,', '- {to: tiers, cardinality: one_to_one,');
  expect(await rules({ orders: both })).toEqual([expect.stringContaining('error within')]);
});
