import { hasPerfectMatching } from './bipartite-matching.ts';
import type { ComparableRow, ComparableValue, IsSameValue } from './result-table.ts';

/** The expected rows stand in this order among the actual ones, which may be more. */
export function isSameInOrder(
  actual: readonly ComparableRow[],
  expected: readonly ComparableRow[],
  isSame: IsSameValue,
): boolean {
  let found = 0;
  for (const row of actual) {
    const next = expected[found];
    if (next !== undefined && isSameRow(row, next, isSame)) found += 1;
  }
  return found === expected.length;
}

/** Up to this many rows, all are matched; of more rows, only those that differ after sorting. */
const maxFullMatch = 500;
/** More pairs of rows than this are not compared one by one. */
const maxComparedPairs = 250_000;
/** More differing rows than this count as unequal. */
const maxMatched = 2000;

/**
 * Compares rows as multisets. Sorting aligns equal rows; rows that tolerance puts out of line are
 * matched to each other.
 */
export function isSameMultiset(
  actual: readonly ComparableRow[],
  expected: readonly ComparableRow[],
  isSame: IsSameValue,
): boolean {
  const columns = columnsByDistinctValues(actual, expected);
  const sort = (rows: readonly ComparableRow[]) =>
    rows.toSorted((a, b) => compareRows(a, b, columns));
  const left = sort(actual);
  const right = sort(expected);
  const differing = left.flatMap((row, index) =>
    isSameRow(row, right[index] ?? [], isSame) ? [] : [index],
  );
  if (differing.length === 0) return true;
  const unmatched = left.length <= maxFullMatch ? [...left.keys()] : differing;
  if (unmatched.length > maxMatched) return false;
  const candidates = unmatched.map((index) => right[index] ?? []);
  const choices = unmatched.map((index) =>
    candidates.flatMap((candidate, position) =>
      isSameRow(left[index] ?? [], candidate, isSame) ? [position] : [],
    ),
  );
  return choices.every(({ length }) => length > 0) && hasPerfectMatching(choices);
}

/** True if there are more pairs of rows than `isIncluded` can compare. */
export function areTooMany(
  actual: { readonly length: number },
  expected: { readonly length: number },
): boolean {
  return actual.length * expected.length > maxComparedPairs;
}

/** Every expected row has a row of its own among the actual ones, which may be more. */
export function isIncluded(
  actual: readonly ComparableRow[],
  expected: readonly ComparableRow[],
  isSame: IsSameValue,
): boolean {
  const choices = expected.map((row) =>
    actual.flatMap((candidate, position) => (isSameRow(candidate, row, isSame) ? [position] : [])),
  );
  return choices.every(({ length }) => length > 0) && hasPerfectMatching(choices);
}

function isSameRow(a: ComparableRow, b: ComparableRow, isSame: IsSameValue): boolean {
  return a.every((value, index) => isSame(value, b[index] ?? null, index));
}

/**
 * Columns with many distinct values first: sorting by a rounded number would order rows that tie by
 * chance.
 */
function columnsByDistinctValues(
  actual: readonly ComparableRow[],
  expected: readonly ComparableRow[],
): readonly number[] {
  const countDistinct = (rows: readonly ComparableRow[], index: number): number =>
    new Set(rows.map((row) => row[index])).size;
  const counts = (expected[0] ?? []).map((_, index) =>
    Math.min(countDistinct(actual, index), countDistinct(expected, index)),
  );
  return [...counts.keys()].sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
}

function compareRows(a: ComparableRow, b: ComparableRow, columns: readonly number[]): number {
  for (const index of columns) {
    const order = compareValues(a[index] ?? null, b[index] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** NULL before numbers, numbers before texts. */
function compareValues(a: ComparableValue, b: ComparableValue): number {
  if (a === b) return 0;
  const rank = (value: ComparableValue): number =>
    value === null ? 0 : typeof value === 'number' ? 1 : 2;
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return (a ?? 0) < (b ?? 0) ? -1 : 1;
}
