import { lstatSync, statSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readAnyText } from '../store/files.ts';

/** A file of the project by its path, and what changes when the file does. */
export interface MarkedFile {
  readonly path: string;
  readonly mark: string;
}

/** The files of a connection's semantic layer, sorted by path: one a dataset, and one for metrics that span datasets. */
export async function datasetFiles(dir: string, connection: string): Promise<readonly MarkedFile[]> {
  const paths = [...(await listFiles(dir, `semantic-layer/${connection}`, datasetFile)), spanningFile(connection)];
  return paths.map((path) => markOf(dir, path)).filter((file) => file !== undefined);
}

/** As `datasetFiles`, for who asks again and again: what has not changed is the same value, of a thousand files within 2 ms. */
export function openDatasetFiles(dir: string): (connection: string) => Promise<readonly MarkedFile[]> {
  const seen = new Map<string, { readonly info: Stats; readonly file: MarkedFile }>();
  const lists = new Map<string, readonly MarkedFile[]>();
  const fileAt = (path: string): MarkedFile | undefined => {
    const info = statSync(`${dir}/${path}`, { throwIfNoEntry: false });
    const last = seen.get(path);
    if (info === undefined || (last?.info.mtimeMs === info.mtimeMs && last.info.ino === info.ino && last.info.size === info.size)) {
      return info && last?.file;
    }
    const file = { path, mark: markFrom(info) };
    seen.set(path, { info, file });
    return file;
  };
  return async (connection) => {
    const paths = [...(await listFiles(dir, `semantic-layer/${connection}`, datasetFile)), spanningFile(connection)];
    const files = paths.map(fileAt).filter((file) => file !== undefined);
    const last = lists.get(connection);
    if (last?.length === files.length && files.every((file, index) => file === last[index])) return last;
    lists.set(connection, files);
    return files;
  };
}

const datasetFile = /^[^.].*\.ya?ml$/;

function spanningFile(connection: string): string {
  return `semantic-layer/${connection}.yaml`;
}

/** Undefined where there is no such file. Synchronous: a thousand files take 2 ms so, and 20 ms by way of the thread pool. */
export function markOf(dir: string, path: string): MarkedFile | undefined {
  const info = statSync(`${dir}/${path}`, { throwIfNoEntry: false });
  return info && { path, mark: markFrom(info) };
}

function markFrom({ mtimeMs, ino, size }: Stats): string {
  return `${mtimeMs}-${ino}-${size}`;
}

/** Keeps what was read for a key as long as its marks are the same; what failed is read again. */
export function keptByMark<Value>() {
  const known = new Map<string, { readonly marks: readonly unknown[]; readonly value: Promise<Value> }>();
  return (key: string, marks: readonly unknown[], read: () => Promise<Value>): Promise<Value> => {
    const last = known.get(key);
    if (last !== undefined && marks.every((mark, index) => mark === last.marks[index])) return last.value;
    const value = read();
    known.set(key, { marks, value });
    value.catch(() => known.delete(key));
    return value;
  };
}

/** Reads a file of a project again where it has changed; undefined where there is none. Of links only the target counts, so those always. */
export function openReader<Value>(
  make: (text: string | undefined) => Value,
  readFile = readAnyText,
): (dir: string, path: string) => Promise<Value> {
  const kept = keptByMark<Value>();
  return (dir, path) => {
    const full = join(dir, path);
    const info = lstatSync(full, { throwIfNoEntry: false });
    const read = async () => make(info && (await readFile(full, dir)));
    return info?.isSymbolicLink() === true ? read() : kept(full, [info && markFrom(info)], read);
  };
}

/** Paths of the files in a folder of the project whose names match, sorted; none where there is no folder. */
export async function listFiles(dir: string, folder: string, names: RegExp): Promise<readonly string[]> {
  const found = (await readdir(join(dir, folder)).catch(absent)) ?? [];
  return found
    .filter((name) => names.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
