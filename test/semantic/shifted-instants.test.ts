import { expect, test } from 'vitest';
import { engineNames, engineWith, roundedCell, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

/** Half past eleven in the evening in Paris: in March one hour ahead of UTC, in April two. */
const script = `
CREATE TABLE sales (id INTEGER, sold_at TIMESTAMPTZ, amount INTEGER);
INSERT INTO sales VALUES (1, '2024-03-15 22:30:00+00:00', 1);`;

/** Around the ends of months of Paris, in summer and in winter. */
const monthEnds = `
CREATE TABLE sales (id INTEGER, sold_at TIMESTAMPTZ, amount INTEGER);
INSERT INTO sales VALUES (1, '2024-01-31 22:30:00+00:00', 1), (2, '2024-01-31 23:30:00+00:00', 2), (3, '2024-03-31 21:30:00+00:00', 4),
  (4, '2024-03-31 22:30:00+00:00', 8), (5, NULL, 16);`;

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

test.each(engineNames)(
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

test.each(engineNames)(
  'months of a zone are moved as a whole, and the rows read once, on %s',
  async (name) => {
    const engine = await engineWith(name, monthEnds);
    try {
      const { model } = await load(files, engine.warehouse.dialect);
      const { sql } = compile(model, {
        metrics: ['sales.revenue', 'sales.month_before'],
        dimensions: ['metric_time.month'],
        timezone: 'Europe/Paris',
      });
      expect(sql).not.toMatch(/FROM "sales"\s[^]*FROM "sales"\s/);
      const rows = (await rowsOf(engine, sql)).map((row) =>
        row.map((cell) => roundedCell(cell, 0)),
      );
      expect(rows).toEqual([
        ['2024-01-01', 1, null],
        ['2024-02-01', 2, 1],
        ['2024-03-01', 4, 2],
        ['2024-04-01', 8, 4],
        ['2024-05-01', null, 8],
        [null, 16, 16],
      ]);
    } finally {
      await engine.close();
    }
  },
);

/** An hour before and two hours after the clocks of Paris were set, in spring and in autumn. */
const clockChanges = `
CREATE TABLE sales (id INTEGER, sold_at TIMESTAMPTZ, amount INTEGER);
INSERT INTO sales VALUES (1, '2024-03-31 00:10:00+00:00', 1), (2, '2024-03-31 02:10:00+00:00', 2),
  (3, '2024-10-27 00:10:00+00:00', 4), (4, '2024-10-27 01:10:00+00:00', 8), (5, '2024-10-27 03:10:00+00:00', 16);`;

test.each(engineNames)(
  'hours are filled as the clocks show them: none that they skip, one that they show twice, on %s',
  async (name) => {
    const engine = await engineWith(name, clockChanges);
    try {
      const { model } = await load(files, engine.warehouse.dialect);
      const hoursOf = async (day: string) => {
        const { sql } = compile(model, {
          metrics: ['sales.revenue'],
          dimensions: ['metric_time.hour'],
          where: [`metric_time.day = '${day}'`],
          timezone: 'Europe/Paris',
          fill_time: true,
        });
        return (await rowsOf(engine, sql)).map(([hour, sum]) => [
          String(hour).slice(11, 16),
          sum === null ? null : Number(sum),
        ]);
      };
      expect(await hoursOf('2024-03-31')).toEqual([
        ['01:00', 1],
        ['03:00', null],
        ['04:00', 2],
      ]);
      expect(await hoursOf('2024-10-27')).toEqual([
        ['02:00', 12],
        ['03:00', null],
        ['04:00', 16],
      ]);
    } finally {
      await engine.close();
    }
  },
);
