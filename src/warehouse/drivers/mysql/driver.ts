import { createConnection, createPool, type Pool, type PoolConnection } from 'mysql2';
import { promisify } from 'node:util';
import { mysql } from '../../../sql/dialects/mysql.ts';
import {
  type DriverSession,
  type Limits,
  type OpenContext,
  type Rows,
  withinLimits,
} from '../../driver.ts';
import { explaining, type FailureRules } from '../../failure.ts';
import type { Ask } from '../../table-schemas.ts';
import type { MysqlConfig } from './config.ts';
import { introspectMysql } from './introspect.ts';
import { runLimited } from './limited-query.ts';
import { mysqlPolicy } from './policy.ts';
import { findingsOf } from './privileges.ts';
import { mysqlSettings, type MysqlSettings } from './settings.ts';

/** What of the server makes a difference. */
interface Place {
  readonly isMariadb: boolean;
  /** The part of the server's `sql_mode` that is kept: the rest would change how a text is read. */
  readonly mode: string;
  /** Names of stored functions, lower case. */
  readonly ownFunctions: readonly string[];
}

type Work<T> = (connection: PoolConnection, stop: () => void) => Promise<T>;

export async function open(
  config: MysqlConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const settings = mysqlSettings(config, context);
  const { host, port, socketPath, database } = settings;
  const pool = createPool({ ...settings, connectionLimit: 4, maxIdle: 4, idleTimeout: 30_000 });
  // A connection that the server drops while idle is replaced at the next use.
  pool.on('connection', (connection) => void connection.on('error', () => undefined));
  const failures = serverFailures(`MySQL at ${socketPath ?? `${host}:${port}`}/${database}`);
  let place: Place | undefined;
  /** Every statement runs in a read-only transaction that is rolled back. */
  const reading = async <T>(
    limits: Limits & { readonly maxRows?: number },
    work: Work<T>,
  ): Promise<T> => {
    const connection = await connected(pool).catch(explaining(failures));
    let isSpent = false;
    const stop = (): void => {
      if (!isSpent) cancel(connection, settings);
      isSpent = true;
    };
    try {
      return await withinLimits({ ...limits, cancel: stop }, (milliseconds) => {
        const begin = beginning(place, milliseconds, limits.maxRows);
        return rolledBack(connection, begin, () => work(connection, stop));
      });
    } catch (error) {
      isSpent ||= !isAnswer(error);
      return explaining(failures)(error);
    } finally {
      // A kill under way would hit the connection's next statement.
      if (isSpent) connection.destroy();
      else connection.release();
    }
  };
  const asking = <T>(caller: AbortSignal, work: (ask: Ask) => Promise<T>) =>
    reading({ signal: caller }, (connection) => work((sql) => answer(connection, sql)));
  place = await asking(signal, placeOf).catch((error: unknown) => {
    pool.end(() => undefined);
    throw error;
  });
  const { isMariadb, ownFunctions } = place;
  const dialect = { ...mysql, defaultSchema: database };
  const schemas = config.schemas ?? [database];
  return {
    dialect,
    policy: mysqlPolicy(dialect, ownFunctions),
    introspect: (scope, caller) =>
      asking(caller, (ask) => introspectMysql(ask, scope.schemas ?? schemas, isMariadb)),
    run: (sql, { maxRows, timeoutMs }, caller) =>
      reading<Rows>({ timeoutMs, maxRows, signal: caller }, (connection, stop) =>
        runLimited(connection, sql, { maxRows, stop }),
      ),
    async privileges() {
      const grants = await asking(new AbortController().signal, (ask) => ask('SHOW GRANTS'));
      const findings = findingsOf(
        grants.flatMap((row) => Object.values(row as Record<string, string>)),
      );
      const granting = schemas.map(
        (schema) => `GRANT SELECT, SHOW VIEW ON ${mysql.quote(schema)}.* TO ktx_reader;`,
      );
      const remedy =
        findings.length === 0
          ? undefined
          : [`CREATE USER ktx_reader IDENTIFIED BY '…';`, ...granting];
      return { readOnly: findings.length === 0, findings, remedy };
    },
    close: () => promisify(pool.end.bind(pool))(),
  };
}

function connected(pool: Pool): Promise<PoolConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<PoolConnection>();
  pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  return promise;
}

function answer(
  connection: Pick<PoolConnection, 'query'>,
  sql: string,
): Promise<readonly unknown[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
  connection.query({ sql, supportBigNumbers: true, dateStrings: true }, (error, rows) =>
    error ? reject(error) : resolve(rows as unknown[]),
  );
  return promise;
}

/** The server is asked for what it is before it is told its limits: they are spelled differently. */
function beginning(
  place: Place | undefined,
  milliseconds: number,
  maxRows: number | undefined,
): readonly string[] {
  const time =
    place?.isMariadb === true
      ? `max_statement_time = ${milliseconds / 1000}`
      : `max_execution_time = ${milliseconds}, information_schema_stats_expiry = 0`;
  const rows = maxRows === undefined ? 'DEFAULT' : String(maxRows + 1);
  const session = `SET SESSION sql_mode = '${place?.mode ?? ''}', time_zone = '+00:00', group_concat_max_len = 8388608, div_precision_increment = 12, sql_select_limit = ${rows}`;
  return [...(place === undefined ? [] : [`${session}, ${time}`]), 'START TRANSACTION READ ONLY'];
}

async function rolledBack<T>(
  connection: PoolConnection,
  begin: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  for (const sql of begin) await answer(connection, sql);
  // A connection that is gone has nothing to roll back.
  return work().finally(() => answer(connection, 'ROLLBACK').catch(() => undefined));
}

async function placeOf(ask: Ask): Promise<Place> {
  const [server] = (await ask('SELECT version() AS version, @@sql_mode AS mode')) as [
    { version: string; mode: string },
  ];
  const own = (await ask(
    `SELECT DISTINCT lower(routine_name) AS name FROM information_schema.routines`,
  )) as { name: string }[];
  const mode = server.mode.split(',').includes('ONLY_FULL_GROUP_BY') ? 'ONLY_FULL_GROUP_BY' : '';
  return {
    isMariadb: /mariadb/i.test(server.version),
    mode,
    ownFunctions: own.map(({ name }) => name),
  };
}

/** Asks the server to stop, by a connection of its own; the one that is stopped is cut. */
function cancel(connection: PoolConnection, settings: MysqlSettings): void {
  const canceller = createConnection({ ...settings, connectTimeout: 3000 });
  canceller.on('error', () => undefined);
  canceller.query(`KILL QUERY ${connection.threadId}`, () => {
    connection.destroy();
    canceller.destroy();
  });
}

/** True where the server answered, so that the connection is good for the next statement. */
function isAnswer(error: unknown): boolean {
  return (
    error instanceof Error && 'sqlState' in error && !('fatal' in error && error.fatal === true)
  );
}

/** By the error's name. `where` is host, port and database, never a secret. */
function serverFailures(where: string): FailureRules {
  return [
    [
      /^ER_(ACCESS_DENIED|NOT_SUPPORTED_AUTH|DBACCESS_DENIED_NO_PASSWORD)|AUTH_SWITCH/,
      'warehouse_auth',
      `${where} refused the login`,
    ],
    [/^ER_BAD_DB/, 'warehouse_not_found', where],
    [
      /^ER_(DBACCESS_DENIED|TABLEACCESS_DENIED|COLUMNACCESS_DENIED|PROCACCESS_DENIED|SPECIFIC_ACCESS_DENIED)/,
      'warehouse_privilege',
      'The login lacks a privilege',
    ],
    [
      /^ER_(NO_SUCH_TABLE|BAD_FIELD|SP_DOES_NOT_EXIST|UNKNOWN_TABLE|BAD_TABLE)/,
      'missing_object',
      'MySQL',
    ],
    [
      /^ER_(STATEMENT_TIMEOUT|QUERY_TIMEOUT|QUERY_INTERRUPTED)/,
      'query_timeout',
      'The server cancelled the query at its time limit',
    ],
    [/^ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION/, 'gate_refused', ''],
    [/^HANDSHAKE_NO_SSL_SUPPORT/, 'warehouse_insecure', `${where} offers no encrypted connection`],
    [
      /^HANDSHAKE_SSL|^ERR_TLS|CERT|self.signed|certificate/i,
      'warehouse_insecure',
      `${where} has no certificate that holds`,
    ],
    [
      /^(E[A-Z]{3,}|PROTOCOL_|ER_CON_COUNT|ER_SERVER_SHUTDOWN|ER_HOST)/,
      'warehouse_unreachable',
      `${where} cannot be reached`,
    ],
    [/^/, 'query_failed', 'MySQL could not run the query'],
  ];
}
