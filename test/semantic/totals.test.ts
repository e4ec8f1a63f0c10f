import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

type Query = z.input<typeof querySchema>;

const script = `
CREATE TABLE sales (id INTEGER, region VARCHAR(9), item VARCHAR(9), buyer_id INTEGER, payer_id INTEGER, amount INTEGER);
INSERT INTO sales VALUES (1, 'n', 'a', 1, 3, 10), (2, 'n', 'b', 1, 3, 20), (3, 's', 'a', 2, 1, 30), (4, NULL, 'a', 2, 1, 40),
  (5, NULL, 'b', NULL, 1, 50), (6, 's', 'b', 1, 2, NULL);
CREATE TABLE visits (person_id INTEGER);
INSERT INTO visits VALUES (2);
CREATE TABLE people (id INTEGER, town VARCHAR(9));
INSERT INTO people VALUES (1, 'x'), (2, 'y'), (3, 'x'), (4, 'y');`;

const files = {
  sales: `
dataset: sales
source: sales
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string}, {name: item, type: string}, {name: amount, type: integer}]
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: count, agg: count}
  - {name: large, agg: count, where: amount > 20}
  - {name: buyers, agg: count_distinct, of: buyer_id}
  - {name: all_revenue, total: {of: revenue}}
  - {name: all_large, total: {of: large}}
  - {name: region_revenue, total: {of: revenue, by: [sales.region]}}
  - {name: region_buyers, total: {of: buyers, by: [sales.region]}}
  - {name: share, ratio: {numerator: revenue, denominator: region_revenue}}
  - {name: best_item, agg: max, of: revenue, per: item}
  - {name: region_best, total: {of: best_item, by: [sales.region]}}
  - {name: inside, agg: max, of: all_revenue, per: item}
relationships:
  - {to: people, on: {buyer_id: id}, role: buyer}
  - {to: people, on: {payer_id: id}, role: payer}
`,
  visits: `
dataset: visits
source: visits
fields: [{name: person_id, type: integer}]
metrics: [{name: visit_count, agg: count}]
relationships: [{to: people, on: {person_id: id}, role: buyer}]
`,
  people: `
dataset: people
source: people
primary_key: [id]
fields: [{name: id, type: integer}, {name: town, type: string}]
row_metrics:
  - {name: bought, metric: sales.count, via: sales.buyer, type: integer}
  - {name: spent, metric: sales.revenue, via: sales.payer, type: integer}
  - {name: unclear, metric: sales.count}
  - {name: endless, metric: endless_count}
metrics:
  - {name: people_count, agg: count}
  - {name: endless_count, agg: count, where: endless > 1}
`,
};

test('the metrics behind an answer are named, however deep: in totals, in fields of a row, in conditions', async () => {
  const { model } = await load(files);
  const behind = (query: Query): readonly string[] => [...compile(model, query).used].sort();
  expect(behind({ metrics: ['sales.region_best'], dimensions: ['sales.region'] })).toEqual([
    'sales.best_item',
    'sales.region_best',
    'sales.revenue',
  ]);
  expect(behind({ metrics: ['people.people_count'], dimensions: ['people.spent'] })).toEqual([
    'people.people_count',
    'sales.revenue',
  ]);
  expect(behind({ metrics: ['sales.count'], having: ['sales.large > 1'] })).toEqual([
    'sales.count',
    'sales.large',
  ]);
});

describe.each(engineNames)('totals and metrics of a row on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    const loaded = await load(files, engine.warehouse.dialect);
    expect(loaded.diagnostics).toEqual([]);
    model = loaded.model;
  });
  afterAll(async () => engine.close());

  const answer = async (query: Query): Promise<unknown> => {
    const plain = (cell: unknown): unknown =>
      typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
    return (await rowsOf(engine, compile(model, query).sql)).map((row) => row.map(plain));
  };
  const failure = (query: Query): string => {
    try {
      compile(model, query);
    } catch (error) {
      if (error instanceof UserError) return error.code;
      throw error;
    }
    return 'planned';
  };

  test('a total is of all groups or of some dimensions, NULL among them, and having does not change it', async () => {
    const query: Query = {
      metrics: [
        'sales.revenue',
        'sales.region_revenue',
        'sales.all_revenue',
        'sales.region_buyers',
        'sales.region_best',
        'sales.all_large',
      ],
      dimensions: ['sales.region', 'sales.item'],
    };
    expect(await answer(query)).toEqual([
      ['n', 'a', 10, 30, 150, 1, 20, 3],
      ['n', 'b', 20, 30, 150, 1, 20, 3],
      ['s', 'a', 30, 30, 150, 2, 30, 3],
      ['s', 'b', null, 30, 150, 2, 30, 3],
      [null, 'a', 40, 90, 150, 1, 50, 3],
      [null, 'b', 50, 90, 150, 1, 50, 3],
    ]);
    expect(
      await answer({
        ...query,
        having: ['sales.revenue = sales.region_best'],
        where: ["sales.item = 'a'"],
      }),
    ).toEqual([
      ['n', 'a', 10, 10, 80, 1, 10, 2],
      ['s', 'a', 30, 30, 80, 1, 30, 2],
      [null, 'a', 40, 40, 80, 1, 40, 2],
    ]);
    expect(
      await answer({
        metrics: ['sales.share'],
        dimensions: ['sales.item', 'sales.region'],
        having: ['sales.share < 0.4'],
      }),
    ).toEqual([
      ['a', 'n', expect.closeTo(1 / 3)],
      ['b', 's', 0],
    ]);
    expect(await answer({ metrics: ['sales.all_revenue'], dimensions: ['sales.item'] })).toEqual([
      ['a', 150],
      ['b', 150],
    ]);
    expect(await answer({ metrics: ['sales.all_revenue'] })).toEqual([[150]]);
  });

  test('a total shows the groups of its own rows, whatever else is asked', async () => {
    const query: Query = {
      metrics: ['people.people_count', 'sales.all_revenue'],
      dimensions: ['people.town'],
      where: ["people.town = 'x'"],
    };
    expect(failure(query)).toBe('ambiguous_path');
    const towns: Query = { metrics: ['visits.visit_count'], dimensions: ['buyer.town'] };
    expect(await answer(towns)).toEqual([['y', 1]]);
    expect(
      await answer({ ...towns, metrics: [...(towns.metrics ?? []), 'sales.all_revenue'] }),
    ).toEqual([
      ['x', 0, 150],
      ['y', 1, 150],
      [null, 0, 150],
    ]);
  });

  test('a total needs its dimensions, and is no part of another aggregate', () => {
    expect(failure({ metrics: ['sales.region_revenue'], dimensions: ['sales.item'] })).toBe(
      'no_group',
    );
    expect(failure({ metrics: ['sales.inside'], dimensions: ['sales.region'] })).toBe(
      'not_supported',
    );
  });

  test('a metric of a row groups, filters and is aggregated; none counts 0, whatever the conditions', async () => {
    expect(
      await answer({ metrics: ['people.people_count'], dimensions: ['people.bought'] }),
    ).toEqual([
      [0, 2],
      [2, 1],
      [3, 1],
    ]);
    expect(
      await answer({
        metrics: ['people.people_count', 'sum(people.bought)'],
        where: ['people.spent > 25'],
      }),
    ).toEqual([[2, 3]]);
    // Nobody bought the fifth sale, which is not the same as somebody who bought nothing.
    expect(await answer({ metrics: ['sales.count'], dimensions: ['sales.buyer.bought'] })).toEqual([
      [2, 2],
      [3, 3],
      [null, 1],
    ]);
    const bought: Query = {
      metrics: ['sales.count'],
      dimensions: ['sales.buyer.bought', 'sales.payer.bought'],
      where: ['sales.id < 4'],
    };
    expect(await answer(bought)).toEqual([
      [2, 3, 1],
      [3, 0, 2],
    ]);
  });

  test('each side of an OR asks its own rows', async () => {
    const people = async (where: string): Promise<unknown> =>
      answer({ dimensions: ['people.id'], where: [where] });
    expect(await people("visits.person_id > 0 or people.town = 'x'")).toEqual([[1], [2], [3]]);
    expect(
      await people(
        "people.sales_as_payer.amount = 20 or (visits.person_id > 0 and people.town = 'y') or people.sales_as_buyer.region is null",
      ),
    ).toEqual([[2], [3]]);
    expect(
      await people("people.sales_as_buyer.region = 's' or people.sales_as_buyer.item = 'b'"),
    ).toEqual([[1], [2]]);
    // Neither part may hold of a person without visits.
    expect(
      await people("people.town = 'z' or (not visits.person_id > 5 and people.town in ('x', 'y'))"),
    ).toEqual([[2]]);
  });

  test.each([
    "not (visits.person_id > 0 or people.town = 'x')",
    // The same as `not visits.person_id > 0 or not people.town = 'x'`, which may hold of a person
    // without visits.
    "not (visits.person_id > 0 and people.town = 'x')",
    "people.town in ('x', cast(visits.person_id as varchar))",
    'coalesce(visits.person_id, people.id) = 3',
    'nullif(visits.person_id, people.id) is null',
    '(visits.person_id = people.id) is not true',
  ])('what may hold of rows without any to many is no question about those: %s', (where) => {
    expect(failure({ dimensions: ['people.id'], where: [where] })).toBe('mixed_condition');
  });

  test('a metric of a row is refused where it has no unique path, or is made of itself', () => {
    expect(failure({ dimensions: ['people.unclear'] })).toBe('ambiguous_path');
    expect(failure({ dimensions: ['people.endless'] })).toBe('circular');
  });
});

test('a metric of a row needs a metric, a key and a name of its own, and is no key; totals have no totals', async () => {
  const sales = files.sales.replace(
    '  - {name: inside',
    '  - {name: twice, total: {of: all_revenue}}\n  - {name: inside',
  );
  const people = `
dataset: people
source: people
fields: [{name: id, type: integer}]
unique_keys: [[bought]]
row_metrics: [{name: bought, metric: sales.cuont}]
`;
  const rules = async (texts: Record<string, string>): Promise<unknown> => {
    const { diagnostics } = await load(texts);
    return diagnostics.map(({ rule, line, hint = '' }) => `${rule} ${line} ${hint}`);
  };
  expect(await rules({ ...files, people })).toEqual([
    'row_metric 5 Name a column, or a field with an expression over columns.',
    expect.stringMatching(/^unknown_name 6 .*sales.count/),
    'no_key 6 Declare primary_key.',
  ]);
  const { model, diagnostics } = await load({
    ...files,
    sales: files.sales.replace('agg: max', 'agg: most'),
  });
  expect(
    diagnostics
      .filter(({ severity }) => severity === 'error')
      .every(({ file }) => file.includes('sales')),
  ).toBe(true);
  expect(diagnostics.map(({ rule }) => rule)).toContain('left_out');
  expect(() => compile(model, { dimensions: ['people.bought'] })).toThrow('sales has errors');
  const twins = files.people.replace('name: spent', 'name: TOWN');
  expect(await rules({ ...files, people: twins })).toContainEqual(
    expect.stringContaining('duplicate 8'),
  );
  expect(await rules({ ...files, sales })).toContainEqual(expect.stringContaining('nested 18'));
});
