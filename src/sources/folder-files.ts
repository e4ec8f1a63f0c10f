import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';
import { readLocatedYaml } from '../lib/located-yaml.ts';
import type { Fetched } from './source.ts';

/** Files below a folder; a folder in it that cannot be listed becomes a problem. */
interface FileTree {
  readonly folder: string;
  /** By its name. */
  readonly wanted: RegExp;
  readonly problems: string[];
  /** Counts each of them. */
  readonly found: () => void;
}

const mostFiles = 50_000;

/** Counts files of a folder; fails where they are more than a project has (`too_many_files`). */
export function fileCounter(folder: string, most = mostFiles): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count <= most) return;
    const hint = 'Name a folder further down, which has what ktx shall read.';
    throw new UserError(
      'too_many_files',
      `${folder} has more than ${most} files for ktx to read.`,
      { hint, exitCode: 2 },
    );
  };
}

const largest = 5_000_000;
/** What tools make. */
const skipped = new Set(['dbt_packages', 'dbt_modules', 'target', 'logs', 'node_modules']);

/** The wanted files, relative to the folder. Links are not followed: what they lead to need not be of the project. */
export async function filesBelow(tree: FileTree, path: string): Promise<string[]> {
  const { folder, wanted, problems, found: count } = tree;
  const entries = await entriesOf(join(folder, path), problems);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory())
        return skipped.has(entry.name) || entry.name.startsWith('.') ? [] : filesBelow(tree, inner);
      if (!entry.isFile() || !wanted.test(entry.name)) return [];
      count();
      return [inner];
    }),
  );
  return found.flat();
}

async function entriesOf(folder: string, problems: string[]): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const isThere = !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
    if (isThere) problems.push(`${folder} cannot be listed: ${errorMessage(error)}`);
    return [];
  }
}

export async function readFileItem(folder: string, key: string): Promise<Fetched> {
  try {
    const { size } = await stat(join(folder, key));
    if (size > largest)
      return { kind: 'failed', key, reason: `it has ${size} bytes, more than ${largest}` };
    return fileItem(key, await readFile(join(folder, key)));
  } catch (error) {
    return { kind: 'failed', key, reason: errorMessage(error) };
  }
}

/** A YAML file that is broken stays as it was, so that nothing is taken back for a slip of the keyboard. */
export function fileItem(key: string, bytes: Buffer): Fetched {
  if (!isUtf8(bytes)) return { kind: 'failed', key, reason: 'it is not valid UTF-8' };
  const body = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const read = /\.ya?ml$/.test(key) ? readLocatedYaml(body) : undefined;
  if (read !== undefined && 'broken' in read)
    return {
      kind: 'failed',
      key,
      reason: `line ${read.broken.line}: not YAML: ${read.broken.reason}`,
    };
  return { kind: 'item', key, path: key, body };
}
