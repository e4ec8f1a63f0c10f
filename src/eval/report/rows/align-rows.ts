import type { MatchRule } from '../../cases/question-set-schema.ts';
import type { Cell, QueryResult } from '../../../warehouse/warehouse.ts';
import { plainName } from '../../grade/rows/column-name.ts';
import {
  type ComparableRow,
  type ComparableValue,
  type IsSameValue,
  type ResultTable,
  toComparableRows,
} from '../../grade/rows/result-table.ts';
import { columnEqualities } from '../../grade/rows/value-equality.ts';

/** Rows of each result that are put beside each other; the others are counted as not compared. */
const mostRows = 500;
/** Rows of the comparison that are listed, those that differ first. */
const mostListed = 50;
/** Characters of a cell. */
const longestCell = 200;

type ComparedCells = readonly (Cell | undefined)[];
type WarehouseRows = Pick<QueryResult, 'columns' | 'rows'>;

interface ComparedColumn {
  /** The name in the golden result; undefined for one that only the answer has. */
  readonly expected: string | undefined;
  readonly actual: string | undefined;
}

interface ComparedRow {
  readonly kind: 'same' | 'different' | 'missing' | 'superfluous';
  /** By column; undefined where the result has no such row or column. */
  readonly expected: ComparedCells | undefined;
  readonly actual: ComparedCells | undefined;
  /** By column: true where the two differ. */
  readonly differs: readonly boolean[];
}

export interface AlignedRows {
  readonly columns: readonly ComparedColumn[];
  readonly rows: readonly ComparedRow[];
  readonly counts: Readonly<Record<ComparedRow['kind'], number>>;
  /** Rows that no row of the comparison stands for. */
  readonly unlisted: number;
}

/** Which column of the answer stands beside each golden one. */
interface ColumnsBeside {
  readonly golden: number | undefined;
  readonly actual: number | undefined;
}

/**
 * The golden rows beside those of an answer, cell by cell. Columns go by their names, others by
 * their values; a row goes to the one with which it has most cells in common.
 */
export function alignRows(
  actual: WarehouseRows,
  golden: WarehouseRows,
  rule: Pick<MatchRule, 'numeric' | 'allow'>,
): AlignedRows {
  const [own, wanted] = [cut(actual), cut(golden)];
  const values = { actual: toComparableRows(own), golden: toComparableRows(wanted) };
  const isSame = openEquality(values.golden, rule);
  const pairs = pairColumns(own, wanted, { ...values, isSame });
  const rows = pairRows(pairs, { ...values, isSame }).map(([goldenRow, actualRow]) =>
    compareRow(pairs, {
      expected: goldenRow === undefined ? undefined : wanted.rows[goldenRow],
      actual: actualRow === undefined ? undefined : own.rows[actualRow],
      isEqual: ({ golden: left, actual: right }) =>
        left !== undefined &&
        right !== undefined &&
        isSame(
          values.actual[actualRow ?? -1]?.[right] ?? null,
          values.golden[goldenRow ?? -1]?.[left] ?? null,
          left,
        ),
    }),
  );
  const order = ['different', 'missing', 'superfluous', 'same'] as const;
  const listed = rows.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const countOf = (kind: ComparedRow['kind']) => rows.filter((row) => row.kind === kind).length;
  const cutAway = Math.max(golden.rows.length, actual.rows.length) - mostRows;
  return {
    columns: pairs.map((pair) => ({
      expected: pair.golden === undefined ? undefined : golden.columns[pair.golden]?.name,
      actual: pair.actual === undefined ? undefined : actual.columns[pair.actual]?.name,
    })),
    rows: listed.slice(0, mostListed),
    counts: {
      same: countOf('same'),
      different: countOf('different'),
      missing: countOf('missing'),
      superfluous: countOf('superfluous'),
    },
    unlisted: Math.max(0, rows.length - mostListed) + Math.max(0, cutAway),
  };
}

function cut({ columns, rows }: WarehouseRows): WarehouseRows {
  return { columns, rows: rows.slice(0, mostRows) };
}

/** By the golden column: how its values may be written. */
function openEquality(
  golden: readonly ComparableRow[],
  rule: Pick<MatchRule, 'numeric' | 'allow'>,
): IsSameValue {
  const known = new Map<number, readonly IsSameValue[]>();
  return (a, b, column = 0) => {
    const own =
      known.get(column) ??
      columnEqualities(
        rule,
        golden.map((row) => row[column] ?? null),
      );
    known.set(column, own);
    return own.some((isSame) => isSame(a, b));
  };
}

interface ComparedValues {
  readonly actual: readonly ComparableRow[];
  readonly golden: readonly ComparableRow[];
  readonly isSame: IsSameValue;
}

function pairColumns(
  actual: ResultTable,
  golden: ResultTable,
  values: ComparedValues,
): readonly ColumnsBeside[] {
  const free = new Set(actual.columns.keys());
  const take = (column: number | undefined): number | undefined => {
    if (column !== undefined) free.delete(column);
    return column;
  };
  const byName = golden.columns.map(({ name }) =>
    take([...free].find((own) => plainName(actual.columns[own]?.name) === plainName(name))),
  );
  const pairs = byName.map((column, index): ColumnsBeside => {
    const shared = [...free].map((own) => [own, countShared(values, index, own)] as const);
    const [best] = shared.filter(([, count]) => count > 0).toSorted((a, b) => b[1] - a[1]);
    return { golden: index, actual: column ?? take(best?.[0]) };
  });
  // What is left over on both sides is meant for each other, if it is one column each.
  const [left, ...others] = pairs.filter((pair) => pair.actual === undefined);
  const [right] = free;
  const isClear = left !== undefined && others.length === 0 && free.size === 1;
  const paired = isClear
    ? pairs.map((pair) => (pair === left ? { ...left, actual: take(right) } : pair))
    : pairs;
  return [...paired, ...[...free].map((column) => ({ golden: undefined, actual: column }))];
}

/** How many golden values of a column a column of the answer has, too. */
function countShared({ actual, golden, isSame }: ComparedValues, left: number, right: number) {
  const own = actual.map((row) => row[right] ?? null);
  return golden.filter((row) => own.some((value) => isSame(value, row[left] ?? null, left))).length;
}

type RowPair = readonly [golden: number | undefined, actual: number | undefined];

/** Most cells in common first; a pair that has nothing in common is none. */
function pairRows(pairs: readonly ColumnsBeside[], values: ComparedValues): readonly RowPair[] {
  const { actual, golden, isSame } = values;
  const both = pairs.flatMap((pair) =>
    pair.golden === undefined || pair.actual === undefined
      ? []
      : [[pair.golden, pair.actual] as const],
  );
  const weights = both.map(([left]) => weightOf(golden.map((row) => row[left] ?? null)));
  const scored = golden.flatMap((row, goldenRow) =>
    actual.flatMap((other, actualRow) => {
      const score = both.reduce((sum, [left, right], index) => {
        const isEqual = isSame(other[right] ?? null, row[left] ?? null, left);
        return sum + (isEqual ? (weights[index] ?? 0) : 0);
      }, 0);
      return score > 0 ? [{ goldenRow, actualRow, score }] : [];
    }),
  );
  const partner = new Map<number, number>();
  const taken = new Set<number>();
  for (const { goldenRow, actualRow } of scored.toSorted((a, b) => b.score - a.score)) {
    if (partner.has(goldenRow) || taken.has(actualRow)) continue;
    partner.set(goldenRow, actualRow);
    taken.add(actualRow);
  }
  const missing = [...golden.keys()].map((row): RowPair => [row, partner.get(row)]);
  const superfluous = [...actual.keys()].filter((row) => !taken.has(row));
  return [...missing, ...superfluous.map((row): RowPair => [undefined, row])];
}

/** Names tell which row is which, rather than numbers; so do values that few rows share. */
function weightOf(values: readonly ComparableValue[]): number {
  const share = new Set(values).size / Math.max(1, values.length);
  const isName = values.some((value) => typeof value === 'string');
  return (isName ? 2 : 1) + share;
}

interface RowsOfPair {
  readonly expected: readonly Cell[] | undefined;
  readonly actual: readonly Cell[] | undefined;
  readonly isEqual: (pair: ColumnsBeside) => boolean;
}

function compareRow(
  pairs: readonly ColumnsBeside[],
  { expected, actual, isEqual }: RowsOfPair,
): ComparedRow {
  const left = expected && pairs.map(({ golden }) => cellOf(expected, golden));
  const right = actual && pairs.map((pair) => cellOf(actual, pair.actual));
  if (left === undefined || right === undefined) {
    const kind = left === undefined ? 'superfluous' : 'missing';
    return { kind, expected: left, actual: right, differs: pairs.map(() => true) };
  }
  // A column that nobody asked for makes no row wrong.
  const differs = pairs.map((pair) => pair.golden !== undefined && !isEqual(pair));
  const kind = differs.includes(true) ? 'different' : 'same';
  return { kind, expected: left, actual: right, differs };
}

function cellOf(row: readonly Cell[], column: number | undefined): Cell | undefined {
  const cell = column === undefined ? undefined : row[column];
  return typeof cell === 'string' ? cell.slice(0, longestCell) : cell;
}
