import { expect, test } from 'vitest';
import { difference, runBenchmark } from '../tpc.ts';
import { tpchTables } from './generate.ts';

await runBenchmark('TPC-H', { folder: import.meta.dirname, published: 22, tables: tpchTables });

test('a comparison fails for a cell, a row too many and a row too few', () => {
  const rows = [
    ['a', 1.25],
    ['a', 1.25],
    ['b', 1 / 3],
  ];
  expect(difference(rows, rows.toReversed())).toEqual({ extra: [], missing: [] });
  expect(difference(rows, [...rows.slice(0, 2), ['b', 1 / 3 + 1e-12]]).missing).toEqual([]);
  expect(difference(rows, [...rows.slice(0, 2), ['b', 0.3333]]).missing).toEqual([['b', 0.3333]]);
  expect(difference(rows, rows.slice(1)).extra).toEqual([['a', 1.25]]);
  expect(difference(rows.slice(1), rows).missing).toEqual([['a', 1.25]]);
  expect(difference([['1000000000.01']], [['1000000000.02']]).extra).toHaveLength(1);
  expect(difference([[null]], [[0]]).extra).toHaveLength(1);
});
