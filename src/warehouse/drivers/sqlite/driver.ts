import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { sqlite } from '../../../sql/dialects/sqlite.ts';
import { checkDatabaseFile, fileFingerprint } from '../../database-file.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { startEngineAhead } from '../../engine-process/spare-engines.ts';
import { type ErrorRules, translateError } from '../../warehouse-error.ts';
import type { SqliteConfig } from './config.ts';
import { introspectSqlite } from './introspect.ts';
import { sqlitePolicy } from './policy.ts';
import { openReader, sqliteProgram } from './reader.ts';

export async function open(
  config: SqliteConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  startEngineAhead(sqliteProgram);
  const path = resolve(context.projectDir, config.path);
  checkDatabaseFile(path, context.connection);
  const reader = openReader({ path, extraFunctions: config.allow_functions ?? [] });
  const translated = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch(translateError(errorRules(path)));
  const runCatalogQuery = (sql: string, callSignal: AbortSignal) =>
    translated(reader.catalogRows(sql, { signal: callSignal }));
  try {
    // Fails here if the file is not a database.
    await runCatalogQuery('SELECT count(*) FROM sqlite_schema', signal);
  } catch (error) {
    await reader.close();
    throw error;
  }
  return {
    dialect: sqlite,
    policy: sqlitePolicy,
    introspect: (scope, callSignal) =>
      introspectSqlite((sql) => runCatalogQuery(sql, callSignal), scope, changeMarker(path)),
    run: (sql, limits, callSignal) =>
      translated(reader.query(sql, { ...limits, signal: callSignal })),
    marker: () => changeMarker(path),
    privileges: async () => ({
      readOnly: true,
      findings: ['SQLite opens the file read-only and permits only reads.'],
    }),
    close: () => reader.close(),
  };
}

/**
 * Includes the change counter in the file's header: the file time may stay the same after a change.
 */
function changeMarker(path: string): string {
  const counter = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, counter, 0, 4, 24);
  } finally {
    closeSync(file);
  }
  return fileFingerprint([path, `${path}-wal`], counter.toString('hex'));
}

function errorRules(path: string): ErrorRules {
  return [
    [/no such (table|column)/, 'missing_object', 'SQLite'],
    [/not authorized|prohibited/, 'gate_refused', ''],
    [
      /is not an ISO-8601 date or time/,
      'not_a_time_value',
      'SQLite could not compute the period of a date',
    ],
    [
      /in a column of numbers is not a number/,
      'not_a_number_value',
      'SQLite could not compute with a value',
    ],
    [
      /malformed(?! JSON)|not a database/,
      'not_a_database',
      `${path} is damaged or not a SQLite database`,
    ],
    [/^: out of memory|bad_alloc/, 'out_of_memory', 'SQLite'],
    [/locked|busy/, 'warehouse_locked', `${path} is locked by another process`],
    [/unable to open|EACCES|EPERM/, 'warehouse_unreachable', `${path} cannot be opened`],
    [/^/, 'query_failed', 'SQLite could not run the query'],
  ];
}
