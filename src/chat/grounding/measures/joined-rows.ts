import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { GroundingCell } from '../candidates.ts';
import { type ColumnKind, columnKinds, isLabel } from '../columns.ts';
import { numberOf } from '../values.ts';

/** A column of numbers of joined rows. */
interface JoinedColumn {
  readonly query: string;
  readonly name: string;
  readonly kind: ColumnKind;
  /** By the place of the row; undefined where it has none. */
  readonly values: readonly (number | undefined)[];
  /** By the place of the row: the row of the query. */
  readonly rows: readonly number[];
}

/** The rows of one or several results that have the same names, with all their numbers. */
export interface NamesakeRows {
  readonly columns: readonly JoinedColumn[];
  /** The result whose names the rows have. */
  readonly query: QueryEvidence;
  readonly size: number;
  readonly isTruncated: boolean;
  /** The row that adds up all others; undefined if none does. */
  readonly total: number | undefined;
}

/** Rows and columns, beyond which chance would explain any number. */
const mostRows = 40;
const mostColumns = 8;

/** The results with numbers, those with the same names as one. */
export function joinRows(evidence: readonly QueryEvidence[]): readonly NamesakeRows[] {
  const known = evidence.filter(({ rows }) => rows.length > 0 && rows.length <= mostRows);
  const groups = [...Map.groupBy(known, namesOf).values()];
  return groups.flatMap((queries): NamesakeRows[] => {
    const [query] = queries;
    if (query === undefined) return [];
    const columns = queries.flatMap((own) => columnsOf(own, query));
    const isTruncated = queries.some(({ truncated }) => truncated);
    if (columns.length === 0 || columns.length > mostColumns) return [];
    const size = query.rows.length;
    return [{ columns, query, size, isTruncated, total: totalRow(columns, size) }];
  });
}

/**
 * The first or the last row may be what `GROUPING SETS` and `ROLLUP` add: the sum of the others.
 */
function totalRow(columns: readonly JoinedColumn[], size: number): number | undefined {
  const additive = columns.filter(({ kind }) => kind !== 'share');
  if (size < 3 || additive.length === 0) return undefined;
  return [size - 1, 0].find((row) =>
    additive.every(({ values }) => {
      const total = values[row] ?? Number.NaN;
      const others = values.reduce<number>((sum, value) => sum + (value ?? 0), 0) - total;
      return total !== 0 && Math.abs(others - total) <= Math.abs(total) * 1e-9;
    }),
  );
}

/** Results of one row need no names to be joined. */
function namesOf(query: QueryEvidence): string {
  if (query.rows.length === 1) return '';
  const names = query.rows.map(nameOf);
  const areDistinct = new Set(names).size === names.length && !names.includes(undefined);
  return areDistinct
    ? JSON.stringify(names.toSorted((a = '', b = '') => (a < b ? -1 : 1)))
    : query.id;
}

function nameOf(row: readonly unknown[]): string | undefined {
  return row.find(
    (cell): cell is string => typeof cell === 'string' && numberOf(cell) === undefined,
  );
}

function columnsOf(own: QueryEvidence, first: QueryEvidence): readonly JoinedColumn[] {
  const kinds = columnKinds(own);
  const isSame = own === first || first.rows.length === 1;
  const rows = first.rows.map((row, index) =>
    isSame ? index : own.rows.findIndex((candidate) => nameOf(candidate) === nameOf(row)),
  );
  return own.columns.flatMap(({ name }, index): JoinedColumn[] => {
    const kind = kinds[index] ?? 'unknown';
    const values = rows.map((row) => numberOf(own.rows[row]?.[index]));
    const isEmpty = values.every((value) => value === undefined);
    return isLabel(kind) || isEmpty ? [] : [{ query: own.id, name, kind, values, rows }];
  });
}

/** Some of joined rows, added up: one, several, all. */
export interface RowSet {
  /** Places of rows. */
  readonly rows: readonly number[];
  /** What the sum is divided by; undefined for the sum. */
  readonly mean?: number | undefined;
}

/** What a set of rows has, or what two of its columns give. */
export interface RowMeasure {
  /** The columns, for what measures are compared with. */
  readonly key: string;
  readonly columns: readonly JoinedColumn[];
  readonly derivation: string | undefined;
  readonly kind: ColumnKind;
  readonly compute: (values: readonly number[]) => number;
}

/** All measures of joined rows: each column, and ratios, differences and changes of two. */
export function measuresOf({ columns }: NamesakeRows): readonly RowMeasure[] {
  const single = columns.map((column): RowMeasure => {
    const { kind } = column;
    const compute = ([a = Number.NaN]: readonly number[]) => a;
    return { key: keyOf([column]), columns: [column], derivation: undefined, kind, compute };
  });
  const pairs = columns.flatMap((a) => columns.flatMap((b) => (a === b ? [] : ofPair(a, b))));
  return [...single, ...pairs];
}

function ofPair(a: JoinedColumn, b: JoinedColumn): readonly RowMeasure[] {
  if (a.kind === 'share' || b.kind === 'share') return [];
  const areAlike = a.kind === b.kind || a.kind === 'unknown' || b.kind === 'unknown';
  const measure = (
    derivation: string,
    kind: ColumnKind,
    compute: (x: number, y: number) => number,
  ): RowMeasure => ({
    key: keyOf([a, b]),
    columns: [a, b],
    derivation,
    kind,
    compute: ([x = Number.NaN, y = Number.NaN]) => compute(x, y),
  });
  // Where no name tells what a column is, a ratio may be a share or not.
  const areOfOneKind = a.kind === b.kind && a.kind !== 'unknown';
  const ratio = measure('a / b', areOfOneKind ? 'share' : 'unknown', (x, y) => x / y);
  if (!areAlike) return [ratio];
  return [
    ratio,
    measure('a - b', a.kind, (x, y) => x - y),
    measure('(a - b) / b', 'share', (x, y) => (x - y) / y),
    measure('1 - a / b', 'share', (x, y) => 1 - x / y),
  ];
}

function keyOf(columns: readonly Pick<JoinedColumn, 'query' | 'name'>[]): string {
  return columns
    .map(({ query, name }) => `${query} ${name}`)
    .toSorted()
    .join(' / ');
}

/** How two columns give a measure, without saying which comes first. */
export function formOf(derivation: string): string {
  if (/^\([ab] - [ab]\) \/ [ab]/.test(derivation)) return 'change';
  if (derivation.startsWith('1 - ')) return 'rest';
  if (/^(?:[ab] - [ab]|difference)/.test(derivation)) return 'difference';
  return /^[ab] \/ [ab]/.test(derivation) ? 'ratio' : '';
}

/** The measure that a claim tells by its cells; undefined for those of no columns. */
export function measureOf(cells: readonly GroundingCell[], derivation: string): string | undefined {
  const columns = cells.flatMap(({ query, column }) =>
    column === undefined ? [] : [{ query, name: column }],
  );
  const keys = [...new Set(columns.map((column) => keyOf([column])))];
  if (keys.length === 0 || keys.length > 2) return undefined;
  const form = keys.length === 1 ? '' : formOf(derivation);
  return `${keys.toSorted().join(' / ')} ${form}`;
}

/** What a measure is of a set of rows; undefined where a row has no number. */
export function valueOf(measure: RowMeasure, { rows, mean = 1 }: RowSet): number | undefined {
  const sums = measure.columns.map(({ values, kind }) => {
    const own = rows.map((row) => values[row]);
    // Shares of several rows do not add up.
    if (own.includes(undefined) || (kind === 'share' && rows.length > 1)) return undefined;
    return own.reduce<number>((sum, value) => sum + (value ?? 0), 0) / mean;
  });
  const known = sums.flatMap((sum) => sum ?? []);
  const value = known.length < sums.length ? undefined : measure.compute(known);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The cells that a measure of a set of rows rests on. */
export function cellsOf({ columns }: RowMeasure, { rows }: RowSet): readonly GroundingCell[] {
  return columns.flatMap(({ query, name, rows: places }) =>
    rows.slice(0, 5).map((row) => ({ query, row: places[row], column: name })),
  );
}
