import { existsSync, globSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { coarseGlobs, matchesGlob } from '../../../../lib/patterns/glob.ts';
import { isInside } from '../../../../store/confined-file.ts';
import { fileFingerprint, fileStats } from '../../../database-file.ts';
import { warehouseError } from '../../../warehouse-error.ts';
import { type FileOptions, type FilesConfig, optionsOfFile } from './file-options.ts';

type FileFormat = 'parquet' | 'csv' | 'json' | 'workbook' | 'archive';

const formats: readonly (readonly [RegExp, FileFormat])[] = [
  [/\.parquet$/i, 'parquet'],
  [/\.(csv|tsv)(\.gz|\.zst)?$/i, 'csv'],
  [/\.(json|jsonl|ndjson)(\.gz|\.zst)?$/i, 'json'],
  [/\.xlsx$/i, 'workbook'],
  [/\.zip$/i, 'archive'],
];
const extensionPattern = /\.(\w+)(\.gz|\.zst|\.zip)?$/i;
/** Formats of which each file is a container of tables. */
const containers: readonly (FileFormat | undefined)[] = ['workbook', 'archive'];
/** A folder of partitions, as in `year=2024/month=1`. */
const partitionPattern = /^[^=]+=/;

/** A table and the files that hold its rows. */
export interface FileTable {
  readonly name: string;
  readonly files: readonly string[];
  readonly format: FileFormat;
  readonly options: FileOptions;
  /** Changes when one of the files or an option changes. */
  readonly hash: string;
}

export function isGlob(path: string): boolean {
  return /[*?[{]/.test(path);
}

/** True for a file that DuckDB reads as a table rather than as a database. */
export function isTableFile(path: string): boolean {
  return formatOf(path) !== undefined;
}

export function formatOf(path: string): FileFormat | undefined {
  return formats.find(([pattern]) => pattern.test(path))?.[1];
}

/**
 * One table per file directly in the folder, one per subfolder and format, and one per workbook or
 * archive, whose sheets or members are told apart when it is read. Tables that would have the same
 * name get the file extension as a suffix: `orders_csv`.
 */
export function tablesOfFiles(path: string, config?: FilesConfig): FileTable[] {
  const { base, files } = findFiles(path);
  const nameOf = (file: string): string => tableName(base, file);
  const isPart = (file: string): boolean =>
    relative(base, file).includes(sep) && !containers.includes(formatOf(file));
  const groups = Map.groupBy(files.sort(), (file) =>
    isPart(file) ? `${nameOf(file)} ${formatOf(file)}` : file,
  );
  const byName = Map.groupBy(groups.values(), ([first = '']) => nameOf(first).toLowerCase());
  return [...groups.values()].map((group) => {
    const [first = ''] = group;
    const isUnique = byName.get(nameOf(first).toLowerCase())?.length === 1;
    const suffix = isUnique ? '' : `_${extensionPattern.exec(first)?.[1]}`;
    const options = optionsOfFile(relative(base, first).split(sep).join('/'), config);
    return {
      name: `${nameOf(first)}${suffix}`,
      files: group,
      format: formatOf(first) ?? 'csv',
      options,
      hash: fileFingerprint(group, JSON.stringify(options)),
    };
  });
}

/** The subfolder's name, or the file's name without its extension. */
function tableName(base: string, file: string): string {
  if (containers.includes(formatOf(file))) return basename(file).replace(extensionPattern, '');
  const [first = '', ...rest] = relative(base, file).split(sep);
  if (rest.length > 0 && partitionPattern.test(first)) return basename(base);
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
