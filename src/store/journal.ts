import { DatabaseSync } from 'node:sqlite';
import { errorMessage, UserError } from '../lib/error.ts';
import type { Json } from '../lib/json.ts';
import { ensureStateDirectory } from './directories.ts';
import { createPrivateFile } from './ownership/private-files.ts';
import { useWriteAheadLog } from './shared/write-ahead-log.ts';

/** `.ktx/journal.db`: results that were paid for. Unlike `state.db` it is never deleted. */
export interface Journal {
  /**
   * Each room creates its own tables with `CREATE TABLE IF NOT EXISTS` and only ever adds columns.
   */
  readonly db: DatabaseSync;
  /** The result of an earlier call with the same content key. */
  result(key: string): Json | undefined;
  /** Stores a result; it is on disk when the call returns. */
  keep(key: string, result: Json): void;
  close(): void;
}

export function openJournal(dir: string): Journal {
  const { journalDb } = ensureStateDirectory(dir);
  const db = openDatabase(journalDb);
  const select = db.prepare('SELECT body FROM results WHERE key = ?');
  const insert = db.prepare('INSERT OR REPLACE INTO results (key, body, at) VALUES (?, ?, ?)');
  return {
    db,
    result(key) {
      const body = select.get(key)?.['body'];
      return typeof body === 'string' ? (JSON.parse(body) as Json) : undefined;
    },
    keep(key, result) {
      try {
        insert.run(key, JSON.stringify(result), new Date().toISOString());
      } catch (error) {
        throw journalError(`${journalDb} cannot be written`, error);
      }
    },
    close: () => db.close(),
  };
}

function openDatabase(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    // SQLite gives the files beside the database the same mode.
    createPrivateFile(path);
    db = new DatabaseSync(path, { timeout: 10_000 });
    useWriteAheadLog(db);
    db.exec('PRAGMA synchronous = FULL');
    db.exec(
      'CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, body TEXT NOT NULL, at TEXT NOT NULL) STRICT',
    );
    return db;
  } catch (error) {
    db?.close();
    throw journalError(`${path} cannot be opened`, error);
  }
}

function journalError(what: string, error: unknown): UserError {
  return new UserError('journal_unusable', `${what} (${errorMessage(error)}).`, {
    hint: 'It has results that were paid for. Check the disk space and the permissions of its folder, or move the file away to start a new one.',
    cause: error,
  });
}
