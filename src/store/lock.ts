import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf, UserError } from '../lib/error.ts';
import { ensureStateDirectory } from './directories.ts';

export interface LockOptions {
  /** How long to wait for another process; ten minutes unless told. 0 fails at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Called once, with a sentence for a person, when the lock is not free. */
  readonly onWait?: (message: string) => void;
}

const holderSchema = z.object({ pid: z.number(), since: z.string() });
const busy = 5;

/**
 * Runs while no other process does on this project: an exclusive transaction on `.ktx/lock.db`, which dies with the
 * process, however that ends. Not re-entrant. Fails with `lock_busy` (retryable) when the wait is over.
 */
export async function withProjectLock<T>(dir: string, run: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const { lockDb } = ensureStateDirectory(dir);
  const holderFile = `${lockDb}.holder.json`;
  const db = openLock(lockDb);
  try {
    await acquire(db, holderFile, options);
    writeFileSync(holderFile, JSON.stringify({ pid: process.pid, since: new Date().toISOString() }));
    return await run();
  } finally {
    db.close();
  }
}

async function acquire(db: DatabaseSync, holderFile: string, options: LockOptions): Promise<void> {
  const deadline = Date.now() + (options.waitMs ?? 600_000);
  let announced = false;
  while (!tryLock(db)) {
    const message = `${holder(holderFile)} is working on this project`;
    if (Date.now() >= deadline) {
      throw new UserError('lock_busy', `${message}.`, { hint: 'Try again when it has finished.', retryable: true });
    }
    if (!announced) options.onWait?.(`${message}; waiting for it.`);
    announced = true;
    await sleep(50, undefined, options.signal === undefined ? {} : { signal: options.signal });
  }
}

function tryLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw unusable(db.location() ?? '', error);
  }
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path);
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, error: unknown): UserError {
  return new UserError('lock_unusable', `The lock ${path} cannot be used (${messageOf(error)}).`, {
    hint: 'Check that the folder can be written; when no ktx runs, the file may be deleted.',
    cause: error,
  });
}

/** Who holds the lock, for people; the lock itself is the truth. */
function holder(file: string): string {
  try {
    const { pid, since } = holderSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return `Another ktx (process ${pid}, since ${since})`;
  } catch (error) {
    // It is written just after the lock is taken: a reader may come in between.
    if (error instanceof Error) return 'Another ktx process';
    throw error;
  }
}
