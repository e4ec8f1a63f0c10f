import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortHash } from '../../../lib/hash.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { createPrivateFolder } from '../../../store/directories.ts';
import { readTextOrNothing, writeAtomically } from '../../../store/files.ts';
import { withdrawSharedRights } from '../../../store/ownership/private-files.ts';
import { fileStats } from '../../database-file.ts';
import type { OpenContext } from '../../driver.ts';
import { translateError, warehouseError } from '../../warehouse-error.ts';
import { type FileTable, readerFunction, tablesOfFiles } from './file-tables.ts';
import { type DuckdbReader, openReader } from './reader.ts';

export interface LoadedFiles {
  /** Path of the database. */
  readonly database: string;
  /** Changes when the files of the table change. */
  readonly marker: (table: string) => string | undefined;
}

/** Raise it when the same files must be loaded again because the loading changed. */
const loadVersion = 'version 1';

/** The time limit for the files of one table. */
const loadTimeoutMs = 3_600_000;

/**
 * Loads data files into `<cacheDir>/<connection>.duckdb`: one table per file, or per subfolder of
 * parts. Loads again only if names, sizes or times of the files have changed. The database is built
 * beside the old one and then renamed, so that a reader sees either the old or the new tables.
 */
export async function loadFiles(
  path: string,
  { connection, cacheDir }: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const tables = tablesOfFiles(path);
  if (tables.length === 0)
    throw warehouseError('warehouse_not_found', `${path} has no Parquet, CSV or JSON file.`);
  const database = join(cacheDir, `${connection}.duckdb`);
  const keyFile = `${database}.key`;
  const key = shortHash(
    JSON.stringify([loadVersion, path, tables.map(({ name, hash }) => [name, hash])]),
    32,
  );
  const isLoaded = existsSync(database) && readTextOrNothing(keyFile, cacheDir) === key;
  if (!isLoaded) {
    await buildDatabase(database, tables, signal);
    await writeAtomically(keyFile, key);
  }
  const hashes = new Map(tables.map(({ name, hash }) => [name, hash]));
  return { database, marker: (table) => hashes.get(table) };
}

async function buildDatabase(
  database: string,
  tables: readonly FileTable[],
  signal: AbortSignal,
): Promise<void> {
  createPrivateFolder(dirname(database));
  const unfinished = `${database}.${process.pid}.tmp`;
  try {
    const reader = openReader({
      path: unfinished,
      options: { autoinstall_known_extensions: 'false' },
      settings: [],
    });
    try {
      for (const table of tables) await loadTable(reader, table, signal);
    } finally {
      await reader.close();
    }
    withdrawSharedRights(unfinished);
    renameSync(unfinished, database);
  } finally {
    for (const leftover of [unfinished, `${unfinished}.wal`]) rmSync(leftover, { force: true });
  }
}

async function loadTable(
  reader: DuckdbReader,
  table: FileTable,
  signal: AbortSignal,
): Promise<void> {
  const { name, files } = table;
  const empty = files.find((file) => fileStats(file)?.size === 0);
  if (empty !== undefined)
    throw warehouseError('not_a_database', `${empty} could not be loaded: it has 0 bytes.`);
  const [first = name] = files;
  const place = files.length === 1 ? first : dirname(first);
  const sql = `CREATE TABLE ${duckdb.quote(name)} AS SELECT * FROM ${readerCall(first, files)}`;
  await reader
    .runScript(sql, { timeoutMs: loadTimeoutMs, signal })
    .catch(translateError([[/^/, 'not_a_database', `${place} could not be loaded`]]));
}

/** Types of CSV and JSON columns are detected from all rows, not from a sample. */
function readerCall(first: string, files: readonly string[]): string {
  const reader = readerFunction(first);
  const options = reader === 'read_parquet' ? '' : ', sample_size = -1';
  const list = files.map((file) => duckdb.literal(file)).join(', ');
  return `${reader}([${list}], union_by_name = true${options})`;
}
