import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readText, removeFile, temporarySuffix } from '../store/files.ts';

/** Files by path relative to the project, with `/`, as one place (disk, a commit) has them. */
export type FileView = ReadonlyMap<string, string>;

/**
 * The YAML and JSONL files in `folders` (or the files that they name) on disk, exactly as they are. What a killed write left
 * behind is removed; the caller holds the project's lock.
 */
export async function readProjectFiles(dir: string, folders: readonly string[]): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const listed = await Promise.all(folders.map((folder) => listFolder(dir, folder)));
  for (const path of listed.flat()) {
    const text = path.endsWith(temporarySuffix) ? await removeFile(join(dir, path), dir) : await readText(join(dir, path), dir);
    if (text !== undefined) files.set(path, text);
  }
  return files;
}

async function listFolder(dir: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch(notAFolder);
  if (entries === undefined) return [folder];
  const isOurs = (name: string) => /\.(ya?ml|jsonl)$/.test(name) || name.endsWith(temporarySuffix);
  return entries.filter((entry) => !entry.isDirectory() && isOurs(entry.name)).map(({ name }) => `${folder}/${name}`);
}

export function sameView(a: FileView, b: FileView): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

function notAFolder(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
