import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../lib/error.ts';
import { shortHash } from '../lib/hash.ts';
import {
  type ConfinedRead,
  type Confinement,
  isInside,
  outsideError,
  readConfinedFile,
  readConfinedFileSync,
  realFolder,
} from './confined-file.ts';
import { isInState, privateFileMode, privateFolderMode } from './ownership/private-files.ts';

/**
 * The suffix of files that are being written. A file with it that is found later was left by a
 * killed process.
 */
export const temporarySuffix = '.ktx-tmp';

/** In characters, so that a name of 255 bytes has a temporary file too. */
const longestPrefix = 40;

/** How the temporary files of a file begin. */
export function temporaryPrefix(path: string): string {
  const name = basename(path);
  const characters = Array.from(name);
  if (characters.length <= longestPrefix) return `.${name}.`;
  return `.${characters.slice(0, longestPrefix).join('')}-${shortHash(name, 8)}.`;
}

interface WriteOptions {
  /** The folder that the file must be in, after links are followed. */
  readonly within?: string;
  /** The mode of a new file. Default: what the umask permits. */
  readonly mode?: number;
  /**
   * Called right before the file is replaced, when the new text is already on disk. If it returns
   * false, the old file stays.
   */
  readonly mayReplace?: () => boolean | Promise<boolean>;
}

/**
 * Replaces a file completely or not at all: writes a new file beside it, flushes it, and renames
 * it. Creates missing folders, keeps the file's mode, and follows symbolic links, but not out of
 * `within` (`path_outside_project`). In `.ktx` only the owner can read the file. False if
 * `mayReplace` returned false. Asks the system directly: for the dozen calls of one small file, the
 * thread pool takes four times the CPU time.
 */
export async function writeAtomically(
  path: string,
  text: string | Uint8Array,
  { mayReplace, ...options }: WriteOptions = {},
): Promise<boolean> {
  const staged = stageFile(path, text, options);
  try {
    fsyncSync(staged.open ?? 0);
    close(staged);
  } catch (error) {
    discard(staged);
    throw fileAccessError('written', staged.target, error);
  }
  return replaceFile(staged, mayReplace);
}

/** A text that lies beside the file that it is going to replace. */
interface StagedFile {
  readonly target: string;
  readonly temporary: string;
  /** The descriptor of the temporary file, until it is flushed. */
  open: number | undefined;
}

interface TextToWrite {
  readonly path: string;
  /** Undefined: nothing to write. */
  readonly text: string | undefined;
}

/** Texts that are on disk beside the files that they are going to replace. */
export interface StagedTexts {
  /** Replaces the file at that place of the list, like `writeAtomically`. */
  replace(index: number, mayReplace: WriteOptions['mayReplace']): Promise<boolean>;
  /** Removes what was not put into place. */
  [Symbol.dispose](): void;
}

/**
 * Writes many texts, all inside `within`, beside their files, and flushes them together: a disk
 * takes little longer for many than for one. None of the files changes before `replace`.
 */
export async function stageTexts(
  texts: readonly TextToWrite[],
  within: string,
): Promise<StagedTexts> {
  const waiting = new Map<number, StagedFile>();
  const discardAll = () => {
    for (const staged of waiting.values()) discard(staged);
    waiting.clear();
  };
  try {
    for (const [index, { path, text }] of texts.entries())
      if (text !== undefined) waiting.set(index, stageFile(path, text, { within }));
    const flushed = await Promise.allSettled(Array.from(waiting.values(), flush));
    for (const result of flushed) if (result.status === 'rejected') throw result.reason;
  } catch (error) {
    discardAll();
    throw error;
  }
  return {
    replace: async (index, mayReplace) => {
      const staged = waiting.get(index);
      if (staged === undefined) throw new Error('the text was put into its place before');
      waiting.delete(index);
      return replaceFile(staged, mayReplace);
    },
    [Symbol.dispose]: discardAll,
  };
}

function stageFile(
  path: string,
  text: string | Uint8Array,
  { within, mode: newMode = 0o666 }: WriteOptions,
): StagedFile {
  const target = followLinks(path, within);
  const folder = dirname(target);
  const name = `${temporaryPrefix(target)}${randomUUID().slice(0, 8)}${temporarySuffix}`;
  const temporary = join(folder, name);
  const staged: StagedFile = { target, temporary, open: undefined };
  try {
    const isPrivate = isInState(target);
    const mode = isPrivate
      ? privateFileMode
      : (statSync(target, { throwIfNoEntry: false })?.mode ?? newMode);
    staged.open = openNew(temporary, mode, isPrivate);
    writeFileSync(staged.open, text);
    return staged;
  } catch (error) {
    discard(staged);
    throw fileAccessError('written', target, error);
  }
}

/** Opens a file that does not exist yet, and makes its folder if that is missing. */
function openNew(path: string, mode: number, isPrivate: boolean): number {
  try {
    return openSync(path, 'wx', mode);
  } catch (error) {
    undefinedIfMissing(error as NodeJS.ErrnoException);
    const folderMode = isPrivate ? privateFolderMode : 0o777;
    mkdirSync(dirname(path), { recursive: true, mode: folderMode });
    return openSync(path, 'wx', mode);
  }
}

const flushToDisk = promisify(fsync);

async function flush(staged: StagedFile): Promise<void> {
  try {
    await flushToDisk(staged.open ?? 0);
  } catch (error) {
    throw fileAccessError('written', staged.target, error);
  }
  close(staged);
}

function close(staged: StagedFile): void {
  const { open } = staged;
  staged.open = undefined;
  if (open !== undefined) closeSync(open);
}

async function replaceFile(
  staged: StagedFile,
  mayReplace: WriteOptions['mayReplace'],
): Promise<boolean> {
  const { target, temporary } = staged;
  try {
    const isWanted = (await mayReplace?.()) ?? true;
    if (isWanted) renameSync(temporary, target);
    else rmSync(temporary);
    return isWanted;
  } catch (error) {
    discard(staged);
    throw fileAccessError('written', target, error);
  }
}

function discard(staged: StagedFile): void {
  close(staged);
  rmSync(staged.temporary, { force: true });
}

/** In bytes. A larger text does not fit into one string. */
export const largestText = 500_000_000;

/**
 * The text of a file; undefined if there is none. Throws if it is not UTF-8, not a regular file, or
 * outside `within`. Without `within`, a person named the file, and a link may lead anywhere.
 */
export async function readText(path: string, within?: string): Promise<string | undefined> {
  const limits = readLimits(path, within);
  const found = await readConfinedFile(path, limits).catch((error: unknown) => {
    throw fileAccessError('read', path, error);
  });
  return textOf(path, found, limits);
}

/** `readText` for many small files in a row: see `readConfinedFileSync`. */
export function readTextSync(path: string, within?: string): string | undefined {
  const limits = readLimits(path, within);
  let found: ConfinedRead;
  try {
    found = readConfinedFileSync(path, limits);
  } catch (error) {
    throw fileAccessError('read', path, error);
  }
  return textOf(path, found, limits);
}

function readLimits(path: string, within: string | undefined): Confinement {
  return { within: within ?? resolve(path, sep), maxBytes: largestText };
}

function textOf(path: string, found: ConfinedRead, { within }: Confinement): string | undefined {
  switch (found.kind) {
    case 'missing':
      return undefined;
    case 'refused':
      throw refusedError(path, found, within);
    case 'read':
      return decodeText(path, found.bytes);
  }
  return found satisfies never;
}

function decodeText(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new UserError('not_utf8', `${path} is not valid UTF-8.`, {
      hint: 'Save the file as UTF-8.',
      cause: error,
    });
  }
}

function refusedError(
  path: string,
  { code, reason }: Extract<ConfinedRead, { readonly kind: 'refused' }>,
  within: string,
): UserError {
  switch (code) {
    case 'outside':
      return outsideError(path, within);
    case 'broken_link':
      return new UserError('broken_link', `${path} cannot be read: ${reason}.`, {
        hint: 'Remove it.',
      });
    case 'not_a_file':
      return new UserError('not_a_file', `${path} is not a file.`, { hint: 'Move it away.' });
    case 'too_large':
      return new UserError('file_too_large', `${path} cannot be read: ${reason}.`, {
        hint: 'Move it away, or split it.',
      });
  }
  return code satisfies never;
}

/** The text of a file, read at once; empty if it cannot be read. */
export function readTextOrNothing(path: string, within: string): string {
  const found = readConfinedFileSync(path, { within, maxBytes: largestText });
  return found.kind === 'read' ? found.bytes.toString('utf8') : '';
}

/**
 * Like `readText`, but returns a text that is not well-formed (see `isWellFormed`) if the file is
 * not UTF-8. No readable file has such a text.
 */
export async function readAnyText(path: string, within: string): Promise<string | undefined> {
  try {
    return await readText(path, within);
  } catch (error) {
    if (error instanceof UserError && error.code === 'not_utf8') return '\uD800';
    throw error;
  }
}

/** Removes a file, if it exists. Of a symbolic link only the link is removed. */
export async function removeFile(path: string, within: string): Promise<void> {
  requireWithin(dirname(path), within);
  await rm(path, { force: true });
}

function followLinks(path: string, within: string | undefined): string {
  const info = lstatSync(path, { throwIfNoEntry: false });
  const found = info && realpathOrNothing(path);
  if (found === undefined && info?.isSymbolicLink() === true) {
    throw new UserError('broken_link', `${path} is a link to a file that does not exist.`, {
      hint: 'Remove it.',
    });
  }
  const target = found ?? resolve(path);
  if (within !== undefined) requireWithin(target, within);
  return target;
}

function requireWithin(path: string, within: string): void {
  const root = realFolder(within);
  const actual = realpathOfNearest(resolve(path));
  if (isInside(actual, root)) return;
  throw new UserError('path_outside_project', `${path} leads out of the project to ${actual}.`, {
    hint: `Replace the link with a file or folder inside ${within}.`,
    exitCode: 2,
  });
}

function realpathOfNearest(path: string): string {
  const actual = realpathOrNothing(path);
  if (actual !== undefined) return actual;
  const parent = dirname(path);
  return parent === path ? path : join(realFolderOfNearest(parent), basename(path));
}

/** `realpathOfNearest` of a folder, which many files of a batch share. */
function realFolderOfNearest(folder: string): string {
  try {
    return realFolder(folder);
  } catch {
    return realpathOfNearest(folder);
  }
}

function realpathOrNothing(path: string): string | undefined {
  // An error costs more than to look.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    return realpathSync.native(path);
  } catch (error) {
    return undefinedIfMissing(error as NodeJS.ErrnoException);
  }
}

/**
 * For `.catch(…)`: turns the error for a missing path into undefined, and throws any other error
 * again.
 */
export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}

/** Turns missing permissions or space into a `UserError`; returns any other error unchanged. */
export function fileAccessError(what: 'read' | 'written', path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (
    !['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EISDIR', 'ENOTDIR'].includes(code)
  )
    return error;
  return new UserError('file_not_accessible', `${path} cannot be ${what} (${code}).`, {
    hint: 'Check the permissions of the folder and the space on the disk.',
    cause: error,
  });
}
