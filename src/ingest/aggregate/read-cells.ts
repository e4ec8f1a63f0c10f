import { qualifiedTableName } from '../../scan/profile/profile-statement.ts';
import { looksPersonal } from '../../scan/personal/personal-value.ts';
import type { Dialect } from '../../sql/dialect.ts';
import { UserError } from '../../lib/error.ts';
import { numberFromCell } from '../../scan/profile/column-profile.ts';
import type { Cell, Warehouse } from '../../warehouse/warehouse.ts';
import { refusal } from '../extract/proposals/resolve-names.ts';
import { type AggregateCell, uniteCells } from './disclose.ts';
import type { AggregatableColumn, AggregateTable } from './table-columns.ts';

/** The columns of one request. */
export interface CellColumns {
  readonly groups: readonly AggregatableColumn[];
  readonly measures: readonly AggregatableColumn[];
  readonly distinct: readonly AggregatableColumn[];
}

export interface CellReader {
  readonly warehouse: Warehouse;
  /** Throws if row rules hide rows that the statement reads. */
  readonly check: (warehouse: Warehouse, sql: string) => Promise<void>;
  readonly signal: AbortSignal;
}

const maxCells = 2000;
const otherValues = '(other values)';

/** Reads the cells of a table, and the numbers of distinct values of all its rows. */
export async function readCells(
  { table }: AggregateTable,
  columns: CellColumns,
  { warehouse, check, signal }: CellReader,
): Promise<{ readonly cells: readonly AggregateCell[]; readonly distinct: readonly number[] }> {
  const sql = cellsStatement(
    qualifiedTableName(table, warehouse.dialect),
    columns,
    warehouse.dialect,
  );
  await check(warehouse, sql);
  const limits = { maxRows: maxCells, timeoutMs: 30_000 };
  const { rows, truncated } = await warehouse
    .query(sql, limits, signal)
    .catch(withoutMessage(signal));
  if (truncated) throw refusal('It has too many groups. Group by fewer fields.');
  const read = rows.map((row) => readCell(row, columns));
  const byKey = Map.groupBy(read, ({ key }) => JSON.stringify(key));
  return {
    cells: [...byKey.values()].map((same) => uniteCells(same[0]?.key ?? [], same)),
    distinct: columns.distinct.map(
      (_, index) => numberFromCell(rows[0]?.at(index - columns.distinct.length)) ?? 0,
    ),
  };
}

/**
 * Messages of an engine may quote values, and how it fails may tell something about them: the model
 * learns only that it failed.
 */
function withoutMessage(signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    throw refusal('The warehouse could not compute it. Decide with what is known.');
  };
}

function cellsStatement(from: string, columns: CellColumns, dialect: Dialect): string {
  const quote = ({ name }: AggregatableColumn) => dialect.quote(name);
  const groups = columns.groups.map(quote);
  const measures = columns.measures.flatMap((column) => {
    const name = quote(column);
    const sizes = column.isMeasure
      ? [`sum(${name})`, `sum(abs(${name}))`, `max(abs(${name}))`]
      : ['0', '0', '0'];
    return [`count(${name})`, ...sizes];
  });
  const distinct = columns.distinct.map((column) => `count(DISTINCT ${quote(column)})`);
  const selected = [...groups, 'count(*)', ...measures, ...distinct];
  const named = selected.map((expression, index) => `${expression} AS x${index}`);
  const grouping = groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`;
  return `SELECT ${named.join(', ')} FROM ${from}${grouping}`;
}

function readCell(row: readonly Cell[], { groups, measures }: CellColumns): AggregateCell {
  const number = (index: number) => numberFromCell(row[index]) ?? 0;
  const firstMeasure = groups.length + 1;
  return {
    key: groups.map((column, index) => groupName(column, row[index] ?? null)),
    rows: number(groups.length),
    measures: measures.map((_, index) => {
      const at = firstMeasure + 4 * index;
      return {
        present: number(at),
        sum: number(at + 1),
        sumOfSizes: number(at + 2),
        greatestSize: number(at + 3),
      };
    }),
  };
}

/** The value that names a group. One that must not be named joins the group of all such values. */
function groupName({ groups }: AggregatableColumn, cell: Cell): string | null {
  if (cell === null) return null;
  const name = String(cell);
  const isKnown = groups === 'any' ? !looksPersonal(name) : groups?.has(name) === true;
  return isKnown ? name : otherValues;
}
