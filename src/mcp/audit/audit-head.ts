import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/error.ts';
import { sha256 } from '../../lib/hash.ts';
import { configHome } from '../../project/trust/config-home.ts';
import { requireOwnFolder } from '../../project/trust/own-folder.ts';
import { createPrivateFile, privateFolderMode } from '../../store/ownership/private-files.ts';
import { type HostEnvironment, isInside, realPath } from '../../store/secrets.ts';
import { useWriteAheadLog } from '../../store/shared/write-ahead-log.ts';

/** Where the audit of a project ends. */
export interface AuditHead {
  /** Of the last line; 0 before the first. */
  readonly seq: number;
  /** SHA-256 of the last line; empty before the first. */
  readonly hash: string;
  /** The file that has the last line; empty before the first. */
  readonly file: string;
  /** The length of that file. */
  readonly bytes: number;
}

const createTable = `CREATE TABLE IF NOT EXISTS head (
  one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash TEXT NOT NULL, file TEXT NOT NULL,
  bytes INTEGER NOT NULL, key TEXT NOT NULL) STRICT`;

/** The files of this machine, and the audit that several servers write, have ends of their own. */
const suffixes = { files: '', shared: '-shared' };

/** Milliseconds to wait for another server that appends. */
const longestWait = 10_000;

/**
 * The end of the audit of the project in `dir`, in a folder of the person who runs the server,
 * outside of the project: whoever can only write to the project cannot cut the audit unnoticed. Its
 * transaction is the lock of everybody who appends.
 */
export function openAuditHead(dir: string, env: HostEnvironment, of: 'files' | 'shared' = 'files') {
  const project = realpathSync.native(dir);
  const path = join(configHome(env), 'audit', `${sha256(project).slice(0, 32)}${suffixes[of]}.db`);
  if (isInside(realPath(path), project)) throw headInProject(path);
  mkdirSync(dirname(path), { recursive: true, mode: privateFolderMode });
  requireOwnFolder(dirname(path));
  createPrivateFile(path);
  const db = new DatabaseSync(path, { timeout: longestWait });
  useWriteAheadLog(db);
  db.exec('PRAGMA synchronous = FULL');
  db.exec(createTable);
  db.prepare(
    "INSERT INTO head SELECT 1, 0, '', '', 0, ? WHERE NOT EXISTS (SELECT 1 FROM head)",
  ).run(randomBytes(32).toString('hex'));
  const read = db.prepare('SELECT seq, hash, file, bytes FROM head');
  const update = db.prepare('UPDATE head SET seq = ?, hash = ?, file = ?, bytes = ?');
  const readHead = () => ({ ...read.get() }) as unknown as AuditHead;
  return {
    /** For keyed hashes of what the audit does not have in words. */
    key: String(db.prepare('SELECT key FROM head').get()?.['key']),
    /**
     * Runs `run` while nobody else appends. What it returns is the new head; if it throws, the old
     * one stays.
     */
    advance(run: (head: AuditHead) => AuditHead): void {
      db.exec('BEGIN IMMEDIATE');
      try {
        const { seq, hash, file, bytes } = run(readHead());
        update.run(seq, hash, file, bytes);
        db.exec('COMMIT');
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    },
    /** Runs `look` while nobody appends. */
    inspect<T>(look: (head: AuditHead) => T): T {
      db.exec('BEGIN IMMEDIATE');
      try {
        return look(readHead());
      } finally {
        db.exec('ROLLBACK');
      }
    },
    close: (): void => db.close(),
  };
}

function headInProject(path: string): UserError {
  const message = `The end of the audit would be in ${path}, inside of the project.`;
  return new UserError('audit_in_project', message, {
    hint: 'Set XDG_CONFIG_HOME to a folder outside of the project.',
    exitCode: 4,
  });
}
