import type { MatchRule } from '../../cases/question-set-schema.ts';
import { hasPerfectMatching } from './bipartite-matching.ts';
import { plainName } from './column-name.ts';
import { areTooMany, isIncluded, isSameInOrder, isSameMultiset } from './compare-rows.ts';
import { unpivoted } from './pivot.ts';
import {
  type ComparableRow,
  type IsSameValue,
  type ResultTable,
  toComparableRows,
} from './result-table.ts';
import { columnEqualities } from './value-equality.ts';

/**
 * Limits for results in which many columns hold the same values: assignments that are compared, and
 * steps of the search.
 */
const maxAssignments = 500;
const maxSteps = 100_000;

/**
 * Why `actual` is not the golden result; undefined if it is. Rows are compared as multisets, or in
 * order if the rule says so; numbers within the tolerance. Because several columns may hold the
 * same values, assignments of actual to golden columns are tried until all rows agree.
 */
export function rowDifference(
  actual: ResultTable,
  golden: ResultTable,
  rule: MatchRule,
): string | undefined {
  const difference = differenceOf(actual, golden, rule);
  if (difference === undefined || !rule.allow.includes('pivot')) return difference;
  const byValue: MatchRule = { ...rule, columns: 'by_value' };
  const isPivoted =
    unpivoted(actual, golden).some((long) => differenceOf(long, golden, byValue) === undefined) ||
    unpivoted(golden, actual).some((long) => differenceOf(actual, long, byValue) === undefined);
  return isPivoted ? undefined : difference;
}

/** Too many or too few rows or columns, by the rule. */
function differenceOfSize(
  { rows, columns }: ResultTable,
  golden: ResultTable,
  { extra_rows: extraRows, extra_columns: extraColumns }: MatchRule,
): string | undefined {
  const isMore = rows.length > golden.rows.length && extraRows !== 'refuse';
  if (golden.rows.length !== rows.length && !isMore)
    return `${rows.length} rows instead of ${golden.rows.length}`;
  if (extraColumns === 'refuse' && columns.length > golden.columns.length)
    return `${columns.length} columns instead of ${golden.columns.length}`;
  return isMore && extraRows === 'allow' && areTooMany(rows, golden.rows)
    ? `${rows.length} rows are too many to look for the ${golden.rows.length} golden ones`
    : undefined;
}

function differenceOf(
  given: ResultTable,
  golden: ResultTable,
  rule: MatchRule,
): string | undefined {
  const difference = differenceOfSize(given, golden, rule);
  if (difference !== undefined) return difference;
  const isCut = rule.extra_rows === 'after';
  const actual = isCut ? { ...given, rows: given.rows.slice(0, golden.rows.length) } : given;
  const matchBy = hasAllNames(actual, golden) ? 'by_name' : rule.columns;
  const comparison = compareColumns(
    {
      actual: toComparableRows(actual),
      golden: toComparableRows(golden),
      isEqual: actual.rows.length > golden.rows.length ? isIncluded : isSameMultiset,
    },
    rule,
  );
  const candidates = golden.columns.map((_, index) =>
    columnsToTry(actual, golden, { index, matchBy }).filter(
      (column) => comparison.equalityOf(index, column) !== undefined,
    ),
  );
  const missing = candidates.findIndex((columns) => columns.length === 0);
  if (missing !== -1) {
    const name = golden.columns[missing]?.name ?? '';
    return matchBy === 'by_name'
      ? `no column ${name}, or other values in it`
      : `no column with the values of ${name}`;
  }
  if (!hasPerfectMatching(candidates))
    return 'fewer columns with the same values than the golden result has';
  return differenceOfRows(comparison, {
    candidates,
    firstTwins: firstTwins(comparison.actual, actual.columns.length),
    keepsOrder: rule.order === 'keep',
  });
}

/** A result that has a column of every golden name says itself which column is which. */
function hasAllNames(actual: ResultTable, golden: ResultTable): boolean {
  const [own, wanted] = [namesOf(actual), namesOf(golden)];
  return new Set(wanted).size === wanted.length && wanted.every((name) => own.includes(name));
}

function namesOf({ columns }: ResultTable): readonly string[] {
  return columns.map(({ name }) => plainName(name));
}

interface RowsToCompare {
  readonly actual: readonly ComparableRow[];
  readonly golden: readonly ComparableRow[];
  /** Whether columns or rows are the golden ones, in any order. */
  readonly isEqual: typeof isSameMultiset;
}

interface ColumnComparison extends RowsToCompare {
  /** How the values of a golden column are written in an actual one; undefined if they are not. */
  readonly equalityOf: (golden: number, actual: number) => IsSameValue | undefined;
}

function compareColumns(rows: RowsToCompare, rule: MatchRule): ColumnComparison {
  const known = new Map<string, IsSameValue | undefined>();
  const equalityOf = (index: number, column: number): IsSameValue | undefined => {
    const key = `${index} ${column}`;
    if (!known.has(key)) {
      const [given, wanted] = [
        pickColumns(rows.actual, [column]),
        pickColumns(rows.golden, [index]),
      ];
      const equalities = columnEqualities(
        rule,
        rows.golden.map((row) => row[index] ?? null),
      );
      known.set(
        key,
        equalities.find((isSame) => rows.isEqual(given, wanted, isSame)),
      );
    }
    return known.get(key);
  };
  return { ...rows, equalityOf };
}

/** Names that say so little that they may stand for another column. */
const vagueNames: ReadonlySet<string> = new Set(['id', 'name', 'value', 'count', 'total', 'n']);

/**
 * Indexes of the actual columns that may stand for a golden column. One that has the name of
 * another golden column is that one.
 */
function columnsToTry(
  actual: ResultTable,
  golden: ResultTable,
  { index, matchBy }: { readonly index: number; readonly matchBy: MatchRule['columns'] },
): readonly number[] {
  const wanted = namesOf(golden);
  const own = wanted[index];
  const others = wanted.filter((name) => name !== own && !vagueNames.has(name));
  const isCandidate = (name: string) =>
    matchBy === 'by_value' ? !others.includes(name) : name === own;
  return namesOf(actual).flatMap((name, column) => (isCandidate(name) ? [column] : []));
}

function pickColumns(
  rows: readonly ComparableRow[],
  columns: readonly number[],
): readonly ComparableRow[] {
  return rows.map((row) => columns.map((column) => row[column] ?? null));
}

interface ColumnSearch {
  /** For each golden column, the actual columns with the same values. */
  readonly candidates: readonly (readonly number[])[];
  /** For each actual column, the first one that is equal in every row: any of them will do. */
  readonly firstTwins: readonly number[];
}

function firstTwins(rows: readonly ComparableRow[], width: number): readonly number[] {
  const isTwin = (a: number, b: number): boolean => rows.every((row) => row[a] === row[b]);
  const twins: number[] = [];
  for (let column = 0; column < width; column += 1)
    twins.push(twins.find((first) => isTwin(first, column)) ?? column);
  return twins;
}

/** The difference of the rows as a whole, when every golden column has candidates. */
function differenceOfRows(
  { actual, golden, equalityOf, isEqual: isEqualInAnyOrder }: ColumnComparison,
  { keepsOrder, ...search }: ColumnSearch & { readonly keepsOrder: boolean },
): string | undefined {
  const isEqual = keepsOrder ? isSameInOrder : isEqualInAnyOrder;
  const sameIn = (columns: readonly number[]): IsSameValue => {
    const own = columns.map((column, index) => equalityOf(index, column));
    return (a, b, index = 0) => own[index]?.(a, b) ?? false;
  };
  let tried = 0;
  for (const columns of columnAssignments(search, { steps: maxSteps })) {
    if (isEqual(pickColumns(actual, columns), golden, sameIn(columns))) return undefined;
    if ((tried += 1) >= maxAssignments) break;
  }
  const [columns = []] = columnAssignments(search, { steps: maxSteps });
  const isOnlyOrder =
    keepsOrder && isEqualInAnyOrder(pickColumns(actual, columns), golden, sameIn(columns));
  return isOnlyOrder
    ? 'the right rows in another order'
    : 'the columns hold the right values, the rows do not';
}

/**
 * Every way to give each golden column a candidate of its own. Ways that differ only by twins are
 * given once.
 */
function* columnAssignments(
  search: ColumnSearch,
  budget: { steps: number },
  taken: readonly number[] = [],
): Generator<readonly number[]> {
  const candidates = search.candidates[taken.length];
  if (candidates === undefined) {
    yield taken;
    return;
  }
  const triedTwins = new Set<number>();
  for (const column of candidates) {
    const twin = search.firstTwins[column] ?? column;
    if (taken.includes(column) || triedTwins.has(twin)) continue;
    triedTwins.add(twin);
    if ((budget.steps -= 1) < 0) return;
    yield* columnAssignments(search, budget, [...taken, column]);
  }
}

/** How many rows of each result the search for an example reads. */
const maxExampleRows = 200;

/** An example: a golden row that is missing, and the actual row with the most values in common. */
export function nearestRow(actual: ResultTable, golden: ResultTable, rule: MatchRule): string {
  const values = toComparableRows(golden).flat();
  const equalities = columnEqualities(rule, values);
  const isSame: IsSameValue = (a, b) => equalities.some((isEqual) => isEqual(a, b));
  const actualRows = toComparableRows(actual).slice(0, maxExampleRows);
  const goldenRows = toComparableRows(golden).slice(0, maxExampleRows);
  const countShared = (row: ComparableRow, other: ComparableRow): number =>
    row.filter((value) => other.some((candidate) => isSame(candidate, value))).length;
  const isMissing = (row: ComparableRow) =>
    !actualRows.some((candidate) => countShared(row, candidate) === row.length);
  const missing = Math.max(0, goldenRows.findIndex(isMissing));
  const shared = actualRows.map((row) => countShared(goldenRows[missing] ?? [], row));
  const nearest = actual.rows[shared.indexOf(Math.max(...shared))];
  return `golden has ${rowText(golden.rows[missing])}, the nearest row is ${rowText(nearest)}`;
}

function rowText(row: readonly unknown[] | undefined): string {
  return row === undefined ? 'none' : JSON.stringify(row).slice(0, 200);
}
