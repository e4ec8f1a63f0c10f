import { expect, test } from 'vitest';
import { engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

/** Per person a visit on 1 January, and purchases before, within or after its window. */
const script = `
CREATE TABLE visits (id INTEGER, person INTEGER, seen_on DATE);
INSERT INTO visits VALUES (1, 1, '2024-01-01'), (2, 2, '2024-01-01'), (3, 3, '2024-01-01'), (4, 4, '2024-01-01');
CREATE TABLE purchases (id INTEGER, person INTEGER, made_on DATE);
INSERT INTO purchases VALUES (1, 1, '2024-01-01'), (2, 2, '2024-01-07'), (3, 3, '2024-01-08'), (4, 4, '2023-12-31'), (5, 4, '2023-12-30');`;

const files = {
  visits: `
dataset: visits
source: visits
primary_key: [id]
default_time: seen_on
fields: [{name: id, type: integer}, {name: person, type: integer}, {name: seen_on, type: date}]
metrics:
  - {name: visit_count, agg: count}
  - {name: bought, conversion: {base: visit_count, to: purchases.purchase_count, on: {person: person}, window: 7 days, calculation: conversions}}
`,
  purchases: `
dataset: purchases
source: purchases
primary_key: [id]
default_time: made_on
fields: [{name: id, type: integer}, {name: person, type: integer}, {name: made_on, type: date}]
metrics:
  - {name: purchase_count, agg: count}
  - {name: bought_again, conversion: {base: purchase_count, to: purchase_count, on: {person: person}, window: 7 days, calculation: conversions}}
`,
};

test.each(engineNames)(
  'a conversion counts from the same day to the last day of its window, and never itself, on %s',
  async (name) => {
    const engine = await engineWith(name, script);
    try {
      const { model, diagnostics } = await load(files, engine.warehouse.dialect);
      expect(diagnostics).toEqual([]);
      const perPerson = async (metric: string, dimension: string) => {
        const { sql } = compile(model, { metrics: [metric], dimensions: [dimension] });
        return (await rowsOf(engine, sql)).map((row) => row.map(Number));
      };
      expect(await perPerson('visits.bought', 'visits.person')).toEqual([
        [1, 1],
        [2, 1],
        [3, 0],
        [4, 0],
      ]);
      expect(await perPerson('purchases.bought_again', 'purchases.person')).toEqual([
        [1, 0],
        [2, 0],
        [3, 0],
        [4, 1],
      ]);
    } finally {
      await engine.close();
    }
  },
);
