import { describe, expect, test } from 'vitest';
import {
  type AggregateCell,
  discloseCount,
  discloseSum,
  dropSmallCells,
} from '../../src/ingest/aggregate/disclose.ts';

const cell = (name: string, rows: number): AggregateCell => ({ key: [name], rows, measures: [] });
const keptOf = (...cells: AggregateCell[]) =>
  dropSmallCells(cells).kept.map(({ key: [name] }) => name);
const measured = (...numbers: number[]) => ({
  present: numbers.length,
  sum: numbers.reduce((sum, number) => sum + number, 0),
  sumOfSizes: numbers.reduce((sum, number) => sum + Math.abs(number), 0),
  greatestSize: Math.max(...numbers.map(Math.abs)),
});

describe('what a model that reads is told of rows', () => {
  test('is nothing of a group of fewer than five rows', () => {
    expect(keptOf(cell('a', 5), cell('b', 40), cell('c', 4), cell('d', 3))).toEqual(['a', 'b']);
  });

  test('leaves no group of fewer than five to be found by subtraction', () => {
    // Without the second, the total less the others would be the two rows of the first.
    expect(keptOf(cell('two', 2), cell('six', 6), cell('many', 90))).toEqual(['many']);
    expect(keptOf(cell('six', 6), cell('many', 90))).toEqual(['six', 'many']);
  });

  test('is a rounded count, and a sum from which no row can be told', () => {
    expect([4, 7, 8].map(discloseCount)).toEqual(['fewer than 5', 5, 10]);
    expect(discloseSum(measured(...Array<number>(20).fill(10), 7))).toBe(210);
    expect(discloseSum(measured(1, 1, 1, 1))).toContain('withheld');
    // One row is a large part of the sum.
    expect(discloseSum(measured(10, 10, 10, 10, 11, 12))).toContain('withheld');
    expect(discloseSum(measured(...Array<number>(600).fill(1), 480))).toContain('withheld');
  });
});
