import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface MarkedFile {
  /** Relative to the project. */
  readonly path: string;
  /** Changes when the file does. */
  readonly mark: string;
}

/** The files of a connection's datasets, sorted. */
export async function datasetPaths(dir: string, connection: string): Promise<readonly string[]> {
  const folder = `semantic-layer/${connection}`;
  const names = (await readdir(join(dir, folder)).catch(absent)) ?? [];
  return names
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** Those of the files that exist, each with its mark. */
export async function markedFiles(dir: string, paths: readonly string[]): Promise<readonly MarkedFile[]> {
  const marked = await Promise.all(
    paths.map(async (path) => {
      const info = await stat(join(dir, path), { bigint: true }).catch(absent);
      return info && { path, mark: `${info.mtimeNs}-${info.size}` };
    }),
  );
  return marked.filter((file) => file !== undefined);
}

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
