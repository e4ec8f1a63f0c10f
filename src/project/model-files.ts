import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the project by its path, and what changes when the file does. */
export interface MarkedFile {
  readonly path: string;
  readonly mark: string;
}

/** The files of a connection's semantic layer, sorted by path: one a dataset, and one for metrics that span datasets. */
export async function datasetFiles(dir: string, connection: string): Promise<readonly MarkedFile[]> {
  const paths = [...(await listFiles(dir, `semantic-layer/${connection}`, /^[^.].*\.ya?ml$/)), `semantic-layer/${connection}.yaml`];
  return (await Promise.all(paths.map((path) => markOf(dir, path)))).filter((file) => file !== undefined);
}

/** Undefined where there is no such file. */
export async function markOf(dir: string, path: string): Promise<MarkedFile | undefined> {
  const info = await stat(join(dir, path), { bigint: true }).catch(absent);
  return info && { path, mark: `${info.mtimeNs}-${info.size}` };
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
