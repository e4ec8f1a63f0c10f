import { formatCount } from '../../../../lib/format-count.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import type { CallLimits } from '../../../time-limit.ts';
import type { DuckdbReader } from '../reader.ts';
import type { FileOptions } from './file-options.ts';

export interface SniffedFile {
  readonly Delimiter: string;
  readonly HasHeader: boolean;
  readonly SkipRows: number | string;
  readonly DateFormat: string | null;
  readonly TimestampFormat: string | null;
  readonly Columns: readonly { readonly name: string; readonly type: string }[];
}

export interface LoadedCsv {
  readonly table: string;
  /** One of its files. */
  readonly file: string;
  readonly options: FileOptions;
}

/**
 * What DuckDB assumed about a CSV that is loaded, but for its dates, as the ends of sentences about
 * the file.
 */
export function describeAssumptions(
  { file, options }: LoadedCsv,
  sniffed: SniffedFile,
): readonly string[] {
  const usual = /\.tsv\b/i.test(file) ? '\t' : ',';
  const skipped = Number(sniffed.SkipRows);
  return [
    ...(options.delimiter === undefined && sniffed.Delimiter !== usual
      ? [separation(sniffed)]
      : []),
    ...(options.header === undefined && !sniffed.HasHeader
      ? [
          `has no line of names: its columns are ${sniffed.Columns.map(({ name }) => name).join(', ')} (header: true takes the first line)`,
        ]
      : []),
    ...(options.skip_lines === undefined && skipped > 0
      ? [
          `has ${formatCount(skipped, 'line')} before its table, left out (skip_lines: 0 reads them)`,
        ]
      : []),
  ];
}

/** DuckDB names a separator that the file does not have where none fits all of its lines. */
function separation({ Delimiter, Columns }: SniffedFile): string {
  return Columns.length === 1
    ? 'was read as one column: no separator fits all of its lines (delimiter sets one)'
    : `is separated by ${JSON.stringify(Delimiter)}`;
}

/** How DuckDB reads the file. Undefined if the file cannot be judged by itself. */
export async function sniffCsv(
  reader: DuckdbReader,
  { file, options }: Omit<LoadedCsv, 'table'>,
  limits: CallLimits,
): Promise<SniffedFile | undefined> {
  const {
    delimiter,
    quote,
    date_format: dates,
    timestamp_format: times,
    skip_lines: skip,
  } = options;
  const given = [
    ...(skip === undefined ? [] : [`skip = ${skip}`]),
    ...(delimiter === undefined ? [] : [`delim = ${duckdb.literal(delimiter)}`]),
    ...(quote === undefined ? [] : [`quote = ${duckdb.literal(quote)}`]),
    ...(dates === undefined ? [] : [`dateformat = ${duckdb.literal(dates)}`]),
    ...(times === undefined ? [] : [`timestampformat = ${duckdb.literal(times)}`]),
  ];
  const call = `sniff_csv(${[duckdb.literal(file), 'sample_size = -1', ...given].join(', ')})`;
  const columns = 'Delimiter, HasHeader, SkipRows, DateFormat, TimestampFormat, Columns';
  try {
    const [row] = await reader.catalogRows(`SELECT ${columns} FROM ${call}`, limits);
    return row as SniffedFile | undefined;
  } catch (error) {
    if (limits.signal.aborted) throw error;
    return undefined;
  }
}

interface NumberColumn {
  readonly column: string;
  /** `unclear`: every comma may also separate thousands. */
  readonly kind: 'decimal comma' | 'unclear';
}

const withComma = String.raw`[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?`;
const withThousands = String.raw`[-+]?\d{1,3}(,\d{3})+`;
const mostColumns = 500;

/**
 * Makes text columns numbers whose values are all written with a decimal comma, as in `1.234,50`.
 * Returns what it did, as the ends of sentences about the file.
 */
export async function readDecimalCommas(
  reader: DuckdbReader,
  { table, options }: LoadedCsv,
  limits: CallLimits,
): Promise<readonly string[]> {
  if (options.decimal !== undefined) return [];
  const found = await findNumberColumns(reader, { table, options }, limits);
  const numbers = found.filter(({ kind }) => kind === 'decimal comma');
  for (const { column } of numbers) {
    const name = duckdb.quote(column);
    const plain = `replace(replace(trim(${name}), '.', ''), ',', '.')`;
    const sql = `ALTER TABLE ${duckdb.quote(table)} ALTER ${name} TYPE DOUBLE USING CAST(${plain} AS DOUBLE)`;
    await reader.runScript(sql, limits);
  }
  return found.map(({ column, kind }) =>
    kind === 'unclear'
      ? `${column} stays text: its commas may separate decimals or thousands; set decimal, and thousands`
      : `${column} has decimal commas and was read as numbers (types: {${column}: VARCHAR} keeps the text)`,
  );
}

async function findNumberColumns(
  reader: DuckdbReader,
  { table, options }: Omit<LoadedCsv, 'file'>,
  limits: CallLimits,
): Promise<readonly NumberColumn[]> {
  const texts = (await reader.catalogRows(
    `SELECT column_name AS name FROM duckdb_columns() WHERE table_name = ${duckdb.literal(table)} AND data_type = 'VARCHAR' AND database_name = current_database() ORDER BY column_index`,
    limits,
  )) as { readonly name: string }[];
  const columns = texts
    .map(({ name }) => name)
    .filter((name) => !(name in (options.types ?? {})))
    .slice(0, mostColumns);
  if (columns.length === 0) return [];
  const matches = (text: string, pattern: string) =>
    `regexp_full_match(${text}, ${duckdb.literal(pattern)})`;
  const measures = columns.map((column, at) => {
    const text = `trim(${duckdb.quote(column)})`;
    return `coalesce(bool_and(${matches(text, withComma)}), false) AND bool_or(contains(${text}, ',')) AS n${at},
      coalesce(bool_and(NOT contains(${text}, ',') OR ${matches(text, withThousands)}), true) AS t${at}`;
  });
  const sql = `SELECT ${measures.join(', ')} FROM ${duckdb.quote(table)}`;
  const [row] = (await reader.catalogRows(sql, limits)) as Record<string, unknown>[];
  return columns.flatMap((column, at): NumberColumn[] => {
    if (row?.[`n${at}`] !== true) return [];
    return [{ column, kind: row[`t${at}`] === true ? 'unclear' : 'decimal comma' }];
  });
}
