import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import type { z } from 'zod';
import { readText } from '../store/files.ts';

/** The dataset files of a connection with what changes when one of them does; sorted by path. */
export async function datasetFiles(projectDir: string, connection: string): Promise<{ path: string; mark: string }[]> {
  const folder = `semantic-layer/${connection}`;
  const names = (await readdir(join(projectDir, folder)).catch(absent)) ?? [];
  const paths = names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort().map((name) => `${folder}/${name}`); // prettier-ignore
  return (await Promise.all(paths.map((path) => markOf(projectDir, path)))).filter((file) => file !== undefined);
}

export async function markOf(projectDir: string, path: string): Promise<{ path: string; mark: string } | undefined> {
  const info = await stat(join(projectDir, path), { bigint: true }).catch(absent);
  return info && { path, mark: `${info.mtimeNs}-${info.size}` };
}

/** What a YAML file of the project holds; undefined where it is absent or not valid: `ktx sl validate` says why. */
export async function readYaml<T>(projectDir: string, path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = (await readText(join(projectDir, path), projectDir)) ?? '';
  try {
    return schema.safeParse(load(text)).data;
  } catch (error) {
    if (error instanceof YAMLException) return undefined;
    throw error;
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
