import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage, UserError } from '../lib/error.ts';
import { ensureStateDirectory } from './directories.ts';
import { createPrivateFile } from './ownership/private-files.ts';
import { useKey } from './ownership/sealed-text.ts';
import { stateKey } from './ownership/state-guard.ts';
import { sqliteErrorCode, useWriteAheadLog } from './shared/write-ahead-log.ts';

/**
 * Raise it when a room changes one of its tables in `state.db`. A test has the tables that belong
 * to each version.
 */
const stateVersion = 3;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const corruptCodes: readonly (number | undefined)[] = [11, 26];

export interface State {
  readonly db: DatabaseSync;
  close(): void;
}

/**
 * `.ktx/state.db`: profiles, the search index, and everything else that ktx can create again. Each
 * room creates its own tables with `CREATE TABLE IF NOT EXISTS`. A file of another version, or a
 * damaged one, is deleted and created again.
 */
export function openState(dir: string): State {
  const { state, stateDb } = ensureStateDirectory(dir);
  const db = tryOpen(stateDb) ?? recreate(stateDb);
  useKey(db, stateKey(state));
  return { db, close: () => db.close() };
}

function recreate(path: string): DatabaseSync {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  const db = tryOpen(path);
  if (db === undefined)
    throw new UserError('state_unusable', `${path} cannot be used.`, { hint: 'Delete the file.' });
  return db;
}

/** Undefined if the file has to be deleted. */
function tryOpen(path: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    // SQLite gives the files beside the database the same mode.
    createPrivateFile(path);
    db = new DatabaseSync(path, { timeout: 10_000 });
    useWriteAheadLog(db);
    // With secure_delete, values that are deleted are overwritten. A transaction larger than the
    // cache, by default 2 MB, writes its pages again and again: it may take 24 MB.
    db.exec(
      'PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -24576;',
    );
    // One statement, because another process may be creating the tables at this moment.
    const file = db
      .prepare(
        'SELECT user_version AS version, (SELECT count(*) FROM sqlite_schema) AS objects FROM pragma_user_version',
      )
      .get();
    const isNew = file?.['version'] === 0 && file['objects'] === 0;
    if (isNew) db.exec(`PRAGMA user_version = ${stateVersion}`);
    if (isNew || file?.['version'] === stateVersion) return db;
  } catch (error) {
    db?.close();
    if (corruptCodes.includes(sqliteErrorCode(error))) return undefined;
    throw new UserError('state_unusable', `${path} cannot be opened (${errorMessage(error)}).`, {
      hint: 'Check that the folder is writable. You can delete the file: ktx creates it again.',
      cause: error,
    });
  }
  db.close();
  return undefined;
}
