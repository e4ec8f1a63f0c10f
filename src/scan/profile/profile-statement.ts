import { type Dialect, requireStatistics, type TableRef } from '../../sql/dialect.ts';
import type { Cell, ColumnSchema, QueryResult, TableSchema } from '../../warehouse/warehouse.ts';
import { isMeasured, isNumeric, numberFromCell, type ColumnResults } from './column-profile.ts';
import { sketchSize } from './sketch.ts';

/** How many of the first rows are read as they are. */
const firstRowCount = 200;
/**
 * Characters that do not occur in values: one separates the values of a row, one stands for NULL.
 */
const separator = '\u001F';
const nullMark = '\u001E';

/** A table, or a sample of it, as it stands in FROM. */
export interface TableSource {
  readonly table: TableSchema;
  /** The quoted name of the table. */
  readonly name: string;
  /** The name, or the SQL of the sample. */
  readonly sql: string;
  /** The share of the rows that is read; 1 is all of them. */
  readonly share: number;
}

/** Views, and engines without sampling, are read in full. */
export function tableSource(table: TableSchema, share: number, dialect: Dialect): TableSource {
  const name = qualifiedTableName(table, dialect);
  const sample =
    share < 1 && table.kind === 'table'
      ? requireStatistics(dialect).sample(name, share)
      : undefined;
  return { table, name, sql: sample ?? name, share: sample === undefined ? 1 : share };
}

export function qualifiedTableName({ catalog, schema, table }: TableRef, dialect: Dialect): string {
  return [catalog, schema, table]
    .flatMap((part) => (part === undefined ? [] : [dialect.quote(part)]))
    .join('.');
}

/**
 * One statement that returns one row: the number of rows `ktx_n`, the first rows `s`, and for the
 * column at index i its count `c<i>`, sketch `k<i>`, range `lo<i>`, `hi<i>`, and the times in its
 * texts `t<i>`.
 */
export function profileStatement(
  columns: readonly ColumnSchema[],
  source: TableSource,
  dialect: Dialect,
): string {
  const aggregates = columns.flatMap((column, index) =>
    columnAggregates({ column, index, from: source.sql }, dialect),
  );
  const { billsWhatItReads = false } = requireStatistics(dialect);
  const from = billsWhatItReads ? source.sql : source.name;
  const firstRows = firstRowsExpression(from, columns.filter(isMeasured), dialect);
  const selected = ['count(*) AS ktx_n', ...aggregates, ...firstRows];
  return `SELECT ${selected.join(', ')} FROM ${source.sql}`;
}

function columnAggregates(
  {
    column,
    index,
    from,
  }: { readonly column: ColumnSchema; readonly index: number; readonly from: string },
  dialect: Dialect,
): string[] {
  const quoted = dialect.quote(column.name);
  const statistics = requireStatistics(dialect);
  const count = `${statistics.countValues?.(quoted) ?? `count(${quoted})`} AS c${index}`;
  if (!isMeasured(column)) return [count];
  const text = statistics.text(quoted, column.type);
  const sketch = `${statistics.sketch(text, sketchSize, from)} AS k${index}`;
  if (isNumeric(column))
    return [count, sketch, `min(${quoted}) AS lo${index}`, `max(${quoted}) AS hi${index}`];
  if (column.type !== 'string') return [count, sketch];
  const longest = `max(${statistics.textLength?.(text) ?? `length(${text})`}) AS hi${index}`;
  const times = statistics.timesInText?.(quoted);
  return [count, sketch, longest, ...(times === undefined ? [] : [`${times} AS t${index}`])];
}

/** The first rows as one JSON list; the values of each row are joined into one text. */
function firstRowsExpression(
  table: string,
  columns: readonly ColumnSchema[],
  dialect: Dialect,
): string[] {
  if (columns.length === 0) return [];
  const statistics = requireStatistics(dialect);
  const values = columns.map((column) => {
    const text = statistics.text(dialect.quote(column.name), column.type);
    const first = statistics.firstCharacters?.(text, 100) ?? `substr(${text}, 1, 100)`;
    return `coalesce(${first}, ${dialect.literal(nullMark)})`;
  });
  const between = dialect.literal(separator);
  const row =
    statistics.joinTexts?.(between, values) ?? `concat_ws(${[between, ...values].join(', ')})`;
  const count = rowsThatFit(columns.length, statistics.aggregatedBytes);
  const rows = `SELECT ${row} AS v FROM ${table} ${dialect.limit(count, false)}`;
  return [`(SELECT ${statistics.jsonList('v', count)} FROM (${rows}) AS first_rows) AS s`];
}

/** In bytes. */
const usualValue = 30;

/** Fewer rows of many columns, rather than the first columns of many rows. */
function rowsThatFit(columns: number, most: number | undefined): number {
  if (most === undefined) return firstRowCount;
  const fitting = Math.floor(most / (columns * usualValue));
  return Math.min(firstRowCount, Math.max(20, fitting));
}

/** Reads the row that `profileStatement` returns. */
export function readProfileResult(columns: readonly ColumnSchema[], result: QueryResult) {
  const [values = []] = result.rows;
  // Some engines return names in upper case.
  const cells = new Map(
    result.columns.map(({ name }, index) => [name.toLowerCase(), values[index] ?? null]),
  );
  const firstRows = textsInJson(cells.get('s')).map((row) => row.split(separator));
  const measured = columns.filter(isMeasured);
  const columnResults = (index: number): Omit<ColumnResults, 'rows' | 'inferred' | 'policy'> => {
    const number = (prefix: string): number | undefined =>
      numberFromCell(cells.get(prefix + index));
    const position = measured.findIndex((column) => column === columns[index]);
    const first = position < 0 ? [] : firstRows.map((row) => row[position] ?? nullMark);
    return {
      count: number('c') ?? 0,
      low: number('lo'),
      high: number('hi'),
      times: cells.get(`t${index}`),
      sketch: textsInJson(cells.get(`k${index}`)).join(''),
      firstValues: first.filter((value) => value !== nullMark),
    };
  };
  return { rows: numberFromCell(cells.get('ktx_n')) ?? 0, columnResults };
}

function textsInJson(cell: Cell | undefined): string[] {
  const list: unknown = JSON.parse(typeof cell === 'string' ? cell : '[]');
  return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : [];
}
