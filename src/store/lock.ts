import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, UserError } from '../lib/error.ts';
import { ensureStateDirectory } from './directories.ts';
import { sqliteErrorCode } from './state.ts';

interface LockOptions {
  /** How long to wait for another process; ten minutes unless told. 0 fails at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called once, with a sentence for a person, when the lock is not free. */
  readonly onWait?: (message: string) => void;
}

const busy = 5;

/**
 * Runs while no other process does on this project: an exclusive transaction on `.ktx/lock.db`, which dies with the
 * process, however that ends. Not re-entrant. Fails with `lock_busy` (retryable) when the wait is over.
 */
export async function withProjectLock<T>(
  dir: string,
  run: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  const { lockDb } = ensureStateDirectory(dir);
  const { waitMs = 600_000, signal, onWait } = options;
  const deadline = Date.now() + waitMs;
  // Who holds it, for people; the lock itself is the truth.
  const holderFile = `${lockDb}.holder`;
  let lock = takeLock(lockDb);
  for (let isFirst = true; lock === undefined; isFirst = false) {
    const holder = existsSync(holderFile)
      ? readFileSync(holderFile, 'utf8')
      : 'it has just started';
    const message = `Another ktx (${holder}) is working on this project`;
    if (Date.now() >= deadline) {
      throw new UserError('lock_busy', `${message}.`, {
        hint: 'Try again when it has finished.',
        retryable: true,
      });
    }
    if (isFirst) onWait?.(`${message}; waiting for it.`);
    await sleep(50, undefined, { signal });
    lock = takeLock(lockDb);
  }
  try {
    writeFileSync(holderFile, `process ${process.pid}, since ${new Date().toISOString()}`);
    return await run();
  } finally {
    lock.close();
  }
}

/** The open transaction; undefined while another process has one. */
function takeLock(path: string): DatabaseSync | undefined {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(path);
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteErrorCode(error) === busy) return undefined;
    throw new UserError(
      'lock_unusable',
      `The lock ${path} cannot be used (${errorMessage(error)}).`,
      {
        hint: 'Check that the folder can be written; when no ktx runs, the file may be deleted.',
        cause: error,
      },
    );
  }
}
