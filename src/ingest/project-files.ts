import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, readAnyText, readText, removeFile, temporarySuffix } from '../store/files.ts';

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
    // What people write is left alone where it cannot be read; in a file of ktx's own that is a failure.
    const read = /\.ya?ml$/.test(path) ? readAnyText : readText;
    const text = path.endsWith(temporarySuffix) ? await removeFile(join(dir, path), dir) : await read(join(dir, path), dir);
    if (text !== undefined) files.set(path, text);
  }
  return files;
}

async function listFolder(dir: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(dir, folder), { withFileTypes: true }).catch(absent);
  if (entries === undefined) return [folder];
  const isOurs = (name: string) => /\.(ya?ml|jsonl)$/.test(name) || name.endsWith(temporarySuffix);
  return entries.filter((entry) => !entry.isDirectory() && isOurs(entry.name)).map(({ name }) => `${folder}/${name}`);
}

export function sameView(a: FileView, b: FileView): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}
