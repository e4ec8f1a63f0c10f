import { chmodSync, closeSync, type Dirent, lstatSync, openSync, readdirSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';

/**
 * Only the owner reads and writes. Windows has no such modes: there the folder inherits the rights
 * of the project.
 */
export const privateFileMode = 0o600;
export const privateFolderMode = 0o700;

/** The rights of the group and of others. */
const sharedBits = 0o077;

/** True for `.ktx` and everything in it. */
export function isInState(path: string): boolean {
  return resolve(path).split(sep).includes('.ktx');
}

/**
 * Creates the file if it is missing, whatever the umask. An existing one loses the rights of other
 * users.
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', privateFileMode));
  withdrawSharedRights(path);
}

/**
 * Takes the rights of other users from a file or folder; of a folder that had any, also from
 * everything in it. A folder that nobody else can enter is not read, so that the check costs one
 * call however many files there are.
 */
export function withdrawSharedRights(path: string): void {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined || info.isSymbolicLink() || (info.mode & sharedBits) === 0) return;
  try {
    chmodSync(path, info.mode & 0o700);
  } catch {
    // Some file systems have no modes, and a file of another user cannot be changed:
    // `requireOwnState` reports the latter.
    return;
  }
  if (info.isDirectory()) withdrawInside(path);
}

/** Takes the rights of other users from everything in a folder, and never follows a link. */
export function withdrawInside(folder: string): void {
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    withdrawSharedRights(path);
    if (entry.isDirectory()) withdrawInside(path);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Removed by another process, or a folder of another user.
    return [];
  }
}
