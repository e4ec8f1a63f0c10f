import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { type DriverSession, type OpenContext, withinLimits } from '../../driver.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import { failure, refused } from '../../failure.ts';
import type { SqliteConfig } from './config.ts';
import { sqlitePolicy } from './policy.ts';
import { introspectSqlite } from './introspect.ts';
import { startReader } from './reader-client.ts';

const introspectMs = 120_000;

export async function open(config: SqliteConfig, context: OpenContext, signal: AbortSignal): Promise<DriverSession> {
  const path = resolve(context.projectDir, config.path);
  checkFile(path, context.connection);
  const reader = startReader({ kind: 'open', path, extraFunctions: config.allow_functions ?? [] });
  const limited = async <T>(timeoutMs: number, caller: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await withinLimits({ timeoutMs, signal: caller, cancel: () => reader.stop() }, work);
    } catch (error) {
      throw readError(error, path);
    }
  };
  const ask = async (sql: string): Promise<readonly Record<string, unknown>[]> =>
    (await reader.ask({ kind: 'introspect', sql })).records ?? [];
  await limited(introspectMs, signal, () => ask('SELECT count(*) FROM sqlite_schema'));
  return {
    dialect: sqlite,
    policy: sqlitePolicy,
    introspect: (scope, caller) =>
      limited(introspectMs, caller, () => introspectSqlite(ask, { scope, schema: sqlite.defaultSchema, marker: fileMarker(path) })),
    run: async (sql, { maxRows, timeoutMs }, caller) => {
      const { result } = await limited(timeoutMs, caller, () => reader.ask({ kind: 'query', sql, maxRows }));
      return result ?? { columns: [], rows: [], truncated: false };
    },
    privileges: async (): Promise<PrivilegeReport> => ({
      readOnly: true,
      findings: ['SQLite opens the file read-only, behind an authorizer that lets only reads pass.'],
    }),
    close: async () => reader.stop(),
  };
}

function checkFile(path: string, connection: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw failure('warehouse_not_found', `The database file ${path} of connection "${connection}" does not exist.`);
  if (!stats.isFile()) throw failure('not_a_database', `${path} is not a file.`);
  if (stats.size === 0) throw failure('not_a_database', `${path} has 0 bytes.`);
  if (header(path).toString('latin1', 0, 16) !== 'SQLite format 3\0') throw failure('not_a_database', `${path} is not a SQLite database.`);
}

function header(path: string): Buffer {
  const bytes = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, 100, 0);
  } finally {
    closeSync(file);
  }
  return bytes;
}

/** Size, time and change counter of the file, and of its write-ahead log. */
function fileMarker(path: string): string {
  const parts = [path, `${path}-wal`].map((file) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size}:${stats.mtimeMs}`;
  });
  return shortHash([...parts, header(path).readUInt32BE(24)].join('|'));
}

function readError(error: unknown, path: string): unknown {
  if (error instanceof UserError) return error;
  const message = messageOf(error);
  const missing = /no such (table|column): (.*)/.exec(message);
  if (missing !== null) return failure('missing_object', `SQLite knows no ${missing[1]} ${missing[2]}.`);
  if (/not authorized|prohibited/.test(message)) return refused('engine', message);
  if (/malformed|not a database/.test(message)) return failure('not_a_database', `${path} is damaged or no SQLite database: ${message}.`);
  if (/locked|busy/.test(message)) return failure('warehouse_locked', `${path} is locked by another process.`);
  if (/unable to open|EACCES|EPERM/.test(message)) {
    return failure('warehouse_unreachable', `${path} cannot be opened: ${message}.`, {
      hint: 'Check that this user may read the file and its folder.',
    });
  }
  return failure('query_failed', `SQLite could not run the query: ${message}`);
}
