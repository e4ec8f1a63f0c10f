import { basename, join } from 'node:path';
import { shortHash } from '../../../../lib/hash.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import { decodeText, guessEncoding } from './decode-text.ts';
import type { FileOptions } from './file-options.ts';
import { type FileTable, formatOf } from './file-tables.ts';
import { extractMembers } from './zip-members.ts';
import { readWorkbook } from './workbook.ts';

/** A table as DuckDB can read it, perhaps from files that were made for it. */
export interface ReadableTable {
  readonly name: string;
  /** DuckDB's table function with its arguments. */
  readonly call: string;
  /** Set for a CSV, which leaves open how it is to be read. */
  readonly csv?: { readonly files: readonly string[]; readonly options: FileOptions };
  /** Set for JSON. */
  readonly json?: { readonly files: readonly string[]; readonly options: FileOptions };
  /** What was assumed until now, as the ends of sentences about the file. */
  readonly assumptions: readonly string[];
}

/** `folder` takes files that are written for it. */
export async function readableTables(
  table: FileTable,
  folder: string,
  signal: AbortSignal,
): Promise<readonly ReadableTable[]> {
  if (table.format === 'workbook') return readWorkbook(table, folder);
  if (table.format === 'archive') {
    const members = await membersOf(table, folder);
    return (
      await Promise.all(members.map((member) => readableTables(member, folder, signal)))
    ).flat();
  }
  const { name, format, options, files } = table;
  if (format === 'csv') {
    const call = csvCall(files, options);
    const csv: ReadableTable = { name, csv: { files, options }, call, assumptions: [] };
    return [options.encoding === undefined ? csv : await withEncoding(csv, folder, signal)];
  }
  if (format === 'parquet')
    return [{ name, call: `read_parquet(${list(files)}, union_by_name = true)`, assumptions: [] }];
  return [{ name, json: { files, options }, call: jsonCall(files, options), assumptions: [] }];
}

/** The data files of an archive. The name of the only one does not matter. */
async function membersOf(archive: FileTable, folder: string): Promise<readonly FileTable[]> {
  const { name, files } = archive;
  const [path = ''] = files;
  const isData = (member: string) => !['archive', undefined].includes(formatOf(member));
  const members = await extractMembers(path, folder, isData);
  return members.map((member) => {
    const own = basename(member.name).replace(/\.\w+(\.gz|\.zst)?$/i, '');
    return {
      ...archive,
      name: members.length === 1 ? name : `${name}_${own}`,
      files: [member.path],
      format: formatOf(member.name) ?? 'csv',
    };
  });
}

/** The same table of files in UTF-8. The encoding is the configured one, or the likely one. */
export async function withEncoding(
  table: ReadableTable,
  folder: string,
  signal: AbortSignal,
): Promise<ReadableTable> {
  const { files = [], options = {} } = table.csv ?? {};
  const encodings = new Set<string>();
  const decoded: string[] = [];
  for (const from of files) {
    const encoding = options.encoding ?? (await guessEncoding(from));
    const to = join(folder, `${shortHash(from)}.csv`);
    await decodeText({ from, to, encoding }, signal);
    encodings.add(encoding);
    decoded.push(to);
  }
  const guessed = `is no UTF-8 and was read as ${[...encodings].join(', ')} (encoding)`;
  return {
    ...table,
    csv: { files: decoded, options },
    call: csvCall(decoded, options),
    assumptions: [...table.assumptions, ...(options.encoding === undefined ? [guessed] : [])],
  };
}

function jsonCall(
  files: readonly string[],
  { date_format: dates, timestamp_format: times }: FileOptions,
): string {
  const given = [
    ...(dates === undefined ? [] : [`dateformat = ${duckdb.literal(dates)}`]),
    ...(times === undefined ? [] : [`timestampformat = ${duckdb.literal(times)}`]),
  ];
  const parts = [list(files), 'union_by_name = true', 'sample_size = -1', ...given];
  return `read_json(${parts.join(', ')})`;
}

/** Types are detected from all rows, not from a sample. */
export function csvCall(files: readonly string[], options: FileOptions): string {
  const texts = {
    delim: options.delimiter,
    quote: options.quote,
    decimal_separator: options.decimal,
    thousands: options.thousands,
    dateformat: options.date_format,
    timestampformat: options.timestamp_format,
  };
  const { header, skip_lines: skip, null_texts: nulls, types } = options;
  const named = Object.entries(texts).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${duckdb.literal(value)}`],
  );
  const columns = Object.entries(types ?? {}).map(
    ([column, type]) => `${duckdb.literal(column)}: ${duckdb.literal(type)}`,
  );
  const given = [
    ...named,
    ...(header === undefined ? [] : [`header = ${header}`]),
    ...(skip === undefined ? [] : [`skip = ${skip}`]),
    ...(nulls === undefined ? [] : [`nullstr = ${list(nulls)}`]),
    ...(columns.length === 0 ? [] : [`types = {${columns.join(', ')}}`]),
  ];
  const parts = [list(files), 'union_by_name = true', 'sample_size = -1', ...given];
  return `read_csv(${parts.join(', ')})`;
}

function list(texts: readonly string[]): string {
  return `[${texts.map((text) => duckdb.literal(text)).join(', ')}]`;
}
