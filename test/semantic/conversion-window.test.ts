import { expect, test } from 'vitest';
import { engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

/** Per person a visit on 1 January, and a purchase the given number of days later. */
const script = `
CREATE TABLE visits (id INTEGER, person INTEGER, seen_on DATE);
INSERT INTO visits VALUES (1, 1, '2024-01-01'), (2, 2, '2024-01-01'), (3, 3, '2024-01-01'), (4, 4, '2024-01-01');
CREATE TABLE purchases (id INTEGER, person INTEGER, made_on DATE);
INSERT INTO purchases VALUES (1, 1, '2024-01-01'), (2, 2, '2024-01-07'), (3, 3, '2024-01-08'), (4, 4, '2023-12-31');`;

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
metrics: [{name: purchase_count, agg: count}]
`,
};

test.each(engineNames)(
  'a conversion counts from the same day to the last day of its window, on %s',
  async (name) => {
    const engine = await engineWith(name, script);
    try {
      const { model, diagnostics } = await load(files, engine.warehouse.dialect);
      expect(diagnostics).toEqual([]);
      const { sql } = compile(model, { metrics: ['visits.bought'], dimensions: ['visits.person'] });
      const rows = (await rowsOf(engine, sql)).map((row) => row.map(Number));
      expect(rows).toEqual([
        [1, 1],
        [2, 1],
        [3, 0],
        [4, 0],
      ]);
    } finally {
      await engine.close();
    }
  },
);
