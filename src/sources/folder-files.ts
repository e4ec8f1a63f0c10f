import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage, UserError } from '../lib/error.ts';
import { readLocatedYaml } from '../lib/located-yaml.ts';
import type { FetchEvent } from './source.ts';

/** A search for files below a folder. */
export interface FileSearch {
  readonly folder: string;
  /** Tested against the name of a file. */
  readonly pattern: RegExp;
  /** Receives a sentence for each folder that cannot be listed. */
  readonly problems: string[];
  /** Called for each file that is found; see `fileCounter`. */
  readonly countFile: () => void;
}

/** Folders that tools fill with packages, build output and logs. */
const generatedFolders = new Set(['dbt_packages', 'dbt_modules', 'target', 'logs', 'node_modules']);

/**
 * The paths of the files that match, relative to `folder`, from `path` downwards. Does not follow links: their targets may lie
 * outside of the project.
 */
export async function listFiles(search: FileSearch, path: string): Promise<string[]> {
  const { folder, pattern, problems, countFile } = search;
  const entries = await listFolder(join(folder, path), problems);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory()) {
        const isSkipped = generatedFolders.has(entry.name) || entry.name.startsWith('.');
        return isSkipped ? [] : listFiles(search, inner);
      }
      if (!entry.isFile() || !pattern.test(entry.name)) return [];
      countFile();
      return [inner];
    }),
  );
  return found.flat();
}

/** A folder that is not there has no entries. */
async function listFolder(folder: string, problems: string[]): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) problems.push(`${folder} cannot be listed: ${errorMessage(error)}`);
    return [];
  }
}

const mostFiles = 50_000;

/** A function that counts a file, and throws `too_many_files` above the limit. */
export function fileCounter(folder: string, limit = mostFiles): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count <= limit) return;
    throw new UserError('too_many_files', `${folder} has more than ${limit} files to read.`, {
      hint: 'Set `path` to a folder further down, with only the files that ktx should read.',
      exitCode: 2,
    });
  };
}

/** In bytes. */
const largestFile = 5_000_000;

/** Reads one file of a folder; its path is its key. */
export async function readFileItem(folder: string, key: string): Promise<FetchEvent> {
  try {
    const { size } = await stat(join(folder, key));
    if (size > largestFile)
      return { kind: 'failed', key, reason: `it has ${size} bytes, more than ${largestFile}` };
    return fileItem(key, await readFile(join(folder, key)));
  } catch (error) {
    return { kind: 'failed', key, reason: errorMessage(error) };
  }
}

/** A file as an item. Broken YAML is a failure, so that a typing error withdraws no claims. */
export function fileItem(key: string, bytes: Buffer): FetchEvent {
  if (!isUtf8(bytes)) return { kind: 'failed', key, reason: 'it is not valid UTF-8' };
  const body = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
  const yaml = /\.ya?ml$/.test(key) ? readLocatedYaml(body) : undefined;
  if (yaml !== undefined && 'broken' in yaml) {
    const { line, reason } = yaml.broken;
    return { kind: 'failed', key, reason: `line ${line}: not YAML: ${reason}` };
  }
  return { kind: 'item', key, path: key, body };
}

/** The end of a listing; complete unless some folder could not be listed. */
export function listingEnd([reason]: readonly string[]): FetchEvent {
  if (reason === undefined) return { kind: 'end', listingComplete: true };
  return { kind: 'end', listingComplete: false, reason };
}
