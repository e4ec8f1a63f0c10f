import { expect, test } from 'vitest';
import { engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

/** Half past eleven in the evening in Paris: in March one hour ahead of UTC, in April two. */
const script = `
CREATE TABLE sales (id INTEGER, sold_at TIMESTAMPTZ, amount INTEGER);
INSERT INTO sales VALUES (1, '2024-03-15 22:30:00+00', 1);`;

const files = {
  sales: `
dataset: sales
source: sales
primary_key: [id]
default_time: sold_at
fields: [{name: id, type: integer}, {name: sold_at, type: datetime_tz}, {name: amount, type: integer}]
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: month_before, offset: {of: revenue, by: 1 month}}
`,
};

test.each(['duckdb', 'postgres'] as const)(
  'a month later is the same hour of the day, also across a change of the clock, on %s',
  async (name) => {
    const engine = await engineWith(name, script);
    try {
      const { model, diagnostics } = await load(files, engine.warehouse.dialect);
      expect(diagnostics).toEqual([]);
      const { sql } = compile(model, {
        metrics: ['sales.revenue', 'sales.month_before'],
        dimensions: ['metric_time.day'],
        timezone: 'Europe/Paris',
      });
      const numberOrNull = (sum: unknown) => (sum === null ? null : Number(sum));
      const rows = (await rowsOf(engine, sql)).map(([day, ...sums]) => [
        day,
        ...sums.map(numberOrNull),
      ]);
      expect(rows).toEqual([
        ['2024-03-15', 1, null],
        ['2024-04-15', null, 1],
      ]);
    } finally {
      await engine.close();
    }
  },
);
