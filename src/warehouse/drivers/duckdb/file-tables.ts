import { existsSync, globSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { coarseGlobs, matchesGlob } from '../../../lib/patterns/glob.ts';
import { isInside } from '../../../store/confined-file.ts';
import { fileFingerprint, fileStats } from '../../database-file.ts';
import { warehouseError } from '../../warehouse-error.ts';

/** DuckDB's table function for a file, by its name. */
const readers: readonly (readonly [RegExp, string])[] = [
  [/\.parquet$/i, 'read_parquet'],
  [/\.(csv|tsv)(\.gz|\.zst)?$/i, 'read_csv'],
  [/\.(json|jsonl|ndjson)(\.gz|\.zst)?$/i, 'read_json'],
];
const extensionPattern = /\.(\w+)(\.gz|\.zst)?$/i;

/** A table and the files that hold its rows. */
export interface FileTable {
  readonly name: string;
  readonly files: readonly string[];
  /** Changes when one of the files changes. */
  readonly hash: string;
}

export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** True for a file that DuckDB reads as a table rather than as a database. */
export function isTableFile(path: string): boolean {
  return readerFunction(path) !== undefined;
}

export function readerFunction(path: string): string | undefined {
  return readers.find(([pattern]) => pattern.test(path))?.[1];
}

/**
 * One table per file directly in the folder, and one per subfolder and format. Tables that would
 * have the same name get the file extension as a suffix: `orders_csv`.
 */
export function tablesOfFiles(path: string): FileTable[] {
  const { base, files } = findFiles(path);
  const nameOf = (file: string): string => tableName(base, file);
  const isInSubfolder = (file: string): boolean => relative(base, file).includes(sep);
  const groups = Map.groupBy(files.sort(), (file) =>
    isInSubfolder(file) ? `${nameOf(file)} ${readerFunction(file)}` : file,
  );
  const byName = Map.groupBy(groups.values(), ([first = '']) => nameOf(first).toLowerCase());
  return [...groups.values()].map((group) => {
    const [first = ''] = group;
    const isUnique = byName.get(nameOf(first).toLowerCase())?.length === 1;
    const suffix = isUnique ? '' : `_${extensionPattern.exec(first)?.[1]}`;
    return { name: `${nameOf(first)}${suffix}`, files: group, hash: fileFingerprint(group) };
  });
}

/** The subfolder's name, or the file's name without its extension. */
function tableName(base: string, file: string): string {
  const [first = '', ...rest] = relative(base, file).split(sep);
  return rest.length === 0 ? first.replace(extensionPattern, '') : first;
}

/**
 * The data files of a file, a folder or a glob, and the folder from which tables get their names.
 */
function findFiles(path: string): { base: string; files: string[] } {
  const stats = fileStats(path);
  if (stats?.isFile() === true) return { base: dirname(path), files: [path] };
  const isPattern = stats === undefined;
  const base = isPattern ? folderBeforeGlob(path) : path;
  const pattern = isPattern ? relative(base, path) : '**/*';
  const listed = coarseGlobs(pattern).flatMap((coarse) =>
    globSync(coarse, { cwd: base, exclude: isIgnored }),
  );
  const files = [...new Set(listed)]
    .filter((file) => matchesGlob(file.split(sep).join('/'), pattern))
    .map((file) => join(base, file));
  const isDataFile = (file: string): boolean =>
    isTableFile(file) && !isIgnored(file) && fileStats(file)?.isFile() === true;
  const dataFiles = files.filter(isDataFile);
  requireInside(dataFiles, base);
  return { base, files: dataFiles };
}

/** A link in a folder of data must not make another file of this machine a table. */
function requireInside(files: readonly string[], base: string): void {
  const root = existsSync(base) ? realpathSync.native(base) : base;
  const link = files.find((file) => !isInside(realpathSync.native(file), root));
  if (link === undefined) return;
  throw warehouseError('path_outside_project', `${link} is a link that leads out of ${base}.`);
}

function folderBeforeGlob(path: string): string {
  const parts = path.split(sep);
  return parts.slice(0, parts.findIndex(isGlob)).join(sep) || sep;
}

function isIgnored(path: string): boolean {
  return basename(path).startsWith('.') || basename(path) === 'node_modules';
}
