import { formatCount } from '../../../../lib/format-count.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import type { CallLimits } from '../../../time-limit.ts';
import type { DuckdbReader } from '../reader.ts';
import { sniffCsv } from './csv-assumptions.ts';
import { csvCall, type ReadableTable } from './readable-tables.ts';
import { countTitleRows, type GridRow } from './title-rows.ts';

/** Lines in which the start of the table is looked for. */
const firstLines = 20;

/**
 * The table without the titles above it, as in `Sales 2025,,` over `region,month,amount`, where
 * DuckDB took the title as the names of the columns. Undefined if it has none.
 */
export async function withoutTitles(
  reader: DuckdbReader,
  table: ReadableTable,
  limits: CallLimits,
): Promise<ReadableTable | undefined> {
  const { csv, name } = table;
  const [file = '', ...others] = csv?.files ?? [];
  const options = csv?.options ?? {};
  const isOpen = options.header === undefined && options.skip_lines === undefined;
  if (csv === undefined || !isOpen || others.length > 0) return undefined;
  if (!(await hasUnnamedColumns(reader, name, limits))) return undefined;
  const sniffed = await sniffCsv(reader, { file, options }, limits);
  if (sniffed === undefined || Number(sniffed.SkipRows) > 0) return undefined;
  const rows = await readLines(reader, { file, delimiter: sniffed.Delimiter }, limits);
  const titles = countTitleRows(rows);
  if (titles === 0) return undefined;
  const found = { ...options, skip_lines: titles, header: true };
  const text = `has ${formatCount(titles, 'line')} of title above its table, left out (skip_lines: 0 reads them)`;
  return {
    ...table,
    csv: { ...csv, options: found },
    call: csvCall(csv.files, found),
    assumptions: [...table.assumptions, text],
  };
}

/** True if no column but the first has a name. */
async function hasUnnamedColumns(
  reader: DuckdbReader,
  table: string,
  limits: CallLimits,
): Promise<boolean> {
  const columns = (await reader.catalogRows(
    `SELECT column_name AS name FROM duckdb_columns() WHERE table_name = ${duckdb.literal(table)} AND database_name = current_database() ORDER BY column_index`,
    limits,
  )) as { readonly name: string }[];
  const [, ...others] = columns;
  return (
    others.length > 0 &&
    others.every(({ name }, at) => Number(/^column(\d+)$/.exec(name)?.[1]) === at + 1)
  );
}

/** The first lines as texts. */
async function readLines(
  reader: DuckdbReader,
  { file, delimiter }: { readonly file: string; readonly delimiter: string },
  limits: CallLimits,
): Promise<readonly GridRow[]> {
  const call = `read_csv(${duckdb.literal(file)}, delim = ${duckdb.literal(delimiter)}, header = false, all_varchar = true, skip = 0, null_padding = true)`;
  const rows = (await reader.catalogRows(
    `SELECT * FROM ${call} LIMIT ${firstLines}`,
    limits,
  )) as Readonly<Record<string, string | null>>[];
  return rows.map((row) => Object.values(row));
}
