import { writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, UserError } from '../lib/error.ts';
import { ensureStateDirectory } from './directories.ts';
import { readTextOrNothing } from './files.ts';
import { createPrivateFile, privateFileMode } from './ownership/private-files.ts';
import { sqliteErrorCode } from './shared/write-ahead-log.ts';

interface LockOptions {
  /** How long to wait for another process; ten minutes if undefined. 0 fails at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called once, with a message for a person, if the lock is not free. */
  readonly onWait?: (message: string) => void;
}

/** SQLITE_BUSY. */
const busyCode = 5;

/** A file that one process at a time may hold. */
interface LockFile {
  readonly path: string;
  /** The folder that the file must be in. */
  readonly within: string;
  /** What the holder does, for the message: `is working on this project`. */
  readonly work: string;
}

/**
 * Runs `run` while no other ktx process works on the project. The lock is an exclusive transaction
 * on `.ktx/lock.db`, so it is released however the process ends. Not re-entrant. Throws `lock_busy`
 * (retryable) when the wait is over.
 */
export async function withProjectLock<T>(
  dir: string,
  run: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const { lockDb } = ensureStateDirectory(dir);
  const lockFile = { path: lockDb, within: dir, work: 'is working on this project' };
  return withFileLock(lockFile, run, options);
}

/** Like `withProjectLock`, with a file of the caller. */
export async function withFileLock<T>(
  { path, within, work }: LockFile,
  run: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const { waitMs = 600_000, signal, onWait } = options;
  const deadline = Date.now() + waitMs;
  // Only for the message: the holder file may be out of date.
  const holderFile = `${path}.holder`;
  let lock = tryLock(path);
  for (let isFirst = true; lock === undefined; isFirst = false) {
    const holder = readTextOrNothing(holderFile, within) || 'it has just started';
    const message = `Another ktx (${holder}) ${work}`;
    if (Date.now() >= deadline) {
      throw new UserError('lock_busy', `${message}.`, {
        hint: 'Try again when it has finished.',
        retryable: true,
      });
    }
    if (isFirst) onWait?.(`${message}; waiting for it.`);
    await sleep(50, undefined, { signal });
    lock = tryLock(path);
  }
  try {
    writeFileSync(holderFile, `process ${process.pid}, since ${new Date().toISOString()}`, {
      mode: privateFileMode,
    });
    return await run();
  } finally {
    lock.close();
  }
}

/** The open transaction; undefined if another process holds the lock. */
function tryLock(path: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined;
  try {
    createPrivateFile(path);
    lock = new DatabaseSync(path);
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteErrorCode(error) === busyCode) return undefined;
    throw new UserError(
      'lock_unusable',
      `The lock ${path} cannot be used (${errorMessage(error)}).`,
      {
        hint: 'Check that the folder is writable. If no other ktx is running, you can delete the file.',
        cause: error,
      },
    );
  }
}
