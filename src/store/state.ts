import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage, UserError } from '../lib/error.ts';
import { ensureStateDirectory } from './directories.ts';

/** Raise it when any room changes a table of its own in `state.db`; a test knows the shape that belongs to it. */
const stateVersion = 3;

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const corrupt: readonly (number | undefined)[] = [11, 26];

export interface State {
  readonly db: DatabaseSync;
  close(): void;
}

/**
 * `.ktx/state.db`: profiles, the search index, everything that a run can make again. Each room creates its tables with
 * `CREATE TABLE IF NOT EXISTS`. A file of another version, or a broken one, is thrown away: nothing paid for lives here.
 */
export function openState(dir: string): State {
  const { stateDb } = ensureStateDirectory(dir);
  const db = tryOpen(stateDb) ?? rebuild(stateDb);
  return { db, close: () => db.close() };
}

function rebuild(path: string): DatabaseSync {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  const db = tryOpen(path);
  if (db === undefined)
    throw new UserError('state_unusable', `${path} cannot be used.`, { hint: 'Delete the file.' });
  return db;
}

/** Undefined where the file has to be thrown away. */
function tryOpen(path: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: 10_000 });
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // One statement, so that it sees one moment of what another process may be making.
    const found = db
      .prepare(
        'SELECT user_version AS version, (SELECT count(*) FROM sqlite_schema) AS objects FROM pragma_user_version',
      )
      .get();
    const isNew = found?.['version'] === 0 && found['objects'] === 0;
    if (isNew) db.exec(`PRAGMA user_version = ${stateVersion}`);
    if (isNew || found?.['version'] === stateVersion) return db;
  } catch (error) {
    db?.close();
    if (corrupt.includes(sqliteErrorCode(error))) return undefined;
    throw new UserError('state_unusable', `${path} cannot be opened (${errorMessage(error)}).`, {
      hint: 'Check that the folder can be written; the file may be deleted, ktx makes it again.',
      cause: error,
    });
  }
  db.close();
  return undefined;
}

/** The primary result code of SQLite's; undefined for any other error. */
export function sqliteErrorCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}
