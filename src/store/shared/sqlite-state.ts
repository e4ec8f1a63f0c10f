import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { errorMessage, UserError } from '../../lib/error.ts';
import { createPrivateFile } from '../ownership/private-files.ts';
import type { StateDatabase } from './state-database.ts';
import { sqliteErrorCode, useWriteAheadLog } from './write-ahead-log.ts';

/** SQLITE_CONSTRAINT. */
const constraintCode = 19;

/** Shared state in a file that only its owner reads. Its folder exists. */
export function openSqliteState(path: string): StateDatabase {
  const db = openFile(path);
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const statement = prepared.get(sql) ?? db.prepare(sql.replaceAll(/\$(\d+)/g, '?$1'));
    prepared.set(sql, statement);
    return statement;
  };
  return {
    run: async (sql, values = []) => prepare(sql).all(...values),
    isConflict: (error) => sqliteErrorCode(error) === constraintCode,
    close: async () => db.close(),
  };
}

function openFile(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    // SQLite gives the files beside the database the same mode.
    createPrivateFile(path);
    db = new DatabaseSync(path, { timeout: 10_000 });
    useWriteAheadLog(db);
    // With secure_delete, what is deleted is overwritten.
    db.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;');
    return db;
  } catch (error) {
    db?.close();
    throw new UserError('state_unusable', `${path} cannot be opened (${errorMessage(error)}).`, {
      hint: 'Check that the folder is writable, or move the file away: people then log in again.',
      cause: error,
    });
  }
}
