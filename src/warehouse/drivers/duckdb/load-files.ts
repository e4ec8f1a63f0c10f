import { DuckDBInstance } from '@duckdb/node-api';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { shortHash } from '../../../lib/hash.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { writeAtomically } from '../../../store/files.ts';
import { largestNumber, type OpenContext, withinLimits } from '../../driver.ts';
import { explaining, failure } from '../../failure.ts';
import { fileMark, statsOf } from '../../database-file.ts';

const readers: readonly (readonly [RegExp, string])[] = [
  [/\.parquet$/i, 'read_parquet'],
  [/\.(csv|tsv)(\.gz|\.zst)?$/i, 'read_csv'],
  [/\.(json|jsonl|ndjson)(\.gz|\.zst)?$/i, 'read_json'],
];
const extension = /\.(\w+)(\.gz|\.zst)?$/i;

export interface LoadedFiles {
  readonly database: string;
  /** Changes with the files of the table. */
  readonly marker: (table: string) => string | undefined;
}

type SourceTable = ReturnType<typeof sourceTables>[number];

export function isPattern(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** True for a file that DuckDB reads as a table rather than as a database. */
export function isTableFile(path: string): boolean {
  return readerOf(path) !== undefined;
}

/**
 * One table a file, or a subfolder of parts, in `<cacheDir>/<connection>.duckdb`. Built beside it and renamed, so that a reader sees
 * the old or the new tables; built only where names, sizes or times of the files differ from the last load.
 */
export async function loadFiles(
  path: string,
  { connection, cacheDir }: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const tables = sourceTables(path);
  if (tables.length === 0)
    throw failure('warehouse_not_found', `${path} has no Parquet, CSV or JSON file.`);
  const database = join(cacheDir, `${connection}.duckdb`);
  const keyFile = `${database}.key`;
  // Another version of the loading makes other tables.
  const key = shortHash(
    JSON.stringify(['version 1', path, tables.map(({ name, hash }) => [name, hash])]),
    32,
  );
  if (!existsSync(database) || !existsSync(keyFile) || readFileSync(keyFile, 'utf8') !== key) {
    await build(database, tables, signal);
    await writeAtomically(keyFile, key);
  }
  const hashes = new Map(tables.map(({ name, hash }) => [name, hash]));
  return { database, marker: (table) => hashes.get(table) };
}

async function build(
  database: string,
  tables: readonly SourceTable[],
  signal: AbortSignal,
): Promise<void> {
  mkdirSync(dirname(database), { recursive: true });
  const unfinished = `${database}.${process.pid}.tmp`;
  try {
    const instance = await DuckDBInstance.create(unfinished, {
      autoinstall_known_extensions: 'false',
    });
    try {
      for (const table of tables) await loadTable(instance, table, signal);
    } finally {
      instance.closeSync();
    }
    renameSync(unfinished, database);
  } finally {
    for (const leftover of [unfinished, `${unfinished}.wal`]) rmSync(leftover, { force: true });
  }
}

async function loadTable(
  instance: DuckDBInstance,
  { name, files }: SourceTable,
  signal: AbortSignal,
): Promise<void> {
  const [first = name] = files;
  const empty = files.find((file) => statsOf(file)?.size === 0);
  if (empty !== undefined)
    throw failure('not_a_database', `${empty} could not be loaded: it has 0 bytes.`);
  const reader = readerOf(first);
  const options = reader === 'read_parquet' ? '' : ', sample_size = -1';
  const source = `${reader}([${files.map((file) => duckdb.literal(file)).join(', ')}], union_by_name = true${options})`;
  const connection = await instance.connect();
  const limits = { timeoutMs: largestNumber, signal, cancel: () => connection.interrupt() };
  await withinLimits(limits, () =>
    connection.run(`CREATE TABLE ${duckdb.quote(name)} AS SELECT * FROM ${source}`),
  )
    .catch(
      explaining([
        [
          /^/,
          'not_a_database',
          `${files.length === 1 ? first : dirname(first)} could not be loaded`,
        ],
      ]),
    )
    .finally(() => connection.closeSync());
}

/** Tables that would share a name get the extension of their files as well. */
function sourceTables(path: string) {
  const { base, files } = matchingFiles(path);
  const partsOf = (file: string): string[] => relative(base, file).split(sep);
  const nameOf = (file: string): string =>
    partsOf(file)[0]?.replace(partsOf(file).length === 1 ? extension : '', '') ?? '';
  const groups = Map.groupBy(files.sort(), (file) =>
    partsOf(file).length === 1 ? file : `${nameOf(file)} ${readerOf(file)}`,
  );
  const uses = Map.groupBy(groups.values(), ([first = '']) => nameOf(first).toLowerCase());
  return [...groups.values()].map((own) => {
    const [first = ''] = own;
    const suffix =
      uses.get(nameOf(first).toLowerCase())?.length === 1 ? '' : `_${extension.exec(first)?.[1]}`;
    return { name: `${nameOf(first)}${suffix}`, files: own, hash: fileMark(own) };
  });
}

function matchingFiles(path: string): { base: string; files: string[] } {
  const stats = statsOf(path);
  if (stats?.isFile() === true) return { base: dirname(path), files: [path] };
  const parts = path.split(sep);
  const base =
    stats === undefined ? parts.slice(0, parts.findIndex(isPattern)).join(sep) || sep : path;
  const found = globSync(stats === undefined ? relative(base, path) : '**/*', {
    cwd: base,
    exclude: isHidden,
  });
  const files = found.map((file) => join(base, file));
  return {
    base,
    files: files.filter(
      (file) => isTableFile(file) && !isHidden(file) && statsOf(file)?.isFile() === true,
    ),
  };
}

function isHidden(path: string): boolean {
  return basename(path).startsWith('.') || basename(path) === 'node_modules';
}

function readerOf(path: string): string | undefined {
  return readers.find(([pattern]) => pattern.test(path))?.[1];
}
