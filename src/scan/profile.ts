import { UserError, messageOf } from '../lib/error.ts';
import type { Dialect } from '../sql/dialect.ts';
import type { Cell, ColumnSchema, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import { isPersonal, kindOf, masked, type ValueKind } from './kinds.ts';
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
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** Most frequent values of the first rows, with their share; personal kinds masked. */
  readonly top: readonly (readonly [string, number])[];
  readonly sketch: Sketch;
  /** The first rows' values as numbers, equal where the values are equal; -1 for NULL. Shows duplicates without the values. */
  readonly codes: readonly number[];
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

interface ProfileContext {
  readonly warehouse: Warehouse;
  readonly config: ScanConfig;
  readonly signal: AbortSignal;
  /** Told before each statement. */
  readonly onQuery: () => void;
}

const columnsPerStatement = 150;
const sampledRows = 200;
const separator = '\u001F';
const nullMark = '\u001E';

/**
 * One aggregate statement a table; several for more than 150 columns. A column that the engine cannot aggregate is left out
 * with a note, and a table that cannot be read has no rows and a note: neither fails the scan.
 */
export async function profileTable(table: TableSchema, context: ProfileContext): Promise<TableProfile> {
  const parts: TableProfile[] = [];
  for (let start = 0; start === 0 || start < table.columns.length; start += columnsPerStatement) {
    parts.push(await profileColumns(table, table.columns.slice(start, start + columnsPerStatement), context));
  }
  const rows = Math.max(...parts.map((part) => part.rows));
  const note = parts.find((part) => part.note !== undefined)?.note;
  return { rows, fraction: parts[0]?.fraction ?? 1, columns: parts.flatMap((part) => part.columns), note };
}

async function profileColumns(table: TableSchema, columns: readonly ColumnSchema[], context: ProfileContext): Promise<TableProfile> {
  try {
    return await runProfile(table, columns, context);
  } catch (error) {
    if (!isColumnTrouble(error, context.signal)) throw error;
    if (columns.length <= 1) return unreadable(columns, messageOf(error));
    const half = Math.ceil(columns.length / 2);
    const parts = [columns.slice(0, half), columns.slice(half)].map((part) => profileColumns(table, part, context));
    const [left, right] = await Promise.all(parts);
    if (!left || !right) throw error;
    const note = left.note !== undefined && right.note !== undefined ? left.note : undefined;
    return { rows: Math.max(left.rows, right.rows), fraction: Math.min(left.fraction, right.fraction), columns: [...left.columns, ...right.columns], note };
  }
}

/** Failures that another statement may not have: not a lost connection, a wrong password, an exhausted time limit. */
function isColumnTrouble(error: unknown, signal: AbortSignal): boolean {
  return !signal.aborted && error instanceof UserError && !error.retryable && error.exitCode !== 4;
}

function unreadable(columns: readonly ColumnSchema[], note: string): TableProfile {
  const column = (name: string): ColumnProfile => ({ name, kind: 'empty', nulls: 0, distinct: 0, distinctExact: false, top: [], sketch: [], codes: [], note }); // prettier-ignore
  return { rows: 0, fraction: 1, columns: columns.map(({ name }) => column(name)), note };
}

async function runProfile(table: TableSchema, columns: readonly ColumnSchema[], context: ProfileContext): Promise<TableProfile> {
  const { warehouse, config } = context;
  const { sql, fraction, measured } = profileStatement(table, columns, { dialect: warehouse.dialect, sampleRows: config.sample_rows });
  context.onQuery();
  const result = await warehouse.query(sql, { maxRows: 1, timeoutMs: config.table_seconds * 1000 }, context.signal);
  const cells = new Map(result.columns.map(({ name }, index) => [name, result.rows[0]?.[index] ?? null]));
  const rows = numberOf(cells.get('n')) ?? 0;
  const sample = jsonTexts(cells.get('s')).map((row) => row.split(separator));
  const profiles = columns.map((column, index) => {
    const position = measured.indexOf(column);
    const values = position < 0 ? [] : sample.map((row) => row[position] ?? nullMark);
    return columnProfile(column, { rows, values, cell: (prefix) => cells.get(`${prefix}${index}`) ?? null });
  });
  return { rows, fraction, columns: profiles };
}

function profileStatement(table: TableSchema, columns: readonly ColumnSchema[], options: { dialect: Dialect; sampleRows: number }) {
  const { dialect } = options;
  const name = tableName(table, dialect);
  const wanted = options.sampleRows / Math.max(1, table.rowEstimate ?? 0);
  const sampled = wanted < 1 && table.kind === 'table' ? dialect.statistics.sample(name, wanted) : undefined;
  const measured = columns.filter((column) => isMeasured(column));
  const aggregates = columns.flatMap((column, index) => columnAggregates(column, index, dialect));
  const parts = measured.map((column) => {
    const text = dialect.statistics.text(dialect.quote(column.name), column.type);
    return `coalesce(substr(${text}, 1, 100), ${dialect.literal(nullMark)})`;
  });
  const sample =
    parts.length === 0
      ? []
      : [`(SELECT ${dialect.statistics.jsonList('v')} FROM (SELECT ${parts.join(` || ${dialect.literal(separator)} || `)} AS v FROM ${name} ${dialect.limit(sampledRows)}) AS first_rows) AS s`];
  const sql = `SELECT ${['count(*) AS n', ...aggregates, ...sample].join(', ')} FROM ${sampled ?? name}`;
  return { sql, measured, fraction: sampled === undefined ? 1 : wanted };
}

function columnAggregates(column: ColumnSchema, index: number, dialect: Dialect): string[] {
  const quoted = dialect.quote(column.name);
  const counted = `count(${quoted}) AS c${index}`;
  if (!isMeasured(column)) return [counted];
  const text = dialect.statistics.text(quoted, column.type);
  const sketched = [counted, `${dialect.statistics.sketch(text, sketchSize)} AS k${index}`];
  if (isNumeric(column)) return [...sketched, `min(${quoted}) AS lo${index}`, `max(${quoted}) AS hi${index}`];
  if (column.type !== 'string') return sketched;
  return [...sketched, `min(length(${text})) AS lo${index}`, `max(length(${text})) AS hi${index}`];
}

const isNumeric = (column: ColumnSchema): boolean => column.type === 'integer' || column.type === 'decimal';
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
  const [low, high] = [numberOf(cell('lo')), numberOf(cell('hi'))];
  const { distinct, exact } = distinctOf(sketch);
  const codes = new Map(present.map((value, index) => [value, index]));
  return {
    name: column.name,
    kind,
    nulls: rows - (numberOf(cell('c')) ?? 0),
    distinct,
    distinctExact: exact,
    ...(isNumeric(column) ? { min: low, max: high } : { minLength: low, maxLength: high }),
    top: topValues(present, kind),
    sketch,
    codes: values.map((value) => codes.get(value) ?? -1),
    note: isMeasured(column) ? undefined : `no statistics for type ${column.nativeType}`,
  };
}

function columnKind(column: ColumnSchema, values: readonly string[]): ValueKind {
  const kind = kindOf(values, column.name);
  if (column.type === 'date' || column.type === 'datetime' || column.type === 'datetime_tz') return 'date';
  if (isNumeric(column)) return kind === 'integer' || kind === 'empty' ? kind : kind === 'card' || kind === 'phone' ? 'integer' : 'number';
  return column.type === 'unknown' ? 'binary' : kind;
}

function topValues(values: readonly string[], kind: ValueKind): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, 10)
    .map(([value, count]) => [isPersonal(kind) ? masked(value) : value, count / values.length]);
}

function jsonTexts(cell: Cell | undefined): string[] {
  if (typeof cell !== 'string') return [];
  const list: unknown = JSON.parse(cell);
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
}

export function numberOf(cell: Cell | undefined): number | undefined {
  const value = typeof cell === 'string' ? Number(cell) : cell;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function tableName(table: { catalog?: string | undefined; schema: string; table: string }, dialect: Dialect): string {
  return [table.catalog, table.schema, table.table].flatMap((part) => (part === undefined ? [] : [dialect.quote(part)])).join('.');
}
