import { namedRows } from '../context.ts';
import type { NamesakeRows, RowSet } from './joined-rows.ts';

/** The sets of rows that a statement may be about. */
export interface RowSets {
  /**
   * The rows that it names; those of the statement before, or of the question, if it names none.
   */
  readonly singles: readonly RowSet[];
  /** Those of them that the number belongs to, by its place among the names. */
  readonly nearest: readonly RowSet[];
  /**
   * Rows that are named or were added up together, the first and last in rank, and their rests.
   */
  readonly groups: readonly RowSet[];
  /** All rows; undefined where the result was cut off. */
  readonly whole: RowSet | undefined;
}

interface AroundStatement {
  readonly text: string;
  /** The statement before. */
  readonly before: string;
  readonly question: string;
  /** What the answer has added up before. */
  readonly sums: readonly number[];
  /** The small numbers of the statement: so many rows come first or last. */
  readonly counts: readonly number[];
  readonly isNear: (query: string, row: number | undefined) => boolean;
}

/** A statement that names more rows is of all of them. */
const mostSingles = 4;

export function rowSetsOf(joined: NamesakeRows, around: AroundStatement): RowSets {
  const { query, size, isTruncated, total } = joined;
  const all = [...Array(size).keys()].filter((row) => row !== total);
  const whole = isTruncated ? undefined : { rows: all };
  if (size === 1) {
    const only = [{ rows: all }];
    return { singles: only, nearest: only, groups: [], whole: undefined };
  }
  const [own = [], before = [], asked = []] = [around.text, around.before, around.question].map(
    (text) => [...(namedRows(query, text) ?? [])],
  );
  const named = own.length > 0 ? nextTo(own, before, asked) : before.length > 0 ? before : asked;
  const sums = around.sums.flatMap((sum) => rowsOfSum(joined, sum));
  const ranked = around.counts.flatMap((count) => endsOf(joined, count));
  const together = [own, ...sums, ...ranked].filter(({ length }) => length > 1 && length < size);
  const groups = [...together, ...[own, ...sums].map((rows) => restOf(rows, all))];
  const singles = named.length > mostSingles ? [] : named.map((row) => ({ rows: [row] }));
  return {
    singles,
    nearest: singles.filter(({ rows: [row] }) => around.isNear(query.id, row)),
    groups: groups.filter(({ length }) => length > 1).map((rows) => ({ rows })),
    whole,
  };
}

/**
 * What is compared with the only row that a statement names was named before, or was asked for.
 */
function nextTo(
  own: readonly number[],
  before: readonly number[],
  asked: readonly number[],
): readonly number[] {
  const others = (before.length === 1 ? before : asked).filter((row) => !own.includes(row));
  return own.length === 1 && others.length === 1 ? [...own, ...others] : own;
}

/** All rows but the named ones. */
function restOf(rows: readonly number[], all: readonly number[]): readonly number[] {
  return rows.length === 0 ? [] : all.filter((row) => !rows.includes(row));
}

/** So many rows with the largest and with the smallest numbers of the first column. */
function endsOf({ columns: [column], size }: NamesakeRows, count: number) {
  if (column === undefined || count < 2 || count >= size) return [];
  const ranked = [...Array(size).keys()].toSorted(
    (a, b) => (column.values[b] ?? 0) - (column.values[a] ?? 0),
  );
  return [ranked.slice(0, count), ranked.slice(-count)];
}

/** Of more rows, the sum of some equals nearly any number. */
const mostSummed = 12;

/** Two or three rows of which a column adds up to a sum. */
function rowsOfSum({ columns, size }: NamesakeRows, sum: number): readonly (readonly number[])[] {
  if (size > mostSummed) return [];
  const rows = [...Array(size).keys()];
  const pairs = rows.flatMap((a) => rows.slice(a + 1).map((b) => [a, b]));
  const triples = pairs.flatMap((pair) => rows.slice((pair[1] ?? 0) + 1).map((c) => [...pair, c]));
  return [...pairs, ...triples].filter((own) =>
    columns.some(({ values }) => {
      const total = own.reduce((part, row) => part + (values[row] ?? Number.NaN), 0);
      return Math.abs(total - sum) <= Math.abs(sum) * 1e-9;
    }),
  );
}
