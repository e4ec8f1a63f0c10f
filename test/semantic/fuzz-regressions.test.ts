import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UserError } from '../../src/lib/error.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import type { Query } from './fuzz/query-text.ts';
import { compile, load } from './shop.ts';

/** What the fuzzer (`fuzz.test.ts`) and long runs of it have found, one case each. */
const script = `
CREATE TABLE visits (id INTEGER, page_id INTEGER, amount INTEGER, day DATE, paid DATE);
INSERT INTO visits VALUES (1, 1, 1, '2024-01-31', '2024-01-31'), (2, 1, 10, '2024-02-23', '2024-03-01'), (3, 2, 100, '2024-02-28', '2024-03-01'), (4, 2, 1000, '2024-03-02', NULL);
CREATE TABLE tags (id INTEGER, visit_id INTEGER, label VARCHAR(9));
INSERT INTO tags VALUES (1, 1, 'new'), (2, 4, 'new'), (3, 4, 'old');`;

const files = {
  visits: `
dataset: visits
source: visits
primary_key: [id]
default_time: day
fields: [{name: id, type: integer}, {name: amount, type: integer}, {name: day, type: date}, {name: paid, type: date}]
metrics:
  - {name: total, agg: sum, of: amount}
  - {name: count, agg: count}
  - {name: so_far, cumulative: {of: total}}
  - {name: last_week, cumulative: {of: total, window: 1 week}}
  - {name: seven_days, cumulative: {of: total, window: 7 days}}
`,
  tags: `
dataset: tags
source: tags
primary_key: [id]
fields: [{name: id, type: integer}, {name: label, type: string}]
row_metrics: [{name: notes, metric: notes.count, via: notes.tags}]
metrics: [{name: count, agg: count}]
relationships: [{to: visits, on: {visit_id: id}}]
`,
  notes: `
dataset: notes
source: tags
primary_key: [id]
fields: [{name: id, type: integer}]
metrics: [{name: count, agg: count}]
relationships: [{to: tags, on: {id: id}}]
`,
};

/** Beside those: each visit has one card, and words through its tags. */
const bridged = {
  cards: `
dataset: cards
source: visits
primary_key: [id]
fields: [{name: id, type: integer}]
metrics: [{name: count, agg: count}]
relationships: [{to: visits, on: {id: id}, cardinality: one_to_one}]
`,
  visits: `${files.visits}
relationships: [{to: words, on: {}, cardinality: many_to_many, via: marks}]
`,
  words: `
dataset: words
sql: SELECT DISTINCT label FROM tags
primary_key: [label]
fields: [{name: label, type: string}]
`,
  marks: `
dataset: marks
source: tags
primary_key: [id]
fields: [{name: id, type: integer}]
relationships: [{to: visits, on: {visit_id: id}}, {to: words, on: {label: label}}]
`,
};

describe.each(engineNames)('what the fuzzer found on %s', (name) => {
  let engine: Engine;
  let model: SemanticModel;
  beforeAll(async () => {
    engine = await engineWith(name, script);
    ({ model } = await load(files, engine.warehouse.dialect));
  });
  afterAll(async () => engine.close());

  const answer = async (query: Query, of = model): Promise<readonly (readonly unknown[])[]> => {
    const plain = (cell: unknown): unknown =>
      typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
    return (await rowsOf(engine, compile(of, query).sql)).map((row) => row.map(plain));
  };

  test('a running total by a dimension to many is shown in the periods of the result alone: February has no tagged visit', async () => {
    const query: Query = {
      metrics: ['visits.so_far'],
      dimensions: ['tags.label', 'visits.day.month'],
    };
    expect(await answer(query)).toEqual([
      ['new', '2024-01-01', 1],
      ['new', '2024-03-01', 1001],
      ['old', '2024-03-01', 1000],
    ]);
  });

  test('days that are filled lie in their own months', async () => {
    const query: Query = {
      metrics: ['visits.count'],
      dimensions: ['visits.day.month', 'visits.day.day'],
      fill_time: true,
    };
    const rows = await answer(query);
    expect(rows).toHaveLength(32);
    expect(
      rows.filter(([month, day]) => String(month).slice(0, 7) !== String(day).slice(0, 7)),
    ).toEqual([]);
    expect(rows.filter(([, , count]) => count !== 0)).toHaveLength(4);
  });

  test('periods are filled where no metric is asked for', async () => {
    const query: Query = {
      dimensions: ['visits.day.month'],
      where: ['visits.amount in (1, 1000)'],
      fill_time: true,
    };
    expect(await answer(query)).toEqual([['2024-01-01'], ['2024-02-01'], ['2024-03-01']]);
  });

  test('a bridge behind a one to one is one path', async () => {
    const other = await load(bridged, engine.warehouse.dialect);
    expect(
      await answer({ metrics: ['cards.count'], dimensions: ['words.label'] }, other.model),
    ).toEqual([
      ['new', 2],
      ['old', 1],
    ]);
  });

  test('a trailing week is seven days, where the period that is asked for is no week', async () => {
    const metrics = ['visits.last_week', 'visits.seven_days'];
    expect(await answer({ metrics, dimensions: ['visits.day.month'] })).toEqual([
      ['2024-01-01', 1, 1],
      ['2024-02-01', 110, 110],
    ]);
  });
});

test('periods of which it is not clear which are filled are asked for', async () => {
  const { model } = await load(files);
  const messageOf = (query: Query): string => {
    try {
      return compile(model, query).sql;
    } catch (error) {
      return error instanceof UserError ? `${error.code}: ${error.message}` : String(error);
    }
  };
  const metrics = ['visits.count'];
  expect(
    messageOf({ metrics, dimensions: ['visits.day.month', 'visits.paid.month'], fill_time: true }),
  ).toMatch(/^not_supported: .*visits\.day\.month and visits\.paid\.month/);
  // Beside a running total, the days of the other time would not be filled any more.
  expect(
    messageOf({
      metrics: ['visits.so_far'],
      dimensions: ['visits.day.month', 'visits.paid.day'],
      fill_time: true,
    }),
  ).toMatch(/^not_supported/);
  expect(
    messageOf({ metrics, dimensions: ['visits.day.month', 'visits.day.week'], fill_time: true }),
  ).toMatch(/^not_supported: .*week and month/);
  // A metric of each row is of the rows that are counted, as their columns are.
  const tagged: Query = {
    metrics: ['tags.count'],
    dimensions: ['tags.label', 'visits.amount'],
    include_empty: true,
  };
  expect(messageOf({ ...tagged, where: ['visits.amount > 1 or tags.id > 1'] })).toMatch(
    /^not_supported: .*condition across dimensions/,
  );
  expect(messageOf({ ...tagged, where: ['visits.amount > 1 or tags.notes > 1'] })).toMatch(
    /^not_supported: .*condition across dimensions/,
  );
  expect(messageOf({ metrics, having: ['visits.count > 0.01 * visits.cuont'] })).toMatch(
    /^unknown_name: .*visits\.cuont/,
  );
  expect(messageOf({ metrics, having: ['visits.count > visits.id'] })).toMatch(/^mixed_condition/);
});
