import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../lib/error.ts';

/** The limits of a read. */
export interface Confinement {
  /** The folder that the file must be in after all links are followed. */
  readonly within: string;
  readonly maxBytes: number;
}

/** `reason` is the end of a sentence about the file: "it is not a regular file". */
export type ConfinedRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'refused';
      readonly code: 'outside' | 'broken_link' | 'not_a_file' | 'too_large';
      readonly reason: string;
    };

type Refused = Extract<ConfinedRead, { readonly kind: 'refused' }>;

/**
 * Flags that Windows does not have are 0 there. Without `O_NONBLOCK`, opening a pipe waits for a
 * writer.
 */
const openFlags =
  constants.O_RDONLY |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0);

/**
 * Reads a file that somebody else may have written. Follows links that stay in the folder. Refuses
 * what leads out of it (a link, a parent folder that is a link, also one that is put there during
 * the read), pipes, sockets, devices and folders, and files that are too large. Throws the errors
 * of the file system.
 */
export async function readConfinedFile(path: string, limits: Confinement): Promise<ConfinedRead> {
  const opened = openConfined(path, limits);
  if ('kind' in opened) return opened;
  const { size } = opened.stats;
  try {
    const isSmall = size > 0 && size <= largestAtOnce;
    return isSmall ? readAtOnce(opened, limits) : await readInParts(opened, limits);
  } finally {
    closeSync(opened.file);
  }
}

/** In bytes. For a smaller file the thread pool takes several times as long as reading it. */
const largestAtOnce = 262_144;

/** `readConfinedFile` where nothing can wait; large files hold up everything else. */
export function readConfinedFileSync(path: string, limits: Confinement): ConfinedRead {
  const opened = openConfined(path, limits);
  if ('kind' in opened) return opened;
  try {
    return readAtOnce(opened, limits);
  } finally {
    closeSync(opened.file);
  }
}

interface OpenedFile {
  readonly file: number;
  /** The real path under which it was opened. */
  readonly target: string;
}

interface CheckedFile extends OpenedFile {
  readonly stats: Stats;
}

function openConfined(path: string, limits: Confinement): CheckedFile | ConfinedRead {
  const opened = openAtOnce(path, limits.within) ?? openResolved(path, limits.within);
  if ('kind' in opened) return opened;
  const { file, target } = opened;
  let refused: Refused | undefined;
  try {
    const stats = fstatSync(file);
    refused = findRefusal(file, stats, { target, limits });
    if (refused === undefined) return { ...opened, stats };
  } catch (error) {
    closeSync(file);
    throw error;
  }
  closeSync(file);
  return refused;
}

/**
 * Opens a file in a real folder inside `within`. Undefined if that takes more: there is a link, no
 * such folder, or no flag that refuses links.
 */
function openAtOnce(path: string, within: string): OpenedFile | ConfinedRead | undefined {
  if (constants.O_NOFOLLOW === undefined) return undefined;
  try {
    const target = join(realFolder(dirname(path)), basename(path));
    if (!isInside(target, realFolder(within))) return undefined;
    // An error costs more than to look.
    if (lstatSync(target, { throwIfNoEntry: false }) === undefined) return { kind: 'missing' };
    return { file: openSync(target, openFlags), target };
  } catch {
    return undefined;
  }
}

function openResolved(path: string, within: string): OpenedFile | ConfinedRead {
  const target = confineSync(path, within);
  if (typeof target !== 'string') return target;
  try {
    return { file: openSync(target, openFlags), target };
  } catch (error) {
    return unopened(error);
  }
}

function readAtOnce({ file, stats }: CheckedFile, { maxBytes }: Confinement): ConfinedRead {
  const reader = collectBytes(stats, maxBytes);
  for (;;) {
    const buffer = reader.nextBuffer();
    if (reader.take(readSync(file, buffer, 0, buffer.length, null))) return reader.result();
  }
}

const readPart = promisify(read);

async function readInParts(
  { file, stats }: CheckedFile,
  { maxBytes }: Confinement,
): Promise<ConfinedRead> {
  const reader = collectBytes(stats, maxBytes);
  for (;;) {
    const buffer = reader.nextBuffer();
    const { bytesRead } = await readPart(file, buffer, 0, buffer.length, null);
    if (reader.take(bytesRead)) return reader.result();
  }
}

/**
 * Collects what is read, up to the limit: a file can grow, and those of /proc do not tell their
 * size.
 */
function collectBytes(stats: Stats, maxBytes: number) {
  const parts: Buffer[] = [];
  let size = 0;
  // One byte more than the file has, for the read that finds its end.
  let buffer = Buffer.allocUnsafe(Math.min(stats.size === 0 ? 65_536 : stats.size + 1, 4_194_304));
  return {
    nextBuffer: () => (buffer = buffer.length > 0 ? buffer : Buffer.allocUnsafe(4_194_304)),
    /** True at the end of the file, or above the limit. */
    take(count: number): boolean {
      size += count;
      if (count > 0) parts.push(buffer.subarray(0, count));
      buffer = buffer.subarray(count);
      // There was room for one byte more.
      const isAll = size === stats.size && buffer.length > 0;
      return count === 0 || isAll || size > maxBytes;
    },
    result: (): ConfinedRead =>
      size > maxBytes
        ? tooLarge(maxBytes)
        : { kind: 'read', bytes: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts) },
  };
}

/**
 * The names of the entries of a folder, and whether each is a folder; undefined if there is no such
 * folder. Throws `path_outside_project`.
 */
export async function listConfinedFolder(path: string, within: string) {
  const target = await confine(path, within);
  if (typeof target === 'string' && !statSync(target).isDirectory()) return undefined;
  if (typeof target === 'string') return readdir(target, { withFileTypes: true });
  if (target.kind === 'refused' && target.code === 'outside')
    throw outsideError(path, within, 'a folder');
  return undefined;
}

/**
 * The real path of what `ktx.yaml` names; undefined if nothing is there. A path that is written as
 * inside the project must not leave it through a link: who reads `ktx.yaml` could not know. Throws
 * `path_outside_project`.
 */
export async function resolveConfiguredPath(
  projectDir: string,
  path: string,
): Promise<string | undefined> {
  const absolute = resolve(projectDir, path);
  const isWrittenInside = isInside(absolute, resolve(projectDir));
  const target = await confine(absolute, isWrittenInside ? projectDir : resolve(absolute, sep));
  if (typeof target === 'string') return target;
  if (target.kind === 'refused' && target.code === 'outside') {
    throw new UserError(
      'path_outside_project',
      `${path} leads out of the project through a link.`,
      {
        hint: `Write the path that it leads to into ktx.yaml: ${realpathSync(absolute)}`,
        exitCode: 2,
      },
    );
  }
  return undefined;
}

/**
 * True if the path is the folder or in it. Both are real paths. `/project-evil` is not in
 * `/project`.
 */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function confine(path: string, within: string): Promise<string | ConfinedRead> {
  try {
    const [target, root] = await Promise.all([realpath(path), realpath(within)]);
    return isInside(target, root) ? target : outside;
  } catch (error) {
    return unresolved(path, error);
  }
}

function confineSync(path: string, within: string): string | ConfinedRead {
  try {
    const root = realFolder(within);
    const target = join(realFolder(dirname(path)), basename(path));
    // A link is followed; the flags keep anything else from becoming one.
    const real = lstatSync(target).isSymbolicLink() ? realpathSync.native(target) : target;
    return isInside(real, root) ? real : outside;
  } catch (error) {
    return unresolved(path, error);
  }
}

let realFolders: Map<string, string> | undefined;

/**
 * The real path of a folder, remembered until other code runs: a folder can become a link at any
 * time. Throws the errors of the file system.
 */
export function realFolder(folder: string): string {
  if (realFolders === undefined) {
    realFolders = new Map();
    queueMicrotask(() => (realFolders = undefined));
  }
  const known = realFolders.get(folder) ?? realpathSync.native(folder);
  realFolders.set(folder, known);
  return known;
}

const outside: Refused = {
  kind: 'refused',
  code: 'outside',
  reason: 'it is a link that leads out of the folder',
};
const notAFile: Refused = {
  kind: 'refused',
  code: 'not_a_file',
  reason: 'it is not a regular file',
};

const tooLarge = (maxBytes: number): Refused => ({
  kind: 'refused',
  code: 'too_large',
  reason: `it is larger than ${formatBytes(maxBytes)}`,
});

function formatBytes(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${bytes / 1_000_000} MB`;
}

/** Why a path has no real path. Throws any other error. */
function unresolved(path: string, error: unknown): ConfinedRead {
  const code = errorCode(error);
  if (code === 'ELOOP') return brokenLink('it is a link that leads to itself');
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  return isLink(path)
    ? brokenLink('it is a link to a file that does not exist')
    : { kind: 'missing' };
}

function brokenLink(reason: string): Refused {
  return { kind: 'refused', code: 'broken_link', reason };
}

function isLink(path: string): boolean {
  try {
    return readlinkSync(path) !== '';
  } catch {
    return false;
  }
}

/** A target that cannot be opened although its path was just resolved. Throws any other error. */
function unopened(error: unknown): ConfinedRead {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
  // A link took the place of the file, as nothing but an attack would do.
  if (code === 'ELOOP' || code === 'EMLINK') return outside;
  if (code === 'ENXIO' || code === 'ENODEV' || code === 'EISDIR' || code === 'EOPNOTSUPP')
    return notAFile;
  throw error;
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

interface OpenTarget {
  /** The real path under which the file was opened. */
  readonly target: string;
  readonly limits: Confinement;
}

/** Checks what was opened, which a parent folder that was replaced meanwhile can have changed. */
function findRefusal(
  file: number,
  stats: Stats,
  { target, limits: { within, maxBytes } }: OpenTarget,
): Refused | undefined {
  if (!stats.isFile()) return notAFile;
  if (!isStillInside(file, target, within)) return outside;
  return stats.size > maxBytes ? tooLarge(maxBytes) : undefined;
}

function isStillInside(file: number, target: string, within: string): boolean {
  const root = realFolder(within);
  const opened = pathOfOpenFile(file);
  if (opened !== undefined) return isInside(opened, root);
  // One comparison could itself be fooled by a folder that is swapped at the right moments; five in
  // a row hardly.
  return [1, 2, 3, 4, 5].every(() => isSameFile(file, target, root));
}

/** True if the path still is inside when all links are followed, and leads to the open file. */
function isSameFile(file: number, target: string, root: string): boolean {
  try {
    if (!isInside(realpathSync.native(target), root)) return false;
    const [now, then] = [statSync(target, { bigint: true }), fstatSync(file, { bigint: true })];
    return now.ino === then.ino && now.dev === then.dev;
  } catch {
    return false;
  }
}

/**
 * Linux knows the path of an open file; other systems compare the file at the path with the open
 * one.
 */
function pathOfOpenFile(file: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readlinkSync(`/proc/self/fd/${file}`).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined;
  }
}

export function outsideError(path: string, within: string, what = 'a file'): UserError {
  return new UserError('path_outside_project', `${path} leads out of the project.`, {
    hint: `Replace the link with ${what} inside ${within}.`,
    exitCode: 2,
  });
}
