import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import { readRecordedBases } from './recorded-bases.ts';
import { largestText, readText, temporaryPrefix, temporarySuffix } from '../../store/files.ts';

/** The files of one place (disk or a commit): texts by path, relative to the project, with `/`. */
export type FileTree = ReadonlyMap<string, string>;

/**
 * Reads the YAML and JSONL files in `folders`, items and wiki pages from disk. A folder may also be
 * the path of one file. With `tidy` (the caller holds the project's lock) it removes what killed
 * writes left. A file that people write and ktx cannot read gets a text that is not well-formed and
 * contains the reason; one of ktx's own files that cannot be read is an error. Claims files that a
 * killed run did not finish come as the next run will finish them.
 */
export async function readProjectFiles(
  dir: string,
  folders: readonly string[],
  { tidy = true } = {},
): Promise<FileTree> {
  const files = new Map<string, string>();
  for (const folder of folders) {
    const isFolder = statWithoutLinks(dir, folder)?.isDirectory() === true;
    if (isFolder) {
      for (const [path, text] of readFolder(dir, folder, tidy)) files.set(path, text);
      continue;
    }
    const text = await readText(join(dir, folder), dir);
    if (tidy) removeTemporaryFilesOf(join(dir, folder));
    if (text !== undefined) files.set(folder, text);
  }
  const recorded = filesIn(readRecordedBases(dir), folders);
  return recorded.size === 0 ? files : new Map([...files, ...recorded]);
}

/** Those of files that were read already that are in `folders`; a folder may also be one file. */
export function filesIn(files: FileTree, folders: readonly string[]): FileTree {
  const isIn = (path: string) =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
  return new Map([...files].filter(([path]) => isIn(path)));
}

function readFolder(dir: string, folder: string, tidy: boolean): [string, string][] {
  // Items are as deep as their source has them, and have any name.
  const hasItems = folder.startsWith('sources/');
  const pages = /\.md$/;
  const fileNames = hasItems ? /./ : folder === 'wiki' ? pages : /\.(ya?ml|jsonl)$/;
  const entries = readdirSync(join(dir, folder), { withFileTypes: true, recursive: hasItems })
    .map((entry) => {
      const path = relative(dir, join(entry.parentPath, entry.name)).replaceAll('\\', '/');
      return { path, isFile: entry.isFile(), isFolder: entry.isDirectory() };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const files: [string, string][] = [];
  for (const { path, isFile, isFolder } of entries) {
    if (hasItems && isFolder) continue;
    if (path.endsWith(temporarySuffix)) {
      if (tidy && isFile) rmSync(join(dir, path), { force: true });
    } else if (fileNames.test(path)) {
      files.push([path, isFile ? readUtf8(dir, path) : unreadableText(join(dir, path), notAFile)]);
    }
  }
  return files;
}

/** Removes what killed writes of this one file left beside it. */
function removeTemporaryFilesOf(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) return;
  const prefix = temporaryPrefix(file);
  const temporaryFiles = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() && entry.name.startsWith(prefix) && entry.name.endsWith(temporarySuffix),
  );
  for (const { name } of temporaryFiles) rmSync(join(folder, name), { force: true });
}

/**
 * The file information of the path; throws if it leads through a symbolic link, since git keeps
 * nothing behind one.
 */
function statWithoutLinks(dir: string, path: string) {
  const steps = path.split('/').map((_, index, names) => join(dir, ...names.slice(0, index + 1)));
  const stats = steps.map((step) => [step, lstatSync(step, { throwIfNoEntry: false })] as const);
  const [link] = stats.find(([, stat]) => stat?.isSymbolicLink()) ?? [];
  if (link === undefined) return stats.at(-1)?.[1];
  throw new UserError(
    'path_is_link',
    `${link} is a symbolic link, and git keeps nothing behind one.`,
    { hint: 'Replace the link by the folder or file that it leads to.', exitCode: 2 },
  );
}

const notAFile = new Error('it is a link, a folder or the like');

/**
 * The text of a file. If it cannot be read: an error for a JSONL file, for others a lone surrogate
 * and the reason.
 */
function readUtf8(dir: string, path: string): string {
  try {
    const found = readConfinedFileSync(join(dir, path), { within: dir, maxBytes: largestText });
    if (found.kind !== 'read')
      throw new Error(found.kind === 'missing' ? 'it is gone' : found.reason);
    if (!isUtf8(found.bytes)) throw new Error(encodingFault(found.bytes));
    return found.bytes.toString('utf8');
  } catch (error) {
    return unreadableText(join(dir, path), error);
  }
}

/** Editors and shells of Windows write UTF-16. */
function encodingFault(bytes: Buffer): string {
  const isWide = ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));
  return isWide ? 'it is UTF-16, and ktx reads UTF-8' : 'it is not valid UTF-8';
}

function unreadableText(file: string, cause: unknown): string {
  if (!file.endsWith('.jsonl')) return `\uD800${errorMessage(cause)}`;
  const hint = 'Restore it from git, or save it as UTF-8 if that is all that is wrong with it.';
  throw new UserError('file_unreadable', `${file}: ${errorMessage(cause)}.`, { hint, cause });
}

export function isSameTree(a: FileTree, b: FileTree): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}
