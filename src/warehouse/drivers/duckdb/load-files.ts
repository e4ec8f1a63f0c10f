import { DuckDBInstance } from '@duckdb/node-api';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { messageOf, type UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { failure } from '../../failure.ts';
import { writeAtomically } from '../../../store/files.ts';

const readers: Readonly<Record<string, string>> = {
  '.parquet': 'read_parquet',
  '.csv': 'read_csv',
  '.tsv': 'read_csv',
  '.json': 'read_json',
  '.jsonl': 'read_json',
  '.ndjson': 'read_json',
};
/** Goes into the key of a load: another version of the loading makes other tables. */
const loadVersion = 1;

export interface LoadedFiles {
  readonly database: string;
  /** Changes with the files of the table. */
  readonly marker: (table: string) => string | undefined;
}

interface SourceTable {
  readonly name: string;
  readonly reader: string;
  readonly files: readonly string[];
  /** Of the files' names, sizes and times. */
  readonly hash: string;
}

/** True for a folder, a glob or a file that DuckDB reads as a table rather than as a database. */
export function isTableFiles(path: string): boolean {
  return /[*?[{]/.test(path) ? !existsSync(path) || isFolder(path) : isFolder(path) || readerOf(path) !== undefined;
}

/**
 * One table a file, or a subfolder of parts, in `<cacheDir>/<connection>.duckdb`. Built beside it and renamed, so that a reader sees
 * the old or the new tables; built only where names, sizes or times of the files differ from the last load.
 */
export async function loadFiles(path: string, { connection, cacheDir }: { connection: string; cacheDir: string }): Promise<LoadedFiles> {
  const tables = sourceTables(path);
  if (tables.length === 0) {
    throw failure('warehouse_not_found', `${path} has no Parquet, CSV or JSON file.`);
  }
  const database = join(cacheDir, `${connection}.duckdb`);
  const keyFile = `${database}.key`;
  const key = shortHash(JSON.stringify([loadVersion, path, tables.map(({ name, hash }) => [name, hash])]), 32);
  if (!existsSync(database) || !existsSync(keyFile) || readFileSync(keyFile, 'utf8') !== key) {
    await build(database, tables);
    await writeAtomically(keyFile, key);
  }
  const hashes = new Map(tables.map(({ name, hash }) => [name, hash]));
  return { database, marker: (table) => hashes.get(table) };
}

async function build(database: string, tables: readonly SourceTable[]): Promise<void> {
  mkdirSync(dirname(database), { recursive: true });
  const unfinished = `${database}.${process.pid}.tmp`;
  try {
    const instance = await DuckDBInstance.create(unfinished, { autoinstall_known_extensions: 'false' });
    try {
      for (const table of tables) await loadTable(instance, table);
    } finally {
      instance.closeSync();
    }
    renameSync(unfinished, database);
  } finally {
    for (const leftover of [unfinished, `${unfinished}.wal`]) rmSync(leftover, { force: true });
  }
}

async function loadTable(instance: DuckDBInstance, { name, reader, files }: SourceTable): Promise<void> {
  const empty = files.find((file) => statSync(file).size === 0);
  if (empty !== undefined) throw unreadable(empty, 'it has 0 bytes');
  const list = files.map((file) => duckdb.literal(file)).join(', ');
  const options = { read_csv: ', sample_size = -1', read_json: ', sample_size = -1' }[reader] ?? '';
  const together = files.length > 1 ? ', union_by_name = true' : '';
  const connection = await instance.connect();
  try {
    await connection.run(`CREATE TABLE ${duckdb.quote(name)} AS SELECT * FROM ${reader}([${list}]${options}${together})`);
  } catch (error) {
    throw unreadable(files.length === 1 ? (files[0] ?? name) : dirname(files[0] ?? name), messageOf(error).split('\n')[0] ?? '');
  } finally {
    connection.closeSync();
  }
}

function unreadable(file: string, reason: string): UserError {
  return failure('not_a_database', `${file} could not be loaded: ${reason}.`, {
    hint: 'Repair or remove the file, or point the connection to others.',
  });
}

function sourceTables(path: string): SourceTable[] {
  const { base, files } = matchingFiles(path);
  const grouped = Map.groupBy(files.sort(), (file) => {
    const [first = file, ...rest] = relative(base, file).split(sep);
    return JSON.stringify([rest.length === 0 ? stem(first) : first, readerOf(file), rest.length === 0 ? first : '']);
  });
  const groups = [...grouped].map(([key, own]) => ({ name: (JSON.parse(key) as string[])[0] ?? key, own }));
  const uses = Map.groupBy(groups, ({ name }) => name.toLowerCase());
  return groups.map(({ name, own }) => {
    const first = own[0] ?? name;
    const isAlone = uses.get(name.toLowerCase())?.length === 1;
    return {
      name: isAlone ? name : `${name}_${extname(plainName(first)).slice(1)}`,
      reader: readerOf(first) ?? '',
      files: own,
      hash: shortHash(own.map((file) => fileMark(file)).join('\n')),
    };
  });
}

function matchingFiles(path: string): { base: string; files: string[] } {
  if (isFolder(path))
    return {
      base: path,
      files: globSync('**/*', { cwd: path, exclude: isHidden })
        .map((file) => join(path, file))
        .filter(isDataFile),
    };
  if (!/[*?[{]/.test(path)) return { base: dirname(path), files: isDataFile(path) ? [path] : [] };
  const parts = path.split(sep);
  const base =
    parts
      .slice(
        0,
        parts.findIndex((part) => /[*?[{]/.test(part)),
      )
      .join(sep) || sep;
  return {
    base,
    files: globSync(path)
      .map((file) => resolve(file))
      .filter(isDataFile),
  };
}

function isDataFile(path: string): boolean {
  return readerOf(path) !== undefined && !isHidden(path) && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);
}

function isHidden(name: string): boolean {
  return basename(name).startsWith('.') || basename(name) === 'node_modules';
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readerOf(path: string): string | undefined {
  return readers[extname(plainName(path)).toLowerCase()];
}

/** Without the suffix of a compression that DuckDB reads through. */
function plainName(path: string): string {
  return path.replace(/\.(gz|zst)$/i, '');
}

function stem(file: string): string {
  return basename(plainName(file), extname(plainName(file)));
}

function fileMark(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${path}:${size}:${mtimeMs}`;
}
