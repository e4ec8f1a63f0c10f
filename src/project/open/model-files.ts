import { lstatSync, statSync, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readAnyText } from '../../store/files.ts';

/** A file of the project by its path, and what changes when the file does. */
export interface StampedFile {
  readonly path: string;
  readonly mark: string;
}

/** The files of a connection's semantic layer, sorted by path: one a dataset, and one for metrics that span datasets. */
export async function listDatasetFiles(
  dir: string,
  connection: string,
): Promise<readonly StampedFile[]> {
  const paths = [
    ...(await listFiles(dir, `semantic-layer/${connection}`, datasetFile)),
    spanningFile(connection),
  ];
  return paths.map((path) => fileStamp(dir, path)).filter((file) => file !== undefined);
}

/** A file that is asked for again and again, by its full path, and how it was the last time. */
interface Watched {
  readonly path: string;
  readonly full: string;
  info: Stats | undefined;
  file: StampedFile | undefined;
}

/** As `datasetFiles`, for who asks again and again: what has not changed is the same value, of a thousand files within 2 ms. */
export function watchDatasetFiles(
  dir: string,
): (connection: string) => Promise<readonly StampedFile[]> {
  const seen = new Map<string, Watched>();
  const listings = new Map<
    string,
    { readonly names: readonly string[]; readonly watched: readonly Watched[] }
  >();
  const lists = new Map<string, readonly StampedFile[]>();
  const watch = (path: string): Watched => {
    const one = seen.get(path) ?? {
      path,
      full: `${dir}/${path}`,
      info: undefined,
      file: undefined,
    };
    seen.set(path, one);
    return one;
  };
  return async (connection) => {
    const folder = `semantic-layer/${connection}`;
    const names = await namesIn(dir, folder);
    let listing = listings.get(connection);
    if (
      listing?.names.length !== names.length ||
      names.some((name, index) => name !== listing?.names[index])
    ) {
      const watched = [...pathsOf(folder, names, datasetFile), spanningFile(connection)].map(watch);
      listings.set(connection, (listing = { names, watched }));
    }
    const files = listing.watched.map(asItIs).filter((file) => file !== undefined);
    const last = lists.get(connection);
    if (last?.length === files.length && files.every((file, index) => file === last[index]))
      return last;
    lists.set(connection, files);
    return files;
  };
}

function asItIs(one: Watched): StampedFile | undefined {
  const info = statSync(one.full, { throwIfNoEntry: false });
  const { info: last } = one;
  if (
    info === undefined ||
    last?.mtimeMs !== info.mtimeMs ||
    last.ino !== info.ino ||
    last.size !== info.size
  ) {
    one.file = info && { path: one.path, mark: markFrom(info) };
    one.info = info;
  }
  return one.file;
}

const datasetFile = /^[^.].*\.ya?ml$/;

function spanningFile(connection: string): string {
  return `semantic-layer/${connection}.yaml`;
}

/** Undefined where there is no such file. Synchronous: a thousand files take 2 ms so, and 20 ms by way of the thread pool. */
export function fileStamp(dir: string, path: string): StampedFile | undefined {
  const info = statSync(`${dir}/${path}`, { throwIfNoEntry: false });
  return info && { path, mark: markFrom(info) };
}

function markFrom({ mtimeMs, ino, size }: Stats): string {
  return `${mtimeMs}-${ino}-${size}`;
}

/** Keeps what was read for a key as long as its marks are the same; what failed is read again. */
export function cacheByStamp<Value>() {
  const known = new Map<
    string,
    { readonly marks: readonly unknown[]; readonly value: Promise<Value> }
  >();
  return (key: string, marks: readonly unknown[], read: () => Promise<Value>): Promise<Value> => {
    const last = known.get(key);
    if (last !== undefined && marks.every((mark, index) => mark === last.marks[index]))
      return last.value;
    const value = read();
    known.set(key, { marks, value });
    value.catch(() => known.delete(key));
    return value;
  };
}

/** Reads a file of a project again where it has changed; undefined where there is none. Of links only the target counts, so those always. */
export function openCachedReader<Value>(
  make: (text: string | undefined) => Value,
  readFile = readAnyText,
): (dir: string, path: string) => Promise<Value> {
  const kept = cacheByStamp<Value>();
  return (dir, path) => {
    const full = join(dir, path);
    const info = lstatSync(full, { throwIfNoEntry: false });
    const read = async () => make(info && (await readFile(full, dir)));
    return info?.isSymbolicLink() === true ? read() : kept(full, [info && markFrom(info)], read);
  };
}

/** Paths of the files in a folder of the project whose names match, sorted; none where there is no folder. */
export async function listFiles(
  dir: string,
  folder: string,
  names: RegExp,
): Promise<readonly string[]> {
  return pathsOf(folder, await namesIn(dir, folder), names);
}

const namesIn = async (dir: string, folder: string): Promise<readonly string[]> =>
  (await readdir(join(dir, folder)).catch(absent)) ?? [];

function pathsOf(folder: string, found: readonly string[], names: RegExp): readonly string[] {
  return found
    .filter((name) => names.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
