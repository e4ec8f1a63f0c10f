import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { type DriverSession, type Limits, type OpenContext, type Rows } from '../../driver.ts';
import { explaining, type FailureRules } from '../../failure.ts';
import { checkDatabaseFile, fileMark } from '../../database-file.ts';
import type { SqliteConfig } from './config.ts';
import { sqlitePolicy } from './policy.ts';
import { introspectSqlite } from './introspect.ts';
import { startReader } from './reader-client.ts';
import type { ReaderRequest } from './reader-process.ts';

export async function open(
  config: SqliteConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const path = resolve(context.projectDir, config.path);
  checkDatabaseFile(path, context.connection);
  const reader = startReader(path, config.allow_functions ?? []);
  const ask = (request: ReaderRequest, limits: Limits): Promise<unknown> =>
    reader.ask(request, limits).catch(explaining(failuresOf(path)));
  const recordsOf = async (sql: string, caller: AbortSignal) =>
    (await ask({ sql }, { signal: caller })) as unknown[];
  await recordsOf('SELECT count(*) FROM sqlite_schema', signal);
  return {
    dialect: sqlite,
    policy: sqlitePolicy,
    introspect: (scope, caller) =>
      introspectSqlite((sql) => recordsOf(sql, caller), scope, fileMarker(path)),
    run: async (sql, { maxRows, timeoutMs }, caller) =>
      (await ask({ sql, maxRows }, { timeoutMs, signal: caller })) as Rows,
    privileges: async () => ({
      readOnly: true,
      findings: ['SQLite opens the file read-only and lets only reads pass.'],
    }),
    close: async () => reader.stop(),
  };
}

/** The header of the file counts changes, which its time may hide. */
function fileMarker(path: string): string {
  const counter = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, counter, 0, 4, 24);
  } finally {
    closeSync(file);
  }
  return fileMark([path, `${path}-wal`], counter.toString('hex'));
}

function failuresOf(path: string): FailureRules {
  return [
    [/no such (table|column)/, 'missing_object', 'SQLite'],
    [/not authorized|prohibited/, 'gate_refused', ''],
    [/is no ISO-8601 date or time/, 'not_a_time_value', 'SQLite could not cut a period'],
    [
      /malformed(?! JSON)|not a database/,
      'not_a_database',
      `${path} is damaged or no SQLite database`,
    ],
    [/locked|busy/, 'warehouse_locked', `${path} is locked by another process`],
    [/unable to open|EACCES|EPERM/, 'warehouse_unreachable', `${path} cannot be opened`],
    [/^/, 'query_failed', 'SQLite could not run the query'],
  ];
}
