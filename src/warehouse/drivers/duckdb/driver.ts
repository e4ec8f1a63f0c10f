import { type DuckDBConnection, DuckDBInstance, StatementType } from '@duckdb/node-api';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, UserError } from '../../../lib/error.ts';
import { shortHash } from '../../../lib/hash.ts';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import { type DriverSession, type OpenContext, type Rows, withinLimits } from '../../driver.ts';
import { failure, refused } from '../../failure.ts';
import type { Cell, QueryLimits } from '../../warehouse.ts';
import type { DuckdbConfig } from './config.ts';
import { introspectDuckdb } from './introspect.ts';
import { isTableFiles, loadFiles, type LoadedFiles } from './load-files.ts';
import { duckdbPolicy } from './policy.ts';
import { duckdbCell, fieldType } from './values.ts';

const introspectMs = 120_000;
/** Before the lock: a session time zone of its own would change what queries answer. */
const sealing = ["SET GLOBAL TimeZone = 'UTC'", 'SET GLOBAL lock_configuration = true'];
const readOnly = {
  access_mode: 'READ_ONLY',
  enable_external_access: 'false',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
};

export async function open(config: DuckdbConfig, context: OpenContext, signal: AbortSignal): Promise<DriverSession> {
  signal.throwIfAborted();
  const path = resolve(context.projectDir, config.path);
  const source = await sourceOf(path, context);
  const instance = await openInstance(source.database, path);
  const parser = await instance.connect();
  for (const statement of sealing) await parser.run(statement);
  const limited = async <T>(
    limits: { timeoutMs: number; signal: AbortSignal },
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> => {
    const connection = await instance.connect();
    try {
      return await withinLimits({ ...limits, cancel: () => connection.interrupt() }, () => work(connection));
    } catch (error) {
      throw queryError(error);
    } finally {
      connection.closeSync();
    }
  };
  return {
    dialect: duckdb,
    policy: duckdbPolicy(parser),
    introspect: (scope, caller) =>
      limited({ timeoutMs: introspectMs, signal: caller }, (connection) =>
        introspectDuckdb(async (sql) => (await connection.runAndReadAll(sql)).getRowObjects(), {
          scope: { schemas: scope.schemas ?? config.schemas },
          marker: source.marker,
        }),
      ),
    run: (sql, limits, caller) => limited({ timeoutMs: limits.timeoutMs, signal: caller }, (connection) => runOne(connection, sql, limits)),
    privileges: async () => ({
      readOnly: true,
      findings: ['DuckDB opens the database read-only, without access to files, extensions or settings.'],
    }),
    close: async () => {
      parser.closeSync();
      instance.closeSync();
    },
  };
}

async function sourceOf(path: string, context: OpenContext): Promise<LoadedFiles> {
  if (isTableFiles(path)) return loadFiles(path, context);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw failure('warehouse_not_found', `The database file ${path} of connection "${context.connection}" does not exist.`);
  if (stats.size === 0) throw failure('not_a_database', `${path} has 0 bytes.`);
  return { database: path, marker: () => fileMarker(path) };
}

/** Size and time of the file and of its write-ahead log. */
function fileMarker(path: string): string {
  const parts = [path, `${path}.wal`].map((file) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size}:${stats.mtimeMs}`;
  });
  return shortHash(parts.join('|'));
}

async function openInstance(database: string, path: string): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(database, readOnly);
  } catch (error) {
    const message = messageOf(error).split('\n')[0] ?? '';
    if (/set lock|another process|conflicting lock|different configuration|already attached/i.test(message)) {
      throw failure('warehouse_locked', `${path} is open for writing in another process.`);
    }
    if (/permission denied/i.test(message)) {
      throw failure('warehouse_unreachable', `${path} cannot be opened: permission denied.`, {
        hint: 'Check that this user may read the file.',
      });
    }
    throw failure('not_a_database', `${path} is no DuckDB database that this version reads: ${message}`);
  }
}

/** One statement that reads; PIVOT without its values is two to DuckDB: an enum of the values found, in memory, and the SELECT. */
async function runOne(connection: DuckDBConnection, sql: string, { maxRows }: QueryLimits): Promise<Rows> {
  const statements = await connection.extractStatements(sql);
  const isPivot = /\bPIVOT/i.test(sql);
  if (statements.count !== 1 && !isPivot) throw refused('statement', `${statements.count} statements in one text.`);
  for (let index = 0; index < statements.count - 1; index += 1) {
    const preparation = await statements.prepare(index);
    if (preparation.statementType !== StatementType.CREATE) throw refused('statement', 'several statements in one text.');
    await preparation.run();
  }
  const statement = await statements.prepare(statements.count - 1);
  if (statement.statementType !== StatementType.SELECT && statement.statementType !== StatementType.EXPLAIN) {
    throw refused('statement', 'it is not a SELECT.');
  }
  const result = await statement.stream();
  const columns = result.columnNames().map((name, index) => ({ name, type: fieldType(String(result.columnType(index))) }));
  const rows: Cell[][] = [];
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    for (const row of chunk.getRows()) {
      if (rows.length === maxRows) return { columns, rows, truncated: true };
      rows.push(row.map(duckdbCell));
    }
  }
  return { columns, rows, truncated: false };
}

function queryError(error: unknown): unknown {
  if (error instanceof UserError) return error;
  const message = messageOf(error).split('\n\n')[0] ?? '';
  if (/^Catalog Error: .*does not exist|not found in FROM clause/.test(message)) return failure('missing_object', message);
  if (/read-only mode|Permission Error|configuration has been locked|through configuration/.test(message))
    return refused('engine', message);
  return failure('query_failed', `DuckDB could not run the query: ${message}`);
}
