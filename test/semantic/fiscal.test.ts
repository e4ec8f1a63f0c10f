import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { UserError } from '../../src/lib/error.ts';
import type { querySchema } from '../../src/semantic/query/query.ts';
import { type Engine, engineNames, engineWith, rowsOf } from '../conformance/engines.ts';
import { compile, load } from './shop.ts';

type Query = z.input<typeof querySchema>;

/** Each amount is a power of two, so that a sum says which rows are in it. */
const script = `
CREATE TABLE sales (id INTEGER, sold_on DATE, sold_at TIMESTAMP, amount INTEGER);
INSERT INTO sales VALUES
  (1, '2023-12-31', '2023-12-31 23:59:59', 1), (2, '2024-01-01', '2024-01-01 00:00:00', 2),
  (3, '2024-01-31', '2024-01-31 23:59:59', 4), (4, '2024-02-01', '2024-02-01 00:00:00', 8),
  (5, '2024-02-29', '2024-02-29 12:00:00', 16), (6, '2024-03-31', '2024-03-31 23:59:59', 32),
  (7, '2024-04-01', '2024-04-01 00:00:00', 64), (8, '2024-06-30', '2024-06-30 23:59:59', 128),
  (9, '2024-07-01', '2024-07-01 00:00:00', 256), (10, '2024-09-30', '2024-09-30 23:59:59', 512),
  (11, '2024-10-01', '2024-10-01 00:00:00', 1024), (12, NULL, NULL, 2048);
CREATE TABLE costs (id INTEGER, paid_on DATE, amount INTEGER);
INSERT INTO costs VALUES (1, '2024-03-31', 1), (2, '2024-04-01', 2), (3, NULL, 4);`;

const start = (month: number | undefined) =>
  month === undefined ? '' : `fiscal_year_start: ${month}\n`;
const files = (sales: number | undefined, costs = sales) => ({
  sales: `dataset: sales
source: sales
primary_key: [id]
default_time: sold_on
${start(sales)}fields: [{name: id, type: integer}, {name: sold_on, type: date}, {name: sold_at, type: datetime}, {name: amount, type: integer}]
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: to_date, cumulative: {of: revenue, grain_to_date: fiscal_year}}
  - {name: trailing, cumulative: {of: revenue, window: 1 year}}
  - {name: two_months, cumulative: {of: revenue, window: 2 months}}
  - {name: year_before, offset: {of: revenue, by: 1 year}}
`,
  costs: `dataset: costs
source: costs
primary_key: [id]
default_time: paid_on
${start(costs)}fields: [{name: id, type: integer}, {name: paid_on, type: date}, {name: amount, type: integer}]
metrics: [{name: spent, agg: sum, of: amount}]
`,
});

const years: readonly (readonly [month: number, rows: unknown])[] = [
  [
    1,
    [
      ['2023-01-01', 1],
      ['2024-01-01', 2046],
      [null, 2048],
    ],
  ],
  [
    2,
    [
      ['2023-02-01', 7],
      ['2024-02-01', 2040],
      [null, 2048],
    ],
  ],
  [
    4,
    [
      ['2023-04-01', 63],
      ['2024-04-01', 1984],
      [null, 2048],
    ],
  ],
  [
    7,
    [
      ['2023-07-01', 255],
      ['2024-07-01', 1792],
      [null, 2048],
    ],
  ],
  [
    10,
    [
      ['2023-10-01', 1023],
      ['2024-10-01', 1024],
      [null, 2048],
    ],
  ],
];
const quarters: readonly (readonly [month: number, rows: unknown])[] = [
  [
    1,
    [
      ['2023-10-01', 1],
      ['2024-01-01', 62],
      ['2024-04-01', 192],
      ['2024-07-01', 768],
      ['2024-10-01', 1024],
      [null, 2048],
    ],
  ],
  [
    2,
    [
      ['2023-11-01', 7],
      ['2024-02-01', 120],
      ['2024-05-01', 384],
      ['2024-08-01', 1536],
      [null, 2048],
    ],
  ],
  [
    4,
    [
      ['2023-10-01', 1],
      ['2024-01-01', 62],
      ['2024-04-01', 192],
      ['2024-07-01', 768],
      ['2024-10-01', 1024],
      [null, 2048],
    ],
  ],
];

describe.each(engineNames)('fiscal periods on %s', (name) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineWith(name, script);
  });
  afterAll(async () => engine.close());

  const answer = async (
    query: Query,
    given: Readonly<Record<string, string>>,
  ): Promise<unknown> => {
    const { model, diagnostics } = await load(given, engine.warehouse.dialect);
    expect(diagnostics).toEqual([]);
    const plain = (cell: unknown): unknown =>
      typeof cell === 'string' && /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
    return (await rowsOf(engine, compile(model, query).sql)).map((row) => row.map(plain));
  };

  test.each(years)('years that begin in month %d, by date and by clock', async (month, rows) => {
    for (const time of ['metric_time', 'sales.sold_at']) {
      expect(
        await answer(
          { metrics: ['sales.revenue'], dimensions: [`${time}.fiscal_year`] },
          files(month),
        ),
      ).toEqual(rows);
    }
  });

  test.each(quarters)('quarters of years that begin in month %d', async (month, rows) => {
    expect(
      await answer(
        { metrics: ['sales.revenue'], dimensions: ['metric_time.fiscal_quarter'] },
        files(month),
      ),
    ).toEqual(rows);
  });

  test('a period stands in a condition as the date on which it begins', async () => {
    const query = { metrics: ['sales.revenue'], where: ["metric_time.fiscal_year = '2023-02-01'"] };
    expect(await answer(query, files(2))).toEqual([[7]]);
  });

  test('a total to date starts anew with the fiscal year, and a trailing year is one by fiscal quarters too', async () => {
    const toDate = {
      metrics: ['sales.to_date'],
      dimensions: ['metric_time.month'],
      where: ["metric_time.month < '2024-07-01'"],
    };
    expect(await answer(toDate, files(4))).toEqual([
      ['2023-12-01', 1],
      ['2024-01-01', 7],
      ['2024-02-01', 31],
      ['2024-03-01', 63],
      ['2024-04-01', 64],
      ['2024-06-01', 192],
    ]);
    expect(
      await answer(
        { metrics: ['sales.trailing'], dimensions: ['metric_time.fiscal_quarter'] },
        files(2),
      ),
    ).toEqual([
      ['2023-11-01', 7],
      ['2024-02-01', 127],
      ['2024-05-01', 511],
      ['2024-08-01', 2047],
    ]);
  });

  test('a window has as many months as it says', async () => {
    const query = {
      metrics: ['sales.two_months'],
      dimensions: ['metric_time.month'],
      where: ["metric_time.month between '2024-01-01' and '2024-03-01'"],
    };
    expect(await answer(query, files(1))).toEqual([
      ['2024-01-01', 7],
      ['2024-02-01', 30],
      ['2024-03-01', 56],
    ]);
  });

  test('an earlier year, and periods without rows', async () => {
    const query = {
      metrics: ['sales.revenue', 'sales.year_before'],
      dimensions: ['metric_time.fiscal_year'],
      where: ['metric_time.day is not null'],
    };
    expect(await answer(query, files(4))).toEqual([
      ['2023-04-01', 63, null],
      ['2024-04-01', 1984, 63],
      ['2025-04-01', null, 1984],
    ]);
    const filled = {
      metrics: ['costs.spent'],
      dimensions: ['metric_time.fiscal_quarter', 'metric_time.fiscal_year'],
      where: ['metric_time.day is not null'],
      fill_time: true,
    };
    expect(await answer(filled, files(2))).toEqual([['2024-02-01', '2024-02-01', 3]]);
    const sales = {
      ...filled,
      metrics: ['sales.revenue'],
      where: ["metric_time.month in ('2023-12-01', '2024-07-01')"],
    };
    expect(await answer(sales, files(2))).toEqual([
      ['2023-11-01', '2023-02-01', 1],
      ['2024-02-01', '2024-02-01', null],
      ['2024-05-01', '2024-02-01', 256],
    ]);
  });

  test('two facts of one fiscal year', async () => {
    const query = {
      metrics: ['sales.revenue', 'costs.spent'],
      dimensions: ['metric_time.fiscal_year'],
    };
    expect(await answer(query, files(4))).toEqual([
      ['2023-04-01', 63, 1],
      ['2024-04-01', 1984, 2],
      [null, 2048, 4],
    ]);
  });
});

describe('what has no one meaning is refused', () => {
  const failure = async (
    query: Query,
    given: Readonly<Record<string, string>>,
  ): Promise<unknown> => {
    const { model } = await load(given);
    try {
      compile(model, query);
    } catch (error) {
      if (error instanceof UserError)
        return { code: error.code, text: `${error.message}. ${error.hint}` };
      throw error;
    }
    return 'planned';
  };
  const both = ['sales.revenue', 'costs.spent'];

  test('a dataset that does not say when its years begin, in a dimension, a condition and a total to date', async () => {
    const told = {
      code: 'fiscal_year',
      text: expect.stringMatching(/^sales has no .* Write fiscal_year_start: 4 into .*sales\.yaml/),
    };
    expect(
      await failure(
        { metrics: ['sales.revenue'], dimensions: ['sales.sold_at.fiscal_year'] },
        files(undefined),
      ),
    ).toEqual(told);
    expect(
      await failure(
        { metrics: ['sales.revenue'], where: ["metric_time.fiscal_quarter > '2024-01-01'"] },
        files(undefined),
      ),
    ).toEqual(told);
    expect(
      await failure(
        { metrics: ['sales.to_date'], dimensions: ['metric_time.month'] },
        files(undefined),
      ),
    ).toEqual(told);
    expect(
      await failure(
        { metrics: both, dimensions: ['metric_time.fiscal_year'] },
        files(undefined, 4),
      ),
    ).toEqual(told);
  });

  test('two facts whose years begin in different months, in a dimension and in a condition of both', async () => {
    const told = {
      code: 'fiscal_year',
      text: expect.stringMatching(
        /sales in month 4 .*sales\.yaml.* costs in month 7 .*costs\.yaml/,
      ),
    };
    expect(
      await failure({ metrics: both, dimensions: ['metric_time.fiscal_year'] }, files(4, 7)),
    ).toEqual(told);
    expect(
      await failure(
        { metrics: both, where: ["metric_time.fiscal_year = '2024-04-01'"] },
        files(4, 7),
      ),
    ).toEqual(told);
    expect(
      await failure(
        { metrics: both, where: ['"metric_time"."fiscal_year" is not null'] },
        files(4, 7),
      ),
    ).toEqual(told);
    expect(
      await failure(
        {
          metrics: both,
          where: ["metric_time.year = '2024-01-01' and 'metric_time.fiscal_year' <> ''"],
        },
        files(4, 7),
      ),
    ).toBe('planned');
    expect(
      await failure(
        {
          metrics: both,
          where: [{ field: 'metric_time.fiscal_year', op: '=', value: '2024-04-01' }],
        },
        files(4, 7),
      ),
    ).toEqual(told);
    expect(
      await failure(
        {
          metrics: both,
          where: [{ on: 'sales', where: "metric_time.fiscal_year = '2024-04-01'" }],
        },
        files(4, 7),
      ),
    ).toBe('planned');
  });

  test('calendar periods that cross fiscal ones', async () => {
    const toDate = { metrics: ['sales.to_date'], dimensions: ['metric_time.quarter'] };
    expect(await failure(toDate, files(2))).toMatchObject({ code: 'no_period' });
    expect(await failure(toDate, files(4))).toBe('planned');
    const filled = {
      metrics: ['sales.revenue'],
      dimensions: ['metric_time.quarter', 'metric_time.fiscal_year'],
      fill_time: true,
    };
    expect(await failure(filled, files(2))).toMatchObject({ code: 'not_supported' });
    expect(await failure(filled, files(4))).toBe('planned');
  });
});
