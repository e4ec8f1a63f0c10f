import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { UserError } from '../lib/error.ts';

/** Text files of a project are small; a larger one is a mistake that must not fill the memory. */
const largestFile = 64 * 1024 * 1024;

/** Ends the name of a file that is being written; one that is found later was left by a killed process. */
export const temporarySuffix = '.ktx-tmp';

export interface WriteOptions {
  /** The file must lie in this folder once symbolic links are followed; else `path_outside_project`. */
  readonly within?: string;
  readonly mode?: number;
}

/**
 * Replaces the file as a whole or not at all: written beside it, flushed, renamed. Missing folders are made. A symbolic
 * link inside `within` is written through; the mode of the file that stands is kept.
 */
export async function writeAtomically(path: string, text: string, options: WriteOptions = {}): Promise<void> {
  const target = await followLinks(path, options.within);
  const folder = dirname(target);
  const temporary = join(folder, `.${basename(target)}.${randomBytes(4).toString('hex')}${temporarySuffix}`);
  try {
    await mkdir(folder, { recursive: true });
    const mode = options.mode ?? (await modeOf(target)) ?? 0o666;
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw inaccessible('written', target, error);
  }
}

/** Undefined where there is no such file. Refuses what is no UTF-8, no regular file, too large, or outside `within`. */
export async function readText(path: string, within?: string): Promise<string | undefined> {
  const target = await followLinks(path, within);
  const info = await stat(target).catch(absent);
  if (info === undefined) return undefined;
  if (!info.isFile()) throw new UserError('not_a_file', `${path} is not a file.`, { hint: 'Move it away.' });
  if (info.size > largestFile) {
    throw new UserError('file_too_large', `${path} has ${info.size} bytes; ktx reads text files up to ${largestFile}.`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(target));
  } catch (error) {
    if (!(error instanceof TypeError) || 'errno' in error) throw inaccessible('read', target, error);
    throw new UserError('not_utf8', `${path} is not valid UTF-8.`, { hint: 'Save the file as UTF-8.', cause: error });
  }
}

/** Removes a file; one that is already gone is fine. A symbolic link is removed itself, never what it leads to. */
export async function removeFile(path: string, within?: string): Promise<void> {
  if (within !== undefined) await requireWithin(dirname(path), within);
  await rm(path, { force: true });
}

async function followLinks(path: string, within: string | undefined): Promise<string> {
  const absolute = resolve(path);
  const link = await lstat(absolute).catch(absent);
  if (link === undefined) {
    if (within !== undefined) await requireWithin(dirname(absolute), within);
    return absolute;
  }
  const target = await realpath(absolute).catch(absent);
  if (target === undefined) throw new UserError('broken_link', `${path} is a link to nothing.`, { hint: 'Remove it.' });
  if (within !== undefined) await requireWithin(target, within);
  return target;
}

async function requireWithin(path: string, within: string): Promise<void> {
  const root = await realpath(within);
  const actual = await realpathOfNearest(resolve(path));
  if (actual === root || actual.startsWith(root + sep)) return;
  throw new UserError('path_outside_project', `${path} leads out of the project to ${actual}.`, {
    hint: `Replace the link with a file or folder inside ${within}.`,
    exitCode: 2,
  });
}

async function realpathOfNearest(path: string): Promise<string> {
  const actual = await realpath(path).catch(absent);
  if (actual !== undefined) return actual;
  const parent = dirname(path);
  return parent === path ? path : join(await realpathOfNearest(parent), basename(path));
}

async function modeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(absent))?.mode;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

/** What a person can repair, as an error that says so; any other error as it is. */
export function inaccessible(what: 'read' | 'written', path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EISDIR', 'ENOTDIR'].includes(code)) return error;
  return new UserError('file_not_accessible', `${path} cannot be ${what} (${code}).`, {
    hint: 'Check the permissions of the folder and the space on the disk.',
    cause: error,
  });
}
