import { UserError, messageOf } from '../lib/error.ts';
import type { Dialect, TableRef } from '../sql/dialect.ts';
import type { Cell, ColumnSchema, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import { isPersonal, kindOf, type ValueKind } from './kinds.ts';
import { distinctOf, sketchSize, type Sketch } from './sketch.ts';

export interface ColumnProfile {
  readonly name: string;
  readonly kind: ValueKind;
  readonly nulls: number;
  /** Approximate where `distinctExact` is false. */
  readonly distinct: number;
  readonly distinctExact: boolean;
  /** Of numbers. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** Of text. */
  readonly maxLength?: number | undefined;
  /** The most frequent of the first rows' values that repeat; none of personal kinds. */
  readonly top: readonly string[];
  readonly sketch: Sketch;
  /** Why the column has no profile. */
  readonly note?: string | undefined;
}

export interface TableProfile {
  /** Of what was read. */
  readonly rows: number;
  /** Share of the rows that was read; 1 is all. */
  readonly fraction: number;
  readonly columns: readonly ColumnProfile[];
  readonly note?: string | undefined;
}

export interface ProfileContext {
  readonly warehouse: Warehouse;
  readonly config: ScanConfig;
  readonly signal: AbortSignal;
  /** Told before each statement. */
  readonly onQuery: () => void;
}

/** Postgres takes 100 arguments in a call. */
const columnsPerStatement = 90;
const sampledRows = 200;
const separator = '\u001F';
const nullMark = '\u001E';

/**
 * One aggregate statement a table; several for more than 90 columns. A column that the engine cannot aggregate is left out
 * with a note, and a table that cannot be read has no rows and a note: neither fails the scan.
 */
export function profileTable(table: TableSchema, context: ProfileContext): Promise<TableProfile> {
  return profileColumns(table, table.columns, context);
}

async function profileColumns(table: TableSchema, columns: readonly ColumnSchema[], context: ProfileContext): Promise<TableProfile> {
  const split = async (size: number): Promise<TableProfile> => {
    const first = await profileColumns(table, columns.slice(0, size), context);
    const rest = await profileColumns(table, columns.slice(size), context);
    const note = first.note === undefined ? undefined : rest.note;
    return { ...first, rows: Math.max(first.rows, rest.rows), columns: [...first.columns, ...rest.columns], note };
  };
  if (columns.length > columnsPerStatement) return split(columnsPerStatement);
  try {
    return await runProfile(table, columns, context);
  } catch (error) {
    const code = error instanceof UserError ? error.code : '';
    const unread = ['query_timeout', 'warehouse_privilege', 'missing_object'].includes(code);
    if (context.signal.aborted || (!unread && code !== 'query_failed' && code !== 'statement_too_long')) throw error;
    return unread || columns.length <= 1 ? unreadable(columns, messageOf(error)) : split(Math.ceil(columns.length / 2));
  }
}

function unreadable(columns: readonly ColumnSchema[], note: string): TableProfile {
  const nothing = { kind: 'empty', nulls: 0, distinct: 0, distinctExact: false, top: [], sketch: [], note } as const;
  return { rows: 0, fraction: 1, columns: columns.map(({ name }) => ({ name, ...nothing })), note };
}

async function runProfile(table: TableSchema, columns: readonly ColumnSchema[], context: ProfileContext): Promise<TableProfile> {
  const { warehouse, config, signal, onQuery } = context;
  const name = tableName(table, warehouse.dialect);
  const share = config.sample_rows / Math.max(1, table.rowEstimate ?? 0);
  const sampled = share < 1 && table.kind === 'table' ? warehouse.dialect.statistics.sample(name, share) : undefined;
  const measured = columns.filter(isMeasured);
  const aggregates = columns.flatMap((column, index) => columnAggregates(column, index, warehouse.dialect));
  const sql = `SELECT ${['count(*) AS n', ...aggregates, ...firstRows(name, measured, warehouse.dialect)].join(', ')} FROM ${sampled ?? name}`;
  onQuery();
  const result = await warehouse.query(sql, { maxRows: 1, timeoutMs: config.table_seconds * 1000 }, signal);
  const cells = new Map(result.columns.map((column, index) => [column.name, result.rows[0]?.[index] ?? null]));
  const rows = numberOf(cells.get('n')) ?? 0;
  const sample = jsonTexts(cells.get('s')).map((row) => row.split(separator));
  const profiles = columns.map((column, index) => {
    const position = measured.indexOf(column);
    const values = position < 0 ? [] : sample.map((row) => row[position] ?? nullMark);
    return columnProfile(column, { rows, values, cell: (prefix) => cells.get(prefix + index) ?? null });
  });
  return { rows, fraction: sampled === undefined ? 1 : share, columns: profiles };
}

/** The first rows as one JSON list, each row's values in one text. */
function firstRows(table: string, columns: readonly ColumnSchema[], dialect: Dialect): string[] {
  if (columns.length === 0) return [];
  const values = columns.map((column) => {
    const text = dialect.statistics.text(dialect.quote(column.name), column.type);
    return `coalesce(substr(${text}, 1, 100), ${dialect.literal(nullMark)})`;
  });
  const joined = `concat_ws(${[dialect.literal(separator), ...values].join(', ')})`;
  const rows = `SELECT ${joined} AS v FROM ${table} ${dialect.limit(sampledRows)}`;
  return [`(SELECT ${dialect.statistics.jsonList('v')} FROM (${rows}) AS first_rows) AS s`];
}

function columnAggregates(column: ColumnSchema, index: number, dialect: Dialect): string[] {
  const quoted = dialect.quote(column.name);
  const counted = `count(${quoted}) AS c${index}`;
  if (!isMeasured(column)) return [counted];
  const text = dialect.statistics.text(quoted, column.type);
  const sketched = [counted, `${dialect.statistics.sketch(text, sketchSize)} AS k${index}`];
  if (isNumeric(column)) return [...sketched, `min(${quoted}) AS lo${index}`, `max(${quoted}) AS hi${index}`];
  return column.type === 'string' ? [...sketched, `max(length(${text})) AS hi${index}`] : sketched;
}

const isNumeric = ({ type }: ColumnSchema): boolean => type === 'integer' || type === 'decimal';
/** Columns whose values can be compared as text; the others are only counted. */
const isMeasured = (column: ColumnSchema): boolean => isNumeric(column) || column.type === 'string' || column.type === 'date';

interface ColumnCells {
  readonly rows: number;
  readonly values: readonly string[];
  readonly cell: (prefix: string) => Cell;
}

function columnProfile(column: ColumnSchema, { rows, values, cell }: ColumnCells): ColumnProfile {
  const sketch = jsonTexts(cell('k'));
  const present = values.filter((value) => value !== nullMark);
  const kind = columnKind(column, present);
  const { distinct, exact } = distinctOf(sketch);
  const high = numberOf(cell('hi'));
  return {
    name: column.name,
    kind,
    nulls: rows - (numberOf(cell('c')) ?? 0),
    distinct,
    distinctExact: exact,
    ...(isNumeric(column) ? { min: numberOf(cell('lo')), max: high } : { maxLength: high }),
    top: isPersonal(kind) ? [] : repeated(present),
    sketch,
    note: isMeasured(column) ? undefined : `no statistics for type ${column.nativeType}`,
  };
}

function columnKind(column: ColumnSchema, values: readonly string[]): ValueKind {
  const kind = kindOf(values, column.name);
  if (column.type === 'date' || column.type === 'datetime' || column.type === 'datetime_tz') return 'date';
  if (isNumeric(column) && kind !== 'empty') return ['integer', 'card', 'phone'].includes(kind) ? 'integer' : 'number';
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
  return [catalog, schema, table].flatMap((part) => (part === undefined ? [] : [dialect.quote(part)])).join('.');
}
