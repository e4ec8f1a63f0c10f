import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { join, resolve } from 'node:path';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { driverOfFile } from '../../config.ts';
import { checkDatabaseFile, fileFingerprint, fileStats } from '../../database-file.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { type ErrorRules, translateError, warehouseError } from '../../warehouse-error.ts';
import type { DuckdbConfig } from './config.ts';
import { introspectDuckdb } from './introspect.ts';
import { isGlob, isTableFile } from './file-tables.ts';
import { loadFiles, type LoadedFiles } from './load-files.ts';
import { duckdbPolicy } from './policy.ts';
import { runDuckdbStatement } from './run-statement.ts';

/**
 * Settings that make results the same on every machine: the time zone of a session changes what queries return, and the
 * optimizer `common_subplan` of DuckDB 1.5 merges two parts of a query that read different columns.
 */
export const sameAnswers = [
  "SET GLOBAL TimeZone = 'UTC'",
  "SET GLOBAL disabled_optimizers = 'common_subplan'",
];
/** After the last one no statement can change a setting. */
const lockSettings = [...sameAnswers, 'SET GLOBAL lock_configuration = true'];
const readOnlyOptions = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};

export async function open(
  config: DuckdbConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const path = resolve(context.projectDir, config.path);
  const source = await openSource(path, context, signal);
  const instance = await openInstance(source.database, path, context);
  const parser = await instance.connect();
  for (const statement of lockSettings) await parser.run(statement);
  /** Each call has a connection of its own, so that a cancel stops nothing else. */
  const withConnection = <T>(
    limits: CallLimits,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> => {
    let connection: DuckDBConnection | undefined;
    return withTimeLimit({ ...limits, cancel: () => connection?.interrupt() }, async () => {
      const opened = (connection = await instance.connect());
      return work(opened).finally(() => opened.closeSync());
    }).catch(translateError(queryErrors));
  };
  return {
    dialect: duckdb,
    policy: await duckdbPolicy(parser),
    introspect: (scope, callSignal) =>
      withConnection({ signal: callSignal }, (connection) => {
        const runQuery = async (sql: string) =>
          (await connection.runAndReadAll(sql)).getRowObjectsJson();
        const schemas = scope.schemas ?? config.schemas;
        return introspectDuckdb(runQuery, { schemas }, source.marker);
      }),
    run: (sql, { maxRows, timeoutMs }, callSignal) =>
      withConnection({ timeoutMs, signal: callSignal }, (connection) =>
        runDuckdbStatement(connection, sql, maxRows),
      ),
    privileges: async () => ({
      readOnly: true,
      findings: ['DuckDB opens the file read-only and cannot reach other files.'],
    }),
    close: async () => {
      parser.closeSync();
      instance.closeSync();
    },
  };
}

/** A database file is opened as it is; data files are loaded into a database in the cache folder first. */
async function openSource(
  path: string,
  context: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const stats = fileStats(path);
  const hasDataFiles =
    stats === undefined ? isGlob(path) : stats.isDirectory() || isTableFile(path);
  if (hasDataFiles) return loadFiles(path, context, signal);
  checkDatabaseFile(path, context.connection);
  const other = driverOfFile(path);
  if (other !== undefined) {
    throw warehouseError('not_a_database', `${path} is a ${other.title} file.`, {
      hint: `Choose the driver ${other.name}: --driver ${other.name}, or driver: ${other.name} in ktx.yaml.`,
    });
  }
  return { database: path, marker: () => fileFingerprint([path, `${path}.wal`]) };
}

/** Data that does not fit into memory goes into a folder of the cache, not beside the database. */
function openInstance(
  database: string,
  path: string,
  { cacheDir, connection }: OpenContext,
): Promise<DuckDBInstance> {
  const halfOfMemory = Math.floor(process.availableMemory() / 2 ** 21);
  // DuckDB applies the options in this order: without external access the folder could no longer be set.
  const options = {
    memory_limit: `${halfOfMemory}MiB`,
    temp_directory: join(cacheDir, `${connection}.tmp`),
    max_temp_directory_size: '20GB',
    ...readOnlyOptions,
  };
  return DuckDBInstance.create(database, options).catch(
    translateError([
      [
        /set lock|another process|conflicting lock|different configuration|already attached/i,
        'warehouse_locked',
        `${path} is in use`,
      ],
      [/permission denied/i, 'warehouse_unreachable', `${path} cannot be opened`],
      [/^/, 'not_a_database', `${path} is not a DuckDB database that this version can read`],
    ]),
  );
}

const queryErrors: ErrorRules = [
  [/: Catalog Error: .*does not exist|not found in FROM clause/, 'missing_object', 'DuckDB'],
  [
    /read-only mode|Permission Error|configuration has been locked|through configuration/,
    'gate_refused',
    '',
  ],
  [/^/, 'query_failed', 'DuckDB could not run the query'],
];
