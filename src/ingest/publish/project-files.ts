import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { errorMessage, UserError } from '../../lib/error.ts';
import { readText, temporarySuffix } from '../../store/files.ts';

/** Files by path relative to the project, with `/`, as one place (disk, a commit) has them. */
export type FileTree = ReadonlyMap<string, string>;

/**
 * The YAML and JSONL files in `folders` (or the files that they name), items and wiki pages on disk, exactly as they are. What a killed write left
 * behind is removed (`tidy`); the caller holds the project's lock then. A file that people write and ktx cannot read is a text that is not
 * well-formed and goes on with the reason; one of ktx's own that cannot be read is a failure.
 */
export async function readProjectFiles(
  dir: string,
  folders: readonly string[],
  { tidy = true } = {},
): Promise<FileTree> {
  const files = new Map<string, string>();
  for (const folder of folders) {
    const isFolder = requireNoLink(dir, folder)?.isDirectory() === true;
    const text = isFolder ? undefined : await readText(join(dir, folder), dir);
    if (!isFolder && tidy) tidyBeside(join(dir, folder));
    if (text !== undefined) files.set(folder, text);
    // Items lie as deep as their source has them, and have any name.
    const [recursive, names] = folder.startsWith('sources/')
      ? [true, /./]
      : [false, folder === 'wiki' ? /\.md$/ : /\.(ya?ml|jsonl)$/];
    const entries = isFolder
      ? readdirSync(join(dir, folder), { withFileTypes: true, recursive })
      : [];
    const found = entries.map(
      (entry) =>
        [relative(dir, join(entry.parentPath, entry.name)).replaceAll('\\', '/'), entry] as const,
    );
    for (const [path, entry] of found.sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (recursive && entry.isDirectory()) continue;
      if (path.endsWith(temporarySuffix)) rmTemporary(join(dir, path), tidy && entry.isFile());
      else if (names.test(path)) files.set(path, plainText(join(dir, path), entry.isFile()));
    }
  }
  return files;
}

/** Removes what a killed write of this one file left. */
function tidyBeside(file: string): void {
  const [folder, start] = [dirname(file), `.${basename(file)}.`];
  if (!existsSync(folder)) return;
  const left = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => name.startsWith(start) && name.endsWith(temporarySuffix),
  );
  for (const entry of left) rmTemporary(join(folder, entry.name), entry.isFile());
}

function rmTemporary(file: string, isDue: boolean): void {
  if (isDue) rmSync(file, { force: true });
}

/** Git keeps nothing behind a link. */
function requireNoLink(dir: string, path: string) {
  const steps = path.split('/').map((_, index, names) => join(dir, ...names.slice(0, index + 1)));
  const found = steps.map((step) => [step, lstatSync(step, { throwIfNoEntry: false })] as const);
  const [link] = found.find(([, info]) => info?.isSymbolicLink()) ?? [];
  if (link === undefined) return found.at(-1)?.[1];
  const hint = 'Put what it leads to in its place.';
  throw new UserError(
    'path_is_link',
    `${link} is a symbolic link, and git keeps nothing behind one.`,
    { hint, exitCode: 2 },
  );
}

function plainText(file: string, isFile: boolean): string {
  try {
    if (!isFile) throw new Error('it is a link, a folder or the like');
    const bytes = readFileSync(file);
    if (!isUtf8(bytes)) throw new Error('it is not valid UTF-8');
    return bytes.toString('utf8');
  } catch (error) {
    if (!file.endsWith('.jsonl')) return `\uD800${errorMessage(error)}`;
    const hint = 'Move it away, or restore it from git.';
    throw new UserError('file_unreadable', `${file}: ${errorMessage(error)}.`, {
      hint,
      cause: error,
    });
  }
}

export function isSameTree(a: FileTree, b: FileTree): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}
