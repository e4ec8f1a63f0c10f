import { existsSync, statSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { errorMessage, UserError } from '../../../../lib/error.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import type { CallLimits } from '../../../time-limit.ts';
import type { DoubtfulColumn } from '../../../driver.ts';
import { translateError, warehouseError } from '../../../warehouse-error.ts';
import type { DuckdbReader } from '../reader.ts';
import { isInside } from '../../../../store/confined-file.ts';
import { describeAssumptions, readDecimalCommas, sniffCsv } from './csv-assumptions.ts';
import {
  type ColumnNote,
  readDateOrders,
  readJsonDateOrders,
  readJsonInstants,
} from './date-orders.ts';
import type { FileTable } from './file-tables.ts';
import { csvCall, type ReadableTable, readableTables, withEncoding } from './readable-tables.ts';
import { withoutTitles } from './skip-titles.ts';

interface Loading {
  readonly reader: DuckdbReader;
  /** An empty folder for files that have to be written in another form first. */
  readonly folder: string;
  /** Path of the database of the load before; it may be missing. */
  readonly previous: string;
  /** Messages name files in it without it. */
  readonly projectDir: string;
  readonly signal: AbortSignal;
}

/** The time limit for the files of one table. */
const loadTimeoutMs = 3_600_000;

interface LoadNotes {
  readonly assumptions: readonly string[];
  readonly doubts: readonly DoubtfulColumn[];
}

/** What was loaded: the hashes by table, and what stands in `LoadedFiles`. */
export async function loadTables(tables: readonly FileTable[], loading: Loading) {
  const hashes: Record<string, string> = {};
  const failures: { readonly table: FileTable; readonly error: UserError }[] = [];
  const assumptions: string[] = [];
  const doubts: DoubtfulColumn[] = [];
  for (const table of tables) {
    hashes[table.name] = table.hash;
    try {
      const loaded = await loadTable(table, loading);
      if (loaded.names.length > 0) delete hashes[table.name];
      for (const name of loaded.names) hashes[name] = table.hash;
      const place = placeOf(table);
      assumptions.push(...loaded.assumptions.map((text) => `${place} ${text}`));
      doubts.push(...loaded.doubts.map((doubt) => ({ ...doubt, text: `${place} ${doubt.text}` })));
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'not_a_database') throw error;
      failures.push({ table, error });
    }
  }
  const [first] = failures;
  if (first !== undefined && failures.length === tables.length) throw first.error;
  const unreadTables: string[] = [];
  for (const { table, error } of failures)
    if (await keepStructure(table.name, error, loading)) unreadTables.push(table.name);
  const unreadFiles = failures.map(({ table, error }) => ({
    table: table.name,
    reason: error.message,
  }));
  return { hashes, unreadFiles, unreadTables, assumptions, doubts };
}

/** Names of the loaded tables: a workbook may have several. */
async function loadTable(table: FileTable, loading: Loading) {
  const { signal, folder, projectDir } = loading;
  const [first = ''] = table.files;
  const shown = (path: string) => (isInside(path, projectDir) ? relative(projectDir, path) : path);
  const files = table.files.filter((file) => statSync(file).size > 0);
  if (files.length === 0)
    throw warehouseError('not_a_database', `${shown(first)} could not be loaded: it has 0 bytes.`);
  const empty = table.files.filter((file) => !files.includes(file)).map((file) => basename(file));
  const place = shown(table.files.length === 1 ? first : dirname(first));
  const fail = translateError([[/^/, 'not_a_database', `${place} could not be loaded`]]);
  const assumptions = empty.length === 0 ? [] : [`has empty parts: ${empty.join(', ')}`];
  const parts = await readableTables({ ...table, files }, folder, signal).catch(fail);
  if (parts.length === 0) assumptions.push('has no data file and was left out');
  const doubts: DoubtfulColumn[] = [];
  for (const part of parts) {
    const notes = await loadPart(part, loading, fail);
    assumptions.push(...notes.assumptions);
    doubts.push(...notes.doubts);
  }
  return { names: parts.map(({ name }) => name), assumptions, doubts };
}

async function loadPart(
  part: ReadableTable,
  loading: Loading,
  fail: (error: unknown) => never,
): Promise<LoadNotes> {
  const { reader, folder, signal } = loading;
  const limits: CallLimits = { timeoutMs: loadTimeoutMs, signal };
  const create = ({ name, call }: ReadableTable) =>
    reader.runScript(
      `CREATE OR REPLACE TABLE ${duckdb.quote(name)} AS SELECT * FROM ${call}`,
      limits,
    );
  const loaded = await create(part).then(
    () => part,
    async (error: unknown) => {
      if (part.csv === undefined || !isEncodingError(error)) return fail(shortError(error));
      const decoded = await withEncoding(part, folder, signal).catch(fail);
      await create(decoded).catch((again: unknown) => fail(shortError(again)));
      return decoded;
    },
  );
  const again = async (table: ReadableTable) => {
    await create(table).catch((error: unknown) => fail(shortError(error)));
    return table;
  };
  const titled = await withoutTitles(reader, loaded, limits);
  const table = titled === undefined ? loaded : await again(titled);
  await requireShortNames(table, loading).catch(fail);
  return (table.csv === undefined ? noteJson : noteCsv)({ reader, table, again }, limits).catch(
    fail,
  );
}

interface LoadedPart {
  readonly reader: DuckdbReader;
  readonly table: ReadableTable;
  /** Loads it in another way. */
  readonly again: (table: ReadableTable) => Promise<ReadableTable>;
}

async function noteJson({ reader, table }: LoadedPart, limits: CallLimits): Promise<LoadNotes> {
  const { name, json, assumptions } = table;
  if (json === undefined) return { assumptions, doubts: [] };
  const parts = { table: name, ...json };
  const notes = await readJsonDateOrders(reader, parts, limits);
  await readJsonInstants(reader, parts, limits);
  return withColumnNotes(table, notes);
}

async function noteCsv(
  { reader, table: first, again }: LoadedPart,
  limits: CallLimits,
): Promise<LoadNotes> {
  const { files = [], options = {} } = first.csv ?? {};
  const csv = { table: first.name, file: files[0] ?? '', options };
  const sniffed = await sniffCsv(reader, csv, limits);
  if (sniffed === undefined) {
    const commas = await readDecimalCommas(reader, csv, limits);
    return { assumptions: [...first.assumptions, ...commas], doubts: [] };
  }
  const parts = { table: first.name, files, options, call: csvCall, sniffed };
  const orders = await readDateOrders(reader, parts, limits);
  const dated =
    orders.options === undefined
      ? first
      : await again({ ...first, call: csvCall(files, orders.options) });
  const commas = await readDecimalCommas(reader, csv, limits);
  const texts = [...describeAssumptions(csv, sniffed), ...commas];
  const assumptions = [...dated.assumptions, ...texts];
  return withColumnNotes({ ...dated, assumptions }, orders.notes);
}

function withColumnNotes(
  { name, assumptions }: ReadableTable,
  notes: readonly ColumnNote[],
): LoadNotes {
  const doubts = notes.filter(({ isDoubtful }) => isDoubtful);
  return {
    assumptions: [...assumptions, ...notes.map(({ text }) => text)],
    doubts: doubts.map(({ column, text }) => ({ table: name, column, text })),
  };
}

/** A longer one is no name of a column: the first line of the file is no header. */
const longestName = 1000;

async function requireShortNames(
  { name }: ReadableTable,
  { reader, signal }: Loading,
): Promise<void> {
  const [{ longest }] = (await reader.catalogRows(
    `SELECT max(length(column_name))::integer AS longest FROM duckdb_columns() WHERE database_name = current_database() AND table_name = ${duckdb.literal(name)}`,
    { signal },
  )) as [{ readonly longest: number }];
  if (longest <= longestName) return;
  await reader.runScript(`DROP TABLE ${duckdb.quote(name)}`, { signal });
  throw new Error(
    `its first line is no header: the name of a column would have ${longest} letters`,
  );
}

function isEncodingError(error: unknown): boolean {
  return /not utf-8 encoded|invalid unicode/i.test(errorMessage(error));
}

/** The engine's error without the line of the file that it quotes, and without its advice. */
function shortError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof UserError) return error;
  const [first = ''] = error.message.split('\n\n');
  const lines = first.split('\n').filter((line) => !line.startsWith('Original Line:'));
  return new Error(lines.join(' '));
}

function placeOf({ files: [first = '', ...others] }: FileTable): string {
  return basename(others.length === 0 ? first : dirname(first));
}

/**
 * Creates a view with the columns that the table had in the load before. Every query of it fails
 * with the reason why the files cannot be read. False if there was no such table.
 */
async function keepStructure(
  table: string,
  { message }: UserError,
  { reader, previous, signal }: Loading,
): Promise<boolean> {
  if (!existsSync(previous)) return false;
  const limits = { signal };
  const attach = `ATTACH IF NOT EXISTS ${duckdb.literal(previous)} AS previous (READ_ONLY)`;
  try {
    await reader.runScript(attach, limits);
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  }
  const columns = (await reader.catalogRows(
    `SELECT column_name AS name, data_type AS type FROM duckdb_columns() WHERE database_name = 'previous' AND table_name = ${duckdb.literal(table)} ORDER BY column_index`,
    limits,
  )) as { readonly name: string; readonly type: string }[];
  if (columns.length === 0) return false;
  const typed = columns.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${duckdb.quote(name)}`);
  // A condition also fails a count, which reads no column.
  const failing = `CAST(error(${duckdb.literal(message)}) AS BOOLEAN)`;
  await reader.runScript(
    `CREATE VIEW ${duckdb.quote(table)} AS SELECT ${typed.join(', ')} WHERE ${failing}`,
    limits,
  );
  return true;
}
