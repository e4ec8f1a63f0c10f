import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { emit } from '../../src/semantic/emit/emit.ts';
import { keyCheckSql } from '../../src/semantic/keys/key-check.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasMariadb } from '../support/mariadb.ts';
import { load } from './shop.ts';

const script = `
CREATE TABLE orders (id INTEGER, customer_id INTEGER, amount INTEGER, placed_on DATE);
INSERT INTO orders VALUES (1, 1, 10, '2024-01-10'), (2, 1, 20, '2024-02-10'), (3, 2, 5, '2024-03-10'), (4, NULL, 1, '2024-03-10');
CREATE TABLE customers (id INTEGER, region VARCHAR(9));
INSERT INTO customers VALUES (1, 'north'), (1, 'east'), (2, 'south'), (NULL, 'west'), (NULL, 'west');
CREATE TABLE tiers (customer_id INTEGER, tier VARCHAR(9), since DATE, until DATE);
INSERT INTO tiers VALUES
  (1, 'basic', NULL, '2024-02-15'), (1, 'gold', '2024-02-01', NULL), (1, 'never', '2024-02-20', '2024-02-20'),
  (2, 'basic', '2024-01-01', '2024-02-01'), (2, 'gold', '2024-02-01', NULL);
CREATE TABLE notes (order_id INTEGER, word VARCHAR(9));
INSERT INTO notes VALUES (1, 'a'), (1, 'b'), (3, 'a');`;

const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: placed_on
fields: [{name: id, type: integer}, {name: customer_id, type: integer}, {name: amount, type: integer}, {name: placed_on, type: date}]
metrics: [{name: revenue, agg: sum, of: amount}, {name: count, agg: count}]
relationships:
  - {to: customers, on: {customer_id: id}}
  - {to: tiers, on: {customer_id: customer_id}, within: {field: placed_on, from: since, to: until}}
`,
  customers: `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string}]
`,
  tiers: `
dataset: tiers
source: tiers
unique_keys: [[customer_id, since]]
fields: [{name: customer_id, type: integer}, {name: tier, type: string}, {name: since, type: date}, {name: until, type: date}]
`,
  notes: `
dataset: notes
source: notes
primary_key: [order_id, word]
fields: [{name: order_id, type: integer}, {name: word, type: string}]
relationships: [{to: orders, on: {order_id: id}}]
`,
};

const customerKey = 'customers (id)';
const tierRange = 'tiers (customer_id, since to until)';

const engines = [...engineNames, ...(hasMariadb ? (['mysql'] as const) : [])];

describe.each(engines)('keys that the rows contradict, on %s', (name) => {
  test('are counted, and one row per key is joined instead', async () => {
    const engine = await engineWith(name, script);
    try {
      const { model, diagnostics } = await load(files, engine.warehouse.dialect);
      expect(diagnostics).toEqual([]);
      const planOf = (query: z.input<typeof querySchema>, contradicted?: Set<string>) =>
        createPlan(model, querySchema.parse(query), contradicted);
      const answer = async (query: z.input<typeof querySchema>, contradicted?: Set<string>) =>
        (await rowsOf(engine, emit(planOf(query, contradicted), model.dialect))).map((row) =>
          row.map((cell) => (/^\d+$/.test(String(cell)) ? Number(cell) : cell)),
        );
      const countsOf = async (query: z.input<typeof querySchema>) =>
        Promise.all(
          planOf(query).assumes.map(async (key) => [
            key.name,
            Number((await rowsOf(engine, keyCheckSql(model, key)))[0]?.[0]),
          ]),
        );

      const byRegion = { metrics: ['orders.revenue'], dimensions: ['customers.region'] };
      expect(await countsOf(byRegion)).toEqual([[customerKey, 1]]);
      expect(await answer(byRegion)).toEqual([
        ['east', 30],
        ['north', 30],
        ['south', 5],
        [null, 1],
      ]);
      expect(await answer(byRegion, new Set([customerKey]))).toEqual([
        ['east', 30],
        ['south', 5],
        [null, 1],
      ]);

      const byTier = { metrics: ['orders.revenue'], dimensions: ['tiers.tier'] };
      expect(await countsOf(byTier)).toEqual([[tierRange, 1]]);
      expect(await answer(byTier)).toEqual([
        ['basic', 30],
        ['gold', 25],
        [null, 1],
      ]);
      expect(await answer(byTier, new Set([tierRange]))).toEqual([
        ['basic', 10],
        ['gold', 25],
        [null, 1],
      ]);

      const inclusive = await load(
        { ...files, orders: files.orders.replace('to: until}', 'to: until, includes_end: true}') },
        engine.warehouse.dialect,
      );
      const [range] = createPlan(inclusive.model, querySchema.parse(byTier)).assumes;
      if (range === undefined) throw new Error('no range is assumed');
      expect(await rowsOf(engine, keyCheckSql(inclusive.model, range))).toEqual([[3]]);

      expect(await countsOf({ metrics: ['orders.count'] })).toEqual([]);
      expect(await countsOf({ metrics: ['orders.count'], dimensions: ['notes.word'] })).toEqual([
        ['orders (id)', 0],
      ]);
    } finally {
      await engine.close();
    }
  });
});
