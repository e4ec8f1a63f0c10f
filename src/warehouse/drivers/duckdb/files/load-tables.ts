import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorMessage, UserError } from '../../../../lib/error.ts';
import { duckdb } from '../../../../sql/dialects/duckdb.ts';
import type { CallLimits } from '../../../time-limit.ts';
import { translateError, warehouseError } from '../../../warehouse-error.ts';
import type { DuckdbReader } from '../reader.ts';
import { describeAssumptions, readDecimalCommas } from './csv-assumptions.ts';
import type { FileTable } from './file-tables.ts';
import { type ReadableTable, readableTables, withEncoding } from './readable-tables.ts';

interface Loading {
  readonly reader: DuckdbReader;
  /** An empty folder for files that have to be written in another form first. */
  readonly folder: string;
  /** Path of the database of the load before; it may be missing. */
  readonly previous: string;
  readonly signal: AbortSignal;
}

/** The time limit for the files of one table. */
const loadTimeoutMs = 3_600_000;

/** What was loaded: the hashes by table, and what stands in `LoadedFiles`. */
export async function loadTables(tables: readonly FileTable[], loading: Loading) {
  const hashes: Record<string, string> = {};
  const failures: { readonly table: FileTable; readonly error: UserError }[] = [];
  const assumptions: string[] = [];
  for (const table of tables) {
    hashes[table.name] = table.hash;
    try {
      const loaded = await loadTable(table, loading);
      if (loaded.names.length > 0) delete hashes[table.name];
      for (const name of loaded.names) hashes[name] = table.hash;
      assumptions.push(...loaded.assumptions.map((text) => `${placeOf(table)} ${text}`));
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
  return { hashes, unreadFiles, unreadTables, assumptions };
}

/** Names of the loaded tables: a workbook may have several. */
async function loadTable(table: FileTable, loading: Loading) {
  const { signal, folder } = loading;
  const [first = ''] = table.files;
  const files = table.files.filter((file) => statSync(file).size > 0);
  if (files.length === 0)
    throw warehouseError('not_a_database', `${first} could not be loaded: it has 0 bytes.`);
  const empty = table.files.filter((file) => !files.includes(file)).map((file) => basename(file));
  const place = table.files.length === 1 ? first : dirname(first);
  const fail = translateError([[/^/, 'not_a_database', `${place} could not be loaded`]]);
  const assumptions = empty.length === 0 ? [] : [`has empty parts: ${empty.join(', ')}`];
  const parts = await readableTables({ ...table, files }, folder, signal).catch(fail);
  if (parts.length === 0) assumptions.push('has no data file and was left out');
  for (const part of parts) assumptions.push(...(await loadPart(part, loading, fail)));
  return { names: parts.map(({ name }) => name), assumptions };
}

async function loadPart(
  part: ReadableTable,
  loading: Loading,
  fail: (error: unknown) => never,
): Promise<readonly string[]> {
  const { reader, folder, signal } = loading;
  const limits: CallLimits = { timeoutMs: loadTimeoutMs, signal };
  const create = ({ name, call }: ReadableTable) =>
    reader.runScript(`CREATE TABLE ${duckdb.quote(name)} AS SELECT * FROM ${call}`, limits);
  const loaded = await create(part).then(
    () => part,
    async (error: unknown) => {
      if (part.csv === undefined || !isEncodingError(error)) return fail(shortError(error));
      const decoded = await withEncoding(part, folder, signal).catch(fail);
      await create(decoded).catch((again: unknown) => fail(shortError(again)));
      return decoded;
    },
  );
  await requireShortNames(loaded, loading).catch(fail);
  if (loaded.csv === undefined) return loaded.assumptions;
  const [file = ''] = loaded.csv.files;
  const csv = { table: loaded.name, file, options: loaded.csv.options };
  return [
    ...loaded.assumptions,
    ...(await describeAssumptions(reader, csv, limits)),
    ...(await readDecimalCommas(reader, csv, limits).catch(fail)),
  ];
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
