import { chmodSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorMessage, UserError } from '../../lib/error.ts';
import { ensureStateDirectory } from '../../store/directories.ts';
import { useWriteAheadLog } from '../../store/shared/write-ahead-log.ts';
import { foldOldLines } from './fold-lines.ts';
import type { SentValues } from './sent-values.ts';

/** Values that are about to be sent to a model. */
export interface EgressEntry {
  readonly run: string;
  readonly call: string;
  /** What the call is for: `describe`, `extract`, `chat` and so on. */
  readonly stage: string;
  /** The tool whose answer has the values; empty for a prompt. */
  readonly tool: string;
  readonly backend: string;
  readonly host: string;
  readonly model: string;
  readonly values: readonly SentValues[];
}

/**
 * `.ktx/egress.db`: how many values of which columns went to which model. It never has the values
 * themselves.
 */
export interface EgressLedger {
  readonly db: DatabaseSync;
  /** On disk when the call returns. Throws if it cannot be written; then nothing may be sent. */
  record(entry: EgressEntry): void;
  /**
   * The same, on disk when the promise resolves, together with what others record at that moment:
   * the disk takes milliseconds each time.
   */
  recordTogether(entry: EgressEntry): Promise<void>;
  close(): void;
}

interface LedgerOptions {
  /** More lines than this are folded: older ones lose the call, then the run and the day. */
  readonly maxLines?: number;
}

const createTable = `CREATE TABLE IF NOT EXISTS sent (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, run TEXT NOT NULL, call TEXT NOT NULL, stage TEXT NOT NULL, tool TEXT NOT NULL,
  connection TEXT NOT NULL, source TEXT NOT NULL, col TEXT NOT NULL, kind TEXT NOT NULL,
  backend TEXT NOT NULL, host TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, vals INTEGER NOT NULL) STRICT`;

const linesBetweenChecks = 500;

/** Opens the ledger of a project. Several processes may write to it at the same time. */
export function openEgressLedger(
  dir: string,
  { maxLines = 50_000 }: LedgerOptions = {},
): EgressLedger {
  const { egressDb } = ensureStateDirectory(dir);
  let opened = openFile(egressDb);
  /** Where `.ktx` was removed or replaced, what is written to the old file is lost. */
  const current = (): OpenLedgerFile => {
    if (identityOf(egressDb) === opened.identity) return opened;
    opened.db.close();
    ensureStateDirectory(dir);
    opened = openFile(egressDb);
    return opened;
  };
  let unchecked = linesBetweenChecks;
  const write = ({ values, ...entry }: EgressEntry): void => {
    const at = new Date().toISOString();
    const { run, call, stage, tool, backend, host, model } = entry;
    const about = [at, run, call, stage, tool];
    for (const { connection, source, column, kind, count } of values)
      opened.insert.run(...about, connection, source, column, kind, backend, host, model, count);
    unchecked += values.length;
    if (unchecked < linesBetweenChecks) return;
    unchecked = 0;
    foldOldLines(opened.db, maxLines);
  };
  const record = (entry: EgressEntry): void => {
    if (entry.values.length === 0) return;
    try {
      inTransaction(current().db, () => write(entry));
    } catch (error) {
      throw unrecordedError(egressDb, error);
    }
  };
  let waiting: EgressEntry[] = [];
  let written: Promise<void> | undefined;
  const writeWaiting = async (): Promise<void> => {
    const entries = waiting;
    [waiting, written] = [[], undefined];
    try {
      const { db } = current();
      // Without the wait of each commit for the disk: there is one for all, beside other work.
      db.exec('PRAGMA synchronous = NORMAL');
      try {
        inTransaction(db, () => {
          for (const entry of entries) write(entry);
        });
      } finally {
        db.exec('PRAGMA synchronous = FULL');
      }
      await flushFile(`${egressDb}-wal`);
    } catch (error) {
      throw unrecordedError(egressDb, error);
    }
  };
  return {
    get db() {
      return current().db;
    },
    record,
    recordTogether(entry) {
      waiting.push(entry);
      return (written ??= nextTurn().then(writeWaiting));
    },
    close: () => opened.db.close(),
  };
}

/**
 * Waits until the disk has what was written to a file. SQLite has a commit in this one; where it
 * moved it on meanwhile, it has flushed both.
 */
async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

interface OpenLedgerFile {
  readonly db: DatabaseSync;
  readonly insert: StatementSync;
  readonly identity: string | undefined;
}

function openFile(path: string): OpenLedgerFile {
  const db = openDatabase(path);
  const insert = db.prepare(
    'INSERT INTO sent (at, run, call, stage, tool, connection, source, col, kind, backend, host, model, calls, vals) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)',
  );
  return { db, insert, identity: identityOf(path) };
}

/** Which file a path leads to; undefined if there is none. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

function openDatabase(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 10_000 });
    chmodSync(path, 0o600);
    useWriteAheadLog(db);
    db.exec('PRAGMA synchronous = FULL');
    db.exec(createTable);
    return db;
  } catch (error) {
    db?.close();
    throw unrecordedError(path, error);
  }
}

function inTransaction(db: DatabaseSync, write: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    write();
    db.exec('COMMIT');
  } catch (error) {
    // A full disk has rolled back already.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function unrecordedError(path: string, error: unknown): UserError {
  const message = `${path} cannot be written (${errorMessage(error)}), so nothing was sent to the model.`;
  return new UserError('egress_unrecorded', message, {
    hint: 'It records what leaves this machine. Check the disk space and the permissions of its folder, or move the file away to start a new one.',
    cause: error,
  });
}
