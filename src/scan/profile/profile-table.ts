import { UserError, errorMessage } from '../../lib/error.ts';
import { type Dialect, requireStatistics, type TableRef } from '../../sql/dialect.ts';
import type { Cell, ColumnSchema, TableSchema, Warehouse } from '../../warehouse/warehouse.ts';
import type { ScanConfig } from '../config.ts';
import { familyOf, isPersonal, kindOf, type ValueKind } from './value-kinds.ts';
import type { ScanStore } from '../scan-store.ts';
import { estimateDistinct, sketchSize, type Sketch } from './sketch.ts';
import { keptValues, unkept } from './value-dictionary.ts';

export type ColumnProfile = ReturnType<typeof columnProfile>;

export interface TableProfile {
  /** Of what was read. */
  readonly rows: number;
  /** Share of the rows that was read; 1 is all. */
  readonly fraction: number;
  readonly columns: readonly ColumnProfile[];
  readonly note?: string | undefined;
  /** Nothing, or not all, was read within the time limit. */
  readonly isSlow?: boolean | undefined;
}

export interface ScanContext {
  readonly warehouse: Warehouse;
  readonly config: ScanConfig;
  readonly store: ScanStore;
  readonly signal: AbortSignal;
  /** Told before each statement. */
  readonly onQuery: () => void;
}

/** Postgres takes 100 arguments in a call. */
const columnsPerStatement = 90;
const sampledRows = 200;
const separator = '\u001F';
const nullMark = '\u001E';

/** Of a table whose profile took too long; what it shows of the values is little, and better than nothing. */
const leastShare = 0.01;

/**
 * One aggregate statement a table; several for more than 90 columns. A table that is too large is sampled, and one that takes too
 * long once more, smaller. A column that the engine cannot aggregate is left out with a note, and a table that cannot be read has
 * no rows and a note: neither fails the scan.
 */
export async function profileTable(
  table: TableSchema,
  context: ScanContext,
): Promise<TableProfile> {
  const profile = await profileWished(table, context);
  const smaller = readingOf(table, leastShare, context);
  const isTried =
    profile.isSlow !== true ||
    context.signal.aborted ||
    smaller.share >= wishedShare(table, context);
  return isTried ? profile : profileColumns(table.columns, smaller, context);
}

/** As `profileTable`, but once: one that takes too long says so. */
export function profileWished(table: TableSchema, context: ScanContext): Promise<TableProfile> {
  return profileColumns(
    table.columns,
    readingOf(table, wishedShare(table, context), context),
    context,
  );
}

function wishedShare({ rowEstimate = 0, bytes = 0 }: TableSchema, { config }: ScanContext): number {
  return Math.min(
    1,
    config.sample_rows / Math.max(1, rowEstimate),
    config.table_bytes / Math.max(1, bytes),
  );
}

function readingOf(table: TableSchema, share: number, { warehouse }: ScanContext): Reading {
  const name = tableName(table, warehouse.dialect);
  const sampled =
    share < 1 && table.kind === 'table'
      ? requireStatistics(warehouse.dialect).sample(name, share)
      : undefined;
  return { table, name, source: sampled ?? name, share: sampled === undefined ? 1 : share };
}

/** What is read of a table: all of it where `share` is 1. */
interface Reading {
  readonly table: TableSchema;
  readonly name: string;
  readonly source: string;
  readonly share: number;
}

async function profileColumns(
  columns: readonly ColumnSchema[],
  reading: Reading,
  context: ScanContext,
): Promise<TableProfile> {
  const split = async (size: number): Promise<TableProfile> => {
    const first = await profileColumns(columns.slice(0, size), reading, context);
    const rest =
      first.isSlow === true
        ? unread(columns.slice(size), first.note)
        : await profileColumns(columns.slice(size), reading, context);
    const note = first.note === undefined ? undefined : rest.note;
    return {
      ...first,
      rows: Math.max(first.rows, rest.rows),
      columns: [...first.columns, ...rest.columns],
      note,
    };
  };
  if (columns.length > columnsPerStatement) return split(columnsPerStatement);
  try {
    return await runProfile(columns, reading, context);
  } catch (error) {
    const code = error instanceof UserError ? error.code : '';
    const isUnreadable = ['query_timeout', 'warehouse_privilege', 'missing_object'].includes(code);
    if (
      context.signal.aborted ||
      (!isUnreadable && code !== 'query_failed' && code !== 'statement_too_long')
    )
      throw error;
    if (!isUnreadable && columns.length > 1) return split(Math.ceil(columns.length / 2));
    return { ...unread(columns, errorMessage(error)), isSlow: code === 'query_timeout' };
  }
}

/** What is known of columns that were not read. */
export function unread(columns: readonly ColumnSchema[], note: string | undefined): TableProfile {
  const nothing = { rows: 0, values: [], isKept: false, cell: () => null };
  return {
    rows: 0,
    fraction: 1,
    columns: columns.map((column) => ({ ...columnProfile(column, nothing), note })),
    note,
  };
}

async function runProfile(
  columns: readonly ColumnSchema[],
  reading: Reading,
  context: ScanContext,
): Promise<TableProfile> {
  const { table, name, source, share } = reading;
  const { warehouse, config, signal, onQuery } = context;
  const measured = columns.filter(isMeasured);
  const aggregates = columns.flatMap((column, index) =>
    columnAggregates(column, index, warehouse.dialect),
  );
  const sql = `SELECT ${['count(*) AS n', ...aggregates, ...firstRows(name, measured, warehouse.dialect)].join(', ')} FROM ${source}`;
  onQuery();
  const result = await warehouse.query(
    sql,
    { maxRows: 1, timeoutMs: config.table_seconds * 1000 },
    signal,
  );
  const cells = new Map(
    result.columns.map((column, index) => [column.name, result.rows[0]?.[index] ?? null]),
  );
  const rows = numberOf(cells.get('n')) ?? 0;
  const sample = jsonTexts(cells.get('s')).map((row) => row.split(separator));
  const left = new Set(unkept(table, columns, config.no_values));
  const profiles = columns.map((column, index) => {
    const position = measured.indexOf(column);
    const values = position < 0 ? [] : sample.map((row) => row[position] ?? nullMark);
    const isKept = !left.has(column.name);
    return columnProfile(column, {
      rows,
      values,
      isKept,
      cell: (prefix) => cells.get(prefix + index) ?? null,
    });
  });
  return { rows, fraction: share, columns: profiles };
}

/** The first rows as one JSON list, each row's values in one text. */
function firstRows(table: string, columns: readonly ColumnSchema[], dialect: Dialect): string[] {
  if (columns.length === 0) return [];
  const values = columns.map((column) => {
    const text = requireStatistics(dialect).text(dialect.quote(column.name), column.type);
    return `coalesce(substr(${text}, 1, 100), ${dialect.literal(nullMark)})`;
  });
  const joined = `concat_ws(${[dialect.literal(separator), ...values].join(', ')})`;
  const rows = `SELECT ${joined} AS v FROM ${table} ${dialect.limit(sampledRows, false)}`;
  return [`(SELECT ${requireStatistics(dialect).jsonList('v')} FROM (${rows}) AS first_rows) AS s`];
}

function columnAggregates(column: ColumnSchema, index: number, dialect: Dialect): string[] {
  const quoted = dialect.quote(column.name);
  const counted = `count(${quoted}) AS c${index}`;
  if (!isMeasured(column)) return [counted];
  const text = requireStatistics(dialect).text(quoted, column.type);
  const sketched = [counted, `${requireStatistics(dialect).sketch(text, sketchSize)} AS k${index}`];
  if (isNumeric(column))
    return [...sketched, `min(${quoted}) AS lo${index}`, `max(${quoted}) AS hi${index}`];
  return column.type === 'string' ? [...sketched, `max(length(${text})) AS hi${index}`] : sketched;
}

const isNumeric = ({ type }: ColumnSchema): boolean => type === 'integer' || type === 'decimal';
/** Columns whose values can be compared as text; the others are only counted. */
const isMeasured = (column: ColumnSchema): boolean =>
  isNumeric(column) || column.type === 'string' || column.type === 'date';

type ColumnCells = {
  rows: number;
  values: readonly string[];
  isKept: boolean;
  cell: (prefix: string) => Cell;
};

function columnProfile(column: ColumnSchema, { rows, values, isKept, cell }: ColumnCells) {
  const sketch: Sketch = jsonTexts(cell('k')).join('');
  const present = values.filter((value) => value !== nullMark);
  const kind = columnKind(column, present);
  const isNumber = isNumeric(column);
  return {
    name: column.name,
    kind,
    nulls: rows - (numberOf(cell('c')) ?? 0),
    /** Approximate where the sketch is not the whole set. */
    distinct: estimateDistinct(sketch),
    min: isNumber ? numberOf(cell('lo')) : undefined,
    max: isNumber ? numberOf(cell('hi')) : undefined,
    maxLength: isNumber ? undefined : numberOf(cell('hi')),
    /** The most frequent of the first rows' values that repeat; none of personal kinds. */
    top: isKept && !isPersonal(kind) ? repeated(present) : [],
    /** All of the first rows' values, of a column with few; none that may tell a person. */
    values: isKept
      ? keptValues(column, { kind, distinct: estimateDistinct(sketch), values: present })
      : [],
    /** Empty where nothing is compared with the column. */
    sketch: familyOf(column.type, kind) === undefined ? '' : sketch,
    /** Why the column has no profile. */
    note: isMeasured(column) ? undefined : `no statistics for type ${column.nativeType}`,
  };
}

function columnKind(column: ColumnSchema, values: readonly string[]): ValueKind {
  const kind = kindOf(values, column.name);
  if (column.type === 'date' || column.type === 'datetime' || column.type === 'datetime_tz')
    return 'date';
  if (isNumeric(column) && kind !== 'empty')
    return ['integer', 'card', 'phone'].includes(kind) ? 'integer' : 'number';
  return column.type === 'unknown' ? 'binary' : kind;
}

function repeated(values: readonly string[]): string[] {
  const groups = [...Map.groupBy(values, (value) => value)].filter(([, { length }]) => length > 1);
  return groups
    .sort(([a, { length: x }], [b, { length: y }]) => y - x || (a < b ? -1 : 1))
    .slice(0, 10)
    .map(([value]) => value);
}

function jsonTexts(cell: Cell | undefined): string[] {
  const list: unknown = JSON.parse(typeof cell === 'string' ? cell : '[]');
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
}

export function numberOf(cell: Cell | undefined): number | undefined {
  const value = typeof cell === 'string' ? Number(cell) : cell;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function tableName({ catalog, schema, table }: TableRef, dialect: Dialect): string {
  return [catalog, schema, table]
    .flatMap((part) => (part === undefined ? [] : [dialect.quote(part)]))
    .join('.');
}
