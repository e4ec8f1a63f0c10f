import {
  type DuckDBConnection,
  type DuckDBDataChunk,
  DuckDBInstance,
  DuckDBVector,
  StatementType,
} from '@duckdb/node-api';
import { join, resolve } from 'node:path';
import { duckdb } from '../../../sql/dialects/duckdb.ts';
import {
  answerMeter,
  type DriverSession,
  type Limits,
  type OpenContext,
  rowSize,
  type Rows,
  withinLimits,
} from '../../driver.ts';
import { explaining, failure, type FailureRules, refused } from '../../failure.ts';
import { checkDatabaseFile, fileMark, startsLike, statsOf } from '../../database-file.ts';
import type { Cell } from '../../warehouse.ts';
import type { DuckdbConfig } from './config.ts';
import { introspectDuckdb } from './introspect.ts';
import { isPattern, isTableFile, loadFiles, type LoadedFiles } from './load-files.ts';
import { duckdbPolicy } from './policy.ts';
import { duckdbCell, fieldType } from './values.ts';

/**
 * Before the lock: a session time zone of its own would change what queries answer, and so does an optimizer of DuckDB 1.5, which
 * takes two parts of a query for the same that read other columns.
 */
export const sameAnswers = [
  "SET GLOBAL TimeZone = 'UTC'",
  "SET GLOBAL disabled_optimizers = 'common_subplan'",
];
const sealing = [...sameAnswers, 'SET GLOBAL lock_configuration = true'];
const readOnly = {
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
  const source = await sourceOf(path, context, signal);
  const instance = await openInstance(source.database, path, context);
  const parser = await instance.connect();
  for (const statement of sealing) await parser.run(statement);
  const limited = <T>(
    limits: Limits,
    work: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> => {
    let connection: DuckDBConnection | undefined;
    return withinLimits({ ...limits, cancel: () => connection?.interrupt() }, async () => {
      const own = (connection = await instance.connect());
      return work(own).finally(() => own.closeSync());
    }).catch(explaining(queryFailures));
  };
  return {
    dialect: duckdb,
    policy: await duckdbPolicy(parser),
    introspect: (scope, caller) =>
      limited({ signal: caller }, (connection) => {
        const ask = async (sql: string) =>
          (await connection.runAndReadAll(sql)).getRowObjectsJson();
        return introspectDuckdb(ask, { schemas: scope.schemas ?? config.schemas }, source.marker);
      }),
    run: (sql, { maxRows, timeoutMs }, caller) =>
      limited({ timeoutMs, signal: caller }, (connection) => runOne(connection, sql, maxRows)),
    privileges: async () => ({
      readOnly: true,
      findings: ['DuckDB opens the file read-only, without access to others.'],
    }),
    close: async () => {
      parser.closeSync();
      instance.closeSync();
    },
  };
}

async function sourceOf(
  path: string,
  context: OpenContext,
  signal: AbortSignal,
): Promise<LoadedFiles> {
  const stats = statsOf(path);
  if (stats === undefined ? isPattern(path) : stats.isDirectory() || isTableFile(path))
    return loadFiles(path, context, signal);
  checkDatabaseFile(path, context.connection);
  if (startsLike(path, 'SQLite format 3')) {
    throw failure('not_a_database', `${path} is a SQLite file.`, {
      hint: 'Choose the driver sqlite: --driver sqlite, or driver: sqlite in ktx.yaml.',
    });
  }
  return { database: path, marker: () => fileMark([path, `${path}.wal`]) };
}

/** What does not fit into memory goes into a folder of ktx's own, not beside the database; the order counts. */
function openInstance(
  database: string,
  path: string,
  { cacheDir, connection }: OpenContext,
): Promise<DuckDBInstance> {
  const memory_limit = `${Math.floor(process.availableMemory() / 2 ** 21)}MiB`;
  const room = {
    memory_limit,
    temp_directory: join(cacheDir, `${connection}.tmp`),
    max_temp_directory_size: '20GB',
  };
  return DuckDBInstance.create(database, { ...room, ...readOnly }).catch(
    explaining([
      [
        /set lock|another process|conflicting lock|different configuration|already attached/i,
        'warehouse_locked',
        `${path} is in use`,
      ],
      [/permission denied/i, 'warehouse_unreachable', `${path} cannot be opened`],
      [/^/, 'not_a_database', `${path} is no DuckDB database that this version reads`],
    ]),
  );
}

/** One statement that reads; PIVOT without its values is two to DuckDB: an enum of the values found, in memory, and the SELECT. */
async function runOne(connection: DuckDBConnection, sql: string, maxRows: number): Promise<Rows> {
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1 && !/\bPIVOT/i.test(sql))
    throw refused('statement', `${statements.count} statements in one text.`);
  for (let index = 0; index < statements.count - 1; index += 1) {
    const preparation = await statements.prepare(index);
    if (preparation.statementType !== StatementType.CREATE)
      throw refused('statement', 'several statements in one text.');
    await preparation.run();
  }
  const statement = await statements.prepare(statements.count - 1);
  if (
    statement.statementType !== StatementType.SELECT &&
    statement.statementType !== StatementType.EXPLAIN
  ) {
    throw refused('statement', 'it is not a SELECT.');
  }
  const result = await statement.stream();
  const columns = result
    .columnNames()
    .map((name, index) => ({ name, type: fieldType(String(result.columnType(index))) }));
  const rows: Cell[][] = [];
  const count = answerMeter();
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    // A list is one value to the engine, and many here.
    if (columns.some(({ type }) => type === 'unknown')) count(itemsIn(chunk) * 8);
    for (let index = 0; index < chunk.rowCount; index += 1) {
      if (rows.length === maxRows) return { columns, rows, truncated: true };
      const cells = chunk.getRowValues(index).map(duckdbCell);
      count(rowSize(cells));
      rows.push(cells);
    }
  }
  return { columns, rows, truncated: false };
}

/** Values of a chunk, those inside lists, maps and structs too. */
function itemsIn(chunk: DuckDBDataChunk): number {
  let items = 0;
  const vectors = Array.from({ length: chunk.columnCount }, (_, index) =>
    chunk.getColumnVector(index),
  );
  for (let vector = vectors.pop(); vector !== undefined; vector = vectors.pop()) {
    items += vector.itemCount;
    vectors.push(
      ...Object.values(vector)
        .flat()
        .filter((part) => part instanceof DuckDBVector),
    );
  }
  return items;
}

const queryFailures: FailureRules = [
  [/: Catalog Error: .*does not exist|not found in FROM clause/, 'missing_object', 'DuckDB'],
  [
    /read-only mode|Permission Error|configuration has been locked|through configuration/,
    'gate_refused',
    '',
  ],
  [/^/, 'query_failed', 'DuckDB could not run the query'],
];
