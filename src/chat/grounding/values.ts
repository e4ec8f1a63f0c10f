import type { Derivable, GroundingCell } from './candidates.ts';
import type { ColumnKind } from './columns.ts';

export function numberOf(cell: unknown): number | undefined {
  if (typeof cell === 'number' || typeof cell === 'bigint') return Number(cell);
  if (typeof cell !== 'string' || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(cell)) return undefined;
  return Number(cell);
}

/** A number with its place. */
export interface Located {
  readonly value: number;
  readonly cell: GroundingCell;
  readonly row: number;
  readonly kind: ColumnKind;
  /** When it was, as far as its row or its column says. */
  readonly time?: string | undefined;
}

/** The year or quarter that the name of a column has: `sales_2024`. */
export function columnTime(name: string): string | undefined {
  return /(?:19|20|21)\d\d(?:[-_]?q?\d{1,2})?/i.exec(name)?.[0];
}

export function allPairs(located: readonly Located[]): readonly (readonly [Located, Located])[] {
  return located.flatMap((a, index) => located.slice(index + 1).map((b) => [a, b] as const));
}

/** Difference, sum, ratio and growth of two numbers. */
export function comparisons(a: Located, b: Located): Derivable[] {
  const found = [
    ...(isComparable(a, b) ? [...differences(a, b), ...growths(a, b), ...yearlyGrowths(a, b)] : []),
    ...ratios(a, b),
  ];
  const [cells, operands] = [
    [a.cell, b.cell],
    [a.value, b.value],
  ];
  return found.flatMap(([value, derivation, kind]) =>
    Number.isFinite(value) ? [{ value, cells, derivation, kind, operands }] : [],
  );
}

type Computed = readonly [value: number, derivation: string, kind: ColumnKind];

function differences(
  { value: x, kind: one }: Located,
  { value: y, kind: other }: Located,
): Computed[] {
  const kind = one === other ? one : 'unknown';
  return [
    [x - y, 'a - b', kind],
    [y - x, 'b - a', kind],
    [x + y, 'a + b', kind],
  ];
}

/** From the earlier number to the later one; both ways where nothing says which is which. */
function growths({ value: x, time: one }: Located, { value: y, time: other }: Located): Computed[] {
  const toFirst: Computed = [(x - y) / y, '(a - b) / b', 'share'];
  const toSecond: Computed = [(y - x) / x, '(b - a) / a', 'share'];
  if (one === undefined || other === undefined || one === other) return [toFirst, toSecond];
  return [one < other ? toSecond : toFirst];
}

function ratios(a: Located, b: Located): Computed[] {
  return [
    [a.value / b.value, 'a / b', ratioKind(a, b)],
    [b.value / a.value, 'b / a', ratioKind(b, a)],
    ...(ratioKind(a, b) === 'share' ? complementOf(a, b) : []),
  ];
}

/** What is left of the larger one: a margin. */
function complementOf({ value: x }: Located, { value: y }: Located): Computed[] {
  const ratio = x < y ? x / y : y / x;
  return ratio > 0 && ratio < 1 ? [[1 - ratio, '1 - a / b', 'share']] : [];
}

/** The growth of each year or month between two that are not next to each other. */
function yearlyGrowths(a: Located, b: Located): Computed[] {
  if (a.value <= 0 || b.value <= 0) return [];
  const years = Number(b.time?.slice(0, 4)) - Number(a.time?.slice(0, 4));
  const [from, to] = [monthOf(a.time), monthOf(b.time)];
  const months = from === undefined || to === undefined ? 0 : to - from;
  const growth = (steps: number, unit: string): Computed[] =>
    Math.abs(steps) > 1
      ? [[(b.value / a.value) ** (1 / steps) - 1, `(b / a) ^ (1 / ${unit}) - 1`, 'share']]
      : [];
  return [...growth(years, 'years'), ...growth(months, 'months')];
}

function monthOf(time: string | undefined): number | undefined {
  const [, year, month] = /^(\d{4})-(\d{2})(?:-01|$)/.exec(time ?? '') ?? [];
  return month === undefined ? undefined : Number(year) * 12 + Number(month);
}

/** Money for a count is money; a count for money is none. Numbers of one kind have a share. */
function ratioKind(above: Located, below: Located): ColumnKind {
  if (above.kind === 'money' && below.kind === 'count') return 'money';
  if (above.kind === 'count' && below.kind === 'money') return 'count';
  if (above.kind === 'unknown' && above.cell.column !== below.cell.column) return 'unknown';
  return above.kind === below.kind ? 'share' : 'unknown';
}

/** Revenue and orders have no difference. */
function isComparable(a: Located, b: Located): boolean {
  return a.kind === b.kind || a.kind === 'unknown' || b.kind === 'unknown';
}

/** Each with each. */
export function compareAll(located: readonly Located[]): Derivable[] {
  return allPairs(located).flatMap(([a, b]) => comparisons(a, b));
}
