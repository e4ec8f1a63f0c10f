import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { shortHash } from '../../../../lib/hash.ts';
import { parseJson } from '../../../../lib/json.ts';
import { createPrivateFolder } from '../../../../store/directories.ts';
import { readTextOrNothing, writeAtomically } from '../../../../store/files.ts';
import { withdrawSharedRights } from '../../../../store/ownership/private-files.ts';
import type { DoubtfulColumn, OpenContext } from '../../../driver.ts';
import { warehouseError } from '../../../warehouse-error.ts';
import type { UnreadFile } from '../../../warehouse.ts';
import { openReader } from '../reader.ts';
import type { FilesConfig } from './file-options.ts';
import { type FileTable, tablesOfFiles } from './file-tables.ts';
import { loadTables } from './load-tables.ts';

export interface LoadedFiles {
  /** Path of the database. */
  readonly database: string;
  /** Changes when the files of the table change. */
  readonly marker: (table: string) => string | undefined;
  /** As in `WarehouseSchema`. */
  readonly unreadFiles: readonly UnreadFile[];
  readonly assumptions: readonly string[];
  /** As in `DriverSession`. */
  readonly doubts: readonly DoubtfulColumn[];
  /** Tables of an earlier load whose files cannot be read now. */
  readonly unreadTables: ReadonlySet<string>;
}

/** Raise it when the same files must be loaded again because the loading changed. */
const loadVersion = 'version 3';

/** What a load left, beside its database. */
const loadRecordSchema = z.object({
  key: z.string(),
  hashes: z.record(z.string(), z.string()),
  unreadFiles: z.array(z.object({ table: z.string(), reason: z.string() })),
  unreadTables: z.array(z.string()),
  assumptions: z.array(z.string()),
  doubts: z.array(z.object({ table: z.string(), column: z.string(), text: z.string() })),
});
type LoadRecord = z.infer<typeof loadRecordSchema>;

/**
 * Loads data files into `<cacheDir>/<connection>.duckdb`: one table per file, or per subfolder of
 * parts. Loads again only if names, sizes or times of the files, or their options, have changed.
 * The database is built beside the old one and then renamed, so that a reader sees either the old
 * or the new tables. A file that cannot be read is set aside: its table of an earlier load stays,
 * and says so when it is queried. Throws if no file can be read.
 */
export async function loadFiles(
  { path, files }: { readonly path: string; readonly files: FilesConfig | undefined },
  { connection, cacheDir, projectDir }: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const tables = tablesOfFiles(path, files);
  if (tables.length === 0)
    throw warehouseError('warehouse_not_found', `${path} has no Parquet, CSV, JSON or Excel file.`);
  const database = join(cacheDir, `${connection}.duckdb`);
  const keyFile = `${database}.key`;
  const key = shortHash(
    JSON.stringify([loadVersion, path, tables.map(({ name, hash }) => [name, hash])]),
    32,
  );
  const text = existsSync(database) ? readTextOrNothing(keyFile, cacheDir) : undefined;
  const known = text === undefined ? undefined : readRecord(text);
  const record =
    known?.key === key
      ? known
      : { key, ...(await buildDatabase({ database, tables, projectDir }, signal)) };
  if (record !== known) await writeAtomically(keyFile, JSON.stringify(record));
  return {
    ...record,
    database,
    marker: (table) => record.hashes[table],
    unreadTables: new Set(record.unreadTables),
  };
}

function readRecord(text: string): LoadRecord | undefined {
  try {
    return loadRecordSchema.safeParse(parseJson(text)).data;
  } catch {
    // Written by an earlier version.
    return undefined;
  }
}

interface DatabaseToBuild {
  readonly database: string;
  readonly tables: readonly FileTable[];
  readonly projectDir: string;
}

async function buildDatabase(
  { database, tables, projectDir }: DatabaseToBuild,
  signal: AbortSignal,
): Promise<Omit<LoadRecord, 'key'>> {
  createPrivateFolder(dirname(database));
  const unfinished = `${database}.${process.pid}.tmp`;
  const folder = mkdtempSync(`${database}.files-`);
  try {
    const reader = openReader({
      path: unfinished,
      options: { autoinstall_known_extensions: 'false' },
      settings: [],
    });
    let loaded;
    try {
      const loading = { reader, folder, previous: database, projectDir, signal };
      loaded = await loadTables(tables, loading);
    } finally {
      await reader.close();
    }
    withdrawSharedRights(unfinished);
    renameSync(unfinished, database);
    return loaded;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    for (const leftover of [unfinished, `${unfinished}.wal`]) rmSync(leftover, { force: true });
  }
}
