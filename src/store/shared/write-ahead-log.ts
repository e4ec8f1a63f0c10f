import type { DatabaseSync } from 'node:sqlite';

/** Milliseconds. */
const longestWait = 10_000;
const pause = 5;
const busy = 5;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * Gives a database its write-ahead log. Where several processes open a new one at the same time,
 * SQLite refuses this at once, whatever the timeout of the connection: it is tried again.
 */
export function useWriteAheadLog(db: DatabaseSync): void {
  const end = Date.now() + longestWait;
  for (;;) {
    try {
      db.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (sqliteErrorCode(error) !== busy || Date.now() > end) throw error;
      Atomics.wait(neverWoken, 0, 0, pause);
    }
  }
}

/** SQLite's primary result code; undefined if it is not an error of SQLite. */
export function sqliteErrorCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
