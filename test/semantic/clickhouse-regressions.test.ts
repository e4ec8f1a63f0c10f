import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { clickhouse } from '../../src/sql/dialects/clickhouse.ts';
import { type Engine, engineWith, rowsOf } from '../conformance/engines.ts';
import { hasClickhouse } from '../support/clickhouse.ts';
import type { Query } from './fuzz/query-text.ts';
import { compile, load } from './shop.ts';

/** What the fuzzer has found on the real engine, one case each. */
const script = `
CREATE TABLE visits (id INTEGER, boss_id INTEGER, page VARCHAR(9), amount INTEGER, day DATE, at TIMESTAMP);
INSERT INTO visits VALUES (1, NULL, 'a', 5, '2024-01-31', '2024-01-31 10:30:00'), (2, 1, 'b', 7, '2024-02-23', '2024-02-23 23:30:00');
CREATE TABLE bands (name VARCHAR(9), low INTEGER, high INTEGER);
INSERT INTO bands VALUES ('small', 0, 6), ('large', 6, NULL);`;

const files = {
  visits: `
dataset: visits
source: visits
primary_key: [id]
default_time: day
fields: [{name: id, type: integer}, {name: page, type: string}, {name: amount, type: integer}, {name: day, type: date}, {name: at, type: datetime_tz}]
metrics: [{name: total, agg: sum, of: amount}, {name: count, agg: count}]
relationships:
  - {to: visits, role: boss, on: {boss_id: id}}
  - {to: bands, on: {}, within: {field: amount, from: low, to: high}}
`,
  bands: `
dataset: bands
source: bands
primary_key: [name]
unique_keys: [[low]]
fields: [{name: name, type: string}, {name: low, type: integer}, {name: high, type: integer}]
metrics: [{name: number, agg: count}]
`,
};

describe('what the fuzzer found of clickhouse', () => {
  let model: SemanticModel;
  beforeAll(async () => {
    const loaded = await load(files, clickhouse);
    expect(loaded.diagnostics).toEqual([]);
    ({ model } = loaded);
  });

  test('no condition on rows that a range joins: the engine would drop those without a bound', () => {
    const query: Query = { metrics: ['bands.number'], where: ["visits.page = 'b'"] };
    expect(() => compile(model, query)).toThrow(expect.objectContaining({ code: 'not_supported' }));
  });

  describe.skipIf(!hasClickhouse)('', () => {
    let engine: Engine;
    beforeAll(async () => {
      engine = await engineWith('clickhouse', script);
    });
    afterAll(async () => engine?.close());
    const answer = (query: Query) => rowsOf(engine, compile(model, query).sql);

    test('a date has hours', async () => {
      const query: Query = { metrics: ['visits.count'], dimensions: ['visits.day.hour'] };
      expect(await answer(query)).toEqual([
        ['2024-01-31 00:00:00', 1],
        ['2024-02-23 00:00:00', 1],
      ]);
    });

    test('an hour in a zone is read on the clock of the zone', async () => {
      const query: Query = {
        metrics: ['visits.count'],
        dimensions: ['visits.at.hour'],
        timezone: 'America/New_York',
      };
      expect(await answer(query)).toEqual([
        ['2024-01-31 05:00:00', 1],
        ['2024-02-23 18:00:00', 1],
      ]);
    });

    test('a range joins without a key', async () => {
      const query: Query = { metrics: ['visits.total'], dimensions: ['bands.name'] };
      expect(await answer(query)).toEqual([
        ['large', 7],
        ['small', 5],
      ]);
    });

    test('there is NULL before the first row', async () => {
      const query: Query = {
        metrics: ['visits.count'],
        dimensions: ['visits.day.month'],
        over_rows: ['before = previous of visits.count'],
      };
      expect((await answer(query)).map((row) => row.at(-1))).toEqual([null, 1]);
    });
  });
});
