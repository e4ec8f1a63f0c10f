import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AggregateCell,
  discloseAverage,
  discloseCount,
  discloseSum,
  dropSmallCells,
  fewestRows,
} from '../../src/ingest/aggregate/disclose.ts';
import { requestForMetric } from '../../src/ingest/aggregate/metric-request.ts';

const numbers = fc.array(fc.integer({ min: -1_000_000, max: 1_000_000 }), { maxLength: 80 });

function measured(values: readonly number[]) {
  const sizes = values.map(Math.abs);
  const add = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0);
  return {
    present: values.length,
    sum: add(values),
    sumOfSizes: add(sizes),
    greatestSize: Math.max(0, ...sizes),
  };
}

const cell = (rows: number, index: number): AggregateCell => ({
  key: [String(index)],
  rows,
  measures: [],
});

describe('what an aggregate discloses', () => {
  test('is about at least five rows, and so is every difference of a total and its groups', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 12 }), (sizes) => {
        const { kept, isCut } = dropSmallCells(sizes.map(cell));
        const total = sizes.reduce((sum, rows) => sum + rows, 0);
        const shown = kept.reduce((sum, { rows }) => sum + rows, 0);
        expect(kept.every(({ rows }) => rows >= fewestRows)).toBe(true);
        expect(kept.length === 0 || total === shown || total - shown >= fewestRows).toBe(true);
        expect(isCut).toBe(total !== shown);
      }),
    );
  });

  test('is a sum in which no row shows: its step is at least as large as every number in it', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const sum = discloseSum(measured(values));
        if (typeof sum === 'string') return;
        expect(values.length).toBeGreaterThanOrEqual(fewestRows);
        const { greatestSize, sum: exact, sumOfSizes } = measured(values);
        expect(greatestSize).toBeLessThanOrEqual(sumOfSizes / 2);
        const digits =
          Math.abs(sum) === 0 ? 0 : Number(String(Math.abs(sum)).replace(/^.*?(0*)$/, '1$1'));
        expect(sum === 0 || digits * 5 >= greatestSize).toBe(true);
        expect(Math.abs(sum - exact)).toBeLessThanOrEqual(2.5 * greatestSize);
      }),
    );
    expect(discloseSum(measured([9, 1, 1, 1, 1, 1]))).toMatch(/withheld/);
    expect(discloseSum(measured([1, 2, 3, 4]))).toMatch(/withheld/);
    expect(discloseSum(measured([0, 0, 0, 0, 0]))).toBe(0);
    expect(discloseAverage(measured([4, 5, 6, 5, 4, 6, 5, 5, 4, 6]))).toBe(5);
  });

  test('is a count in fives', () => {
    expect([0, 4, 5, 7, 8, 1003].map(discloseCount)).toEqual([
      'fewer than 5',
      'fewer than 5',
      5,
      5,
      10,
      1005,
    ]);
  });
});

describe('the number of a metric that a model may see', () => {
  test.each([
    [{ agg: 'sum', of: 'amount' }, { sum: ['amount'] }],
    [{ expr: 'SUM(orders.amount)' }, { sum: ['amount'] }],
    [{ agg: 'count', where: "status = 'paid' and region in ('a', 'b')" }, {}],
    [{ agg: 'avg', of: 'amount', where: "status <> 'open'", unit: 'EUR' }, { average: ['amount'] }],
  ] as const)('is that of %j', (metric, request) => {
    expect(requestForMetric('orders', metric)?.request).toMatchObject(request);
  });

  test.each([
    { agg: 'max', of: 'amount' },
    { agg: 'median', of: 'amount' },
    { agg: 'sum', of: 'amount + 1' },
    { agg: 'sum', of: 'customers.amount' },
    { agg: 'count', of: 'amount' },
    { agg: 'sum', of: 'amount', where: 'amount > 5' },
    { agg: 'sum', of: 'amount', where: "status = 'paid' or id = 1" },
    { agg: 'sum', of: 'amount', where: "lower(status) = 'paid'" },
    { agg: 'sum', of: 'amount', where: "email like 'a%'" },
    { agg: 'sum', of: 'amount', where: "status in ('a', (select email from people))" },
    { agg: 'sum', of: 'amount', where: "a = '1' and b = '1' and c = '1'" },
    { expr: 'sum(amount) - sum(refund)' },
    { expr: 'sum(case when id = 1 then amount end)' },
    { ratio: { numerator: 'a', denominator: 'b' } },
    { agg: 'sum', of: 'amount', per: 'id' },
  ] as const)('is not that of %j', (metric) => {
    expect(
      requestForMetric('orders', metric as Parameters<typeof requestForMetric>[1]),
    ).toBeUndefined();
  });
});
