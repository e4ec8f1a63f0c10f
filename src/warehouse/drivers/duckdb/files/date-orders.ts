import { basename } from 'node:path';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import type { CallLimits } from '../../../time-limit.ts';
import type { DuckdbReader } from '../reader.ts';
import { type SniffedFile, sniffCsv } from './csv-assumptions.ts';
import type { FileOptions } from './file-options.ts';

/** How the dates of a column were read. */
export interface ColumnNote {
  readonly column: string;
  /** The end of a sentence about the file. */
  readonly text: string;
  /** True if no row tells whether the assumption is right. */
  readonly isDoubtful: boolean;
}

interface DatedParts {
  readonly table: string;
  readonly files: readonly string[];
  readonly options: FileOptions;
  /** The call of DuckDB that reads some of the files with some options. */
  readonly call: (files: readonly string[], options: FileOptions) => string;
}

type DateKey = 'date_format' | 'timestamp_format';
/** Of more parts, the first tell. */
const mostParts = 500;

/**
 * How `03/04/2024`, also with a time of day, was read in a CSV, and whether a row proves the order.
 * `options` are set where one part proves the order of the others, which DuckDB reads one by one:
 * then the table has to be loaded again with them.
 */
export async function readDateOrders(
  reader: DuckdbReader,
  csv: DatedParts & { readonly sniffed: SniffedFile },
  limits: CallLimits,
): Promise<{ readonly notes: readonly ColumnNote[]; readonly options: FileOptions | undefined }> {
  const columns = guessedColumns(csv);
  if (columns.length === 0) return { notes: [], options: undefined };
  const key = columns[0]?.key ?? 'date_format';
  const parts = await sniffParts(reader, csv, limits);
  const formats = parts.map(({ file, sniffed }) => ({ file, format: formatOf(sniffed, key) }));
  const monthFirst = formats.find(({ format }) => isMonthFirst(format));
  const dayFirst = formats.filter(({ format }) => isDayFirst(format)).map(({ file }) => file);
  if (monthFirst === undefined || dayFirst.length === 0)
    return { notes: await describeOrders(reader, { ...csv, columns }, limits), options: undefined };
  // Only a row that does not fit the day first makes DuckDB read a file with the month first.
  const names = columns.map(({ name }) => name);
  const provesDay = await largestDays(
    reader,
    { names, from: csv.call(dayFirst, csv.options) },
    limits,
  );
  if (!provesDay.some((day) => day > 12))
    return {
      notes: names.map((column) => ({
        column,
        isDoubtful: false,
        text: `${column} was read with the month first (${monthFirst.format}), as ${basename(monthFirst.file)} shows`,
      })),
      options: { ...csv.options, [key]: monthFirst.format },
    };
  const both = `day first in ${basename(dayFirst[0] ?? '')}, month first in ${basename(monthFirst.file)}`;
  return {
    notes: names.map((column) => ({
      column,
      isDoubtful: true,
      text: `${column} has both orders of day and month (${both}); where a part fits both, it was read with the day first`,
    })),
    options: undefined,
  };
}

/** Columns that are dates or times with day and month in a guessed order. */
function guessedColumns({
  sniffed,
  options,
}: {
  readonly sniffed: SniffedFile;
  readonly options: FileOptions;
}) {
  return sniffed.Columns.flatMap(({ name, type }) => {
    if (type !== 'DATE' && type !== 'TIMESTAMP') return [];
    const key: DateKey = type === 'DATE' ? 'date_format' : 'timestamp_format';
    const format = formatOf(sniffed, key);
    const isGuessed = options[key] === undefined && (isDayFirst(format) || isMonthFirst(format));
    return isGuessed ? [{ name, key, format }] : [];
  });
}

function formatOf({ DateFormat, TimestampFormat }: SniffedFile, key: DateKey): string {
  return (key === 'date_format' ? DateFormat : TimestampFormat) ?? '';
}

const isDayFirst = (format: string): boolean => /^%d.%m/.test(format);
const isMonthFirst = (format: string): boolean => /^%m.%d/.test(format);

async function sniffParts(
  reader: DuckdbReader,
  { files, options, sniffed: first }: DatedParts & { readonly sniffed: SniffedFile },
  limits: CallLimits,
) {
  const [file = '', ...others] = files.slice(0, mostParts);
  const parts = [{ file, sniffed: first }];
  for (const other of others) {
    const sniffed = await sniffCsv(reader, { file: other, options }, limits);
    if (sniffed !== undefined) parts.push({ file: other, sniffed });
  }
  return parts;
}

async function describeOrders(
  reader: DuckdbReader,
  {
    table,
    columns,
  }: { readonly table: string; readonly columns: ReturnType<typeof guessedColumns> },
  limits: CallLimits,
): Promise<readonly ColumnNote[]> {
  const names = columns.map(({ name }) => name);
  const days = await largestDays(reader, { names, from: duckdb.quote(table) }, limits);
  return columns.map(({ name, key, format }, at) => {
    const order = isDayFirst(format) ? 'day first' : 'month first';
    return noteOn({ column: name, order, format, key, isCertain: (days[at] ?? 0) > 12 });
  });
}

interface OrderNote {
  readonly column: string;
  readonly order: 'day first' | 'month first';
  readonly format: string;
  readonly key: DateKey;
  readonly isCertain: boolean;
}

function noteOn({ column, order, format, key, isCertain }: OrderNote): ColumnNote {
  const read = `${column} was read with the ${order} (${format})`;
  return isCertain
    ? { column, text: read, isDoubtful: false }
    : {
        column,
        text: `${read}, but every row of it also fits the other order: set ${key} under files in ktx.yaml to be sure`,
        isDoubtful: true,
      };
}

/** The largest day of the month in each of the columns; 0 without dates. */
async function largestDays(
  reader: DuckdbReader,
  { names, from }: { readonly names: readonly string[]; readonly from: string },
  limits: CallLimits,
): Promise<readonly number[]> {
  const largest = names.map(
    (name, at) => `max(day(TRY_CAST(${duckdb.quote(name)} AS TIMESTAMP))) AS c${at}`,
  );
  const sql = `SELECT ${largest.join(', ')} FROM ${from}`;
  const [row] = (await reader.catalogRows(sql, limits)) as Record<string, unknown>[];
  return names.map((_name, at) => Number(row?.[`c${at}`] ?? 0));
}

/**
 * The same for columns of JSON, in which DuckDB takes `03-04-2024` as a date. The first value of
 * each file shows the format of its column there.
 */
export async function readJsonDateOrders(
  reader: DuckdbReader,
  { table, files, options }: Omit<DatedParts, 'call'>,
  limits: CallLimits,
): Promise<readonly ColumnNote[]> {
  const dated = await jsonTimes(reader, table, limits);
  const notes: ColumnNote[] = [];
  for (const { name, type } of dated) {
    const key: DateKey = type === 'DATE' ? 'date_format' : 'timestamp_format';
    if (options[key] !== undefined) continue;
    const texts = await jsonOrder(reader, { name, files }, limits);
    if (texts !== undefined) notes.push(noteOn({ column: name, key, ...texts }));
  }
  return notes;
}

/**
 * Makes columns of JSON whose times have an offset from UTC (`+02:00`, `Z`) instants. DuckDB moves
 * them to UTC, and forgets that they are in it.
 */
export async function readJsonInstants(
  reader: DuckdbReader,
  { table, files, options }: Omit<DatedParts, 'call'>,
  limits: CallLimits,
): Promise<void> {
  const times = (await jsonTimes(reader, table, limits)).filter(({ type }) => type === 'TIMESTAMP');
  if (options.timestamp_format !== undefined) return;
  for (const { name } of times) {
    const withOffset = await filesThatMatch(reader, { name, files, pattern: offset }, limits);
    if (withOffset.length < Math.min(files.length, mostParts)) continue;
    const column = duckdb.quote(name);
    const sql = `ALTER TABLE ${duckdb.quote(table)} ALTER ${column} TYPE TIMESTAMPTZ USING ${column} AT TIME ZONE 'UTC'`;
    await reader.runScript(sql, limits);
  }
}

const offset = String.raw`\d\s*([zZ]|[-+]\d{2}(:?\d{2})?)\s*$`;

const dayAndMonth = String.raw`^\s*(\d{1,2})\D(\d{1,2})\D\d`;

/** Undefined if the texts of the column begin with the year. */
async function jsonOrder(
  reader: DuckdbReader,
  { name, files }: { readonly name: string; readonly files: readonly string[] },
  limits: CallLimits,
): Promise<Pick<OrderNote, 'order' | 'format' | 'isCertain'> | undefined> {
  const column = duckdb.quote(name);
  const guessed = await filesThatMatch(reader, { name, files, pattern: dayAndMonth }, limits);
  if (guessed.length === 0) return undefined;
  const largest = (group: number) =>
    `max(TRY_CAST(regexp_extract(${column}, ${duckdb.literal(dayAndMonth)}, ${group}) AS INTEGER))`;
  const [row] = (await reader.catalogRows(
    `SELECT ${largest(1)} AS left, ${largest(2)} AS right FROM ${textsOf(name, guessed)}`,
    limits,
  )) as { readonly left?: unknown; readonly right?: unknown }[];
  const isDay = Number(row?.left ?? 0) > 12;
  const isMonth = Number(row?.right ?? 0) > 12;
  // DuckDB tries the day first.
  const order = isMonth && !isDay ? 'month first' : 'day first';
  return {
    order,
    format: order === 'day first' ? '%d-%m-%Y' : '%m-%d-%Y',
    isCertain: isDay !== isMonth,
  };
}

async function jsonTimes(
  reader: DuckdbReader,
  table: string,
  limits: CallLimits,
): Promise<readonly { readonly name: string; readonly type: string }[]> {
  const sql = `SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE table_name = ${duckdb.literal(table)} AND data_type IN ('DATE', 'TIMESTAMP') AND database_name = current_database() ORDER BY column_index`;
  return (await reader.catalogRows(sql, limits)) as { name: string; type: string }[];
}

/** The files in which the first value of the column matches. */
async function filesThatMatch(
  reader: DuckdbReader,
  {
    name,
    files,
    pattern,
  }: { readonly name: string; readonly files: readonly string[]; readonly pattern: string },
  limits: CallLimits,
): Promise<readonly string[]> {
  const column = duckdb.quote(name);
  const found: string[] = [];
  for (const file of files.slice(0, mostParts)) {
    const sql = `SELECT regexp_matches(${column}, ${duckdb.literal(pattern)}) AS found FROM ${textsOf(name, [file])} WHERE ${column} IS NOT NULL LIMIT 1`;
    const [row] = (await reader.catalogRows(sql, limits)) as { readonly found?: boolean }[];
    if (row?.found === true) found.push(file);
  }
  return found;
}

function textsOf(name: string, files: readonly string[]): string {
  const list = files.map((file) => duckdb.literal(file)).join(', ');
  return `read_json([${list}], columns = {${duckdb.literal(name)}: 'VARCHAR'})`;
}
