import {
  type Connection,
  createConnection,
  createPool,
  type Pool,
  type PoolConnection,
} from 'mysql2';
import { promisify } from 'node:util';
import { mysql } from '../../../sql/dialects/mysql.ts';
import { errorMessage } from '../../../lib/error.ts';
import { identityRefused } from '../../identity/statement-identity.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { type ErrorRules, translateError } from '../../warehouse-error.ts';
import { connectableSettings } from './connection/connectable-settings.ts';
import { guardConnection, guardPool, startTransaction } from './connection/guard-connection.ts';
import { socketOf, type StatementStop } from './limited-query.ts';
import type { MysqlSettings } from './settings.ts';
import { openWatchdog } from './watchdog.ts';

/** What differs between servers. */
export interface ServerFacts {
  readonly isMariadb: boolean;
  /**
   * The part of the server's `sql_mode` that is kept, and the mode that makes a division by zero a
   * warning. The other modes would change how a text is read.
   */
  readonly sqlMode: string;
  /** Names of stored functions, lower case. */
  readonly storedFunctions: readonly string[];
}

interface TransactionLimits extends CallLimits {
  readonly maxRows?: number;
  /** Undefined: the roles that the login has by itself. */
  readonly role?: string | undefined;
}

type TransactionWork<T> = (connection: PoolConnection, stop: StatementStop) => Promise<T>;

/**
 * A pool for each role, and one for the login: a role belongs to a connection of MySQL, not to a
 * transaction, so no connection ever serves two of them.
 */
function openPools(settings: MysqlSettings) {
  const pools = new Map<string | undefined, Pool>();
  const open = (): Pool => {
    const pool = guardPool(
      createPool({
        ...connectableSettings(settings),
        connectionLimit: 4,
        maxIdle: 4,
        idleTimeout: 30_000,
      }),
    );
    // If the server drops an idle connection, the next call gets a new one.
    pool.on('connection', (connection) => void connection.on('error', () => undefined));
    return pool;
  };
  return {
    of(role: string | undefined): Pool {
      const pool = pools.get(role) ?? open();
      pools.set(role, pool);
      return pool;
    },
    close: () => Promise.all([...pools.values()].map((pool) => promisify(pool.end.bind(pool))())),
  };
}

/** Pools that run all work in read-only transactions and roll them back. */
export function openTransactions(settings: MysqlSettings) {
  const { host, port, socketPath, database } = settings;
  const watchdog = openWatchdog(settings);
  const pools = openPools(settings);
  const errorRules = serverErrors(`MySQL at ${socketPath ?? `${host}:${port}`}/${database}`);
  let server: ServerFacts | undefined;
  return {
    /**
     * The limits of later calls are set in this server's spelling; until then no limits are set.
     */
    useServerFacts(facts: ServerFacts): void {
      server = facts;
    },
    async run<T>(limits: TransactionLimits, work: TransactionWork<T>): Promise<T> {
      const connection = await getConnection(pools.of(limits.role)).catch(
        translateError(errorRules),
      );
      // True if the connection must not be used again: a KILL on its way could hit its next
      // statement.
      let isSpent = false;
      startTransaction(connection);
      const { threadId } = connection;
      const cancel = (): void => {
        if (!isSpent) killQuery(connection, settings);
        isSpent = true;
      };
      const run = (milliseconds: number): Promise<T> => {
        const beginSql = beginStatements(server, milliseconds, limits.maxRows);
        const isStopped = (): boolean => isSpent;
        const { role } = limits;
        return runInTransaction(connection, { role, beginSql, isStopped }, () =>
          work(connection, { stop: cancel, isStopped }),
        );
      };
      watchdog.statementStarted(threadId);
      try {
        return await withTimeLimit({ ...limits, cancel, hintIfRunning }, run);
      } catch (error) {
        isSpent ||= !isServerAnswer(error);
        return translateError(errorRules)(error);
      } finally {
        watchdog.statementEnded(threadId);
        if (isSpent) closeAtOnce(connection);
        else connection.release();
      }
    },
    async close(): Promise<void> {
      await pools.close();
      watchdog.close();
    },
  };
}

function getConnection(pool: Pool): Promise<PoolConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<PoolConnection>();
  pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)));
  return promise;
}

/** Sends one statement; returns its rows as objects. */
export function sendQuery(
  connection: Pick<PoolConnection, 'query'>,
  sql: string,
): Promise<readonly unknown[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly unknown[]>();
  connection.query({ sql, supportBigNumbers: true, dateStrings: true }, (error, rows) =>
    error ? reject(error) : resolve(rows as unknown[]),
  );
  return promise;
}

const hintIfRunning =
  'SHOW PROCESSLIST on the server shows it. Functions on long texts, like LIKE and REGEXP_REPLACE, ignore a KILL: give them shorter texts.';
const maxUint32 = 2 ** 32 - 1;
/**
 * The subquery makes the server forget the warnings of the connection's last statement: a statement
 * without tables keeps them.
 */
const maxGroupConcat = '(SELECT 8388608 FROM (SELECT 1) AS forget)';

function beginStatements(
  server: ServerFacts | undefined,
  milliseconds: number,
  maxRows: number | undefined,
): readonly string[] {
  const begin = 'START TRANSACTION READ ONLY';
  if (server === undefined) return [begin];
  // Only the time limit ends a recursion: MariaDB would cut it off after 1,000 steps and report
  // success.
  const timeLimit = server.isMariadb
    ? `max_recursive_iterations = ${maxUint32}, max_statement_time = ${milliseconds / 1000}`
    : `cte_max_recursion_depth = ${maxUint32}, max_execution_time = ${milliseconds}, information_schema_stats_expiry = 0`;
  const rowLimit = maxRows === undefined ? 'DEFAULT' : String(maxRows + 1);
  return [
    `SET SESSION sql_mode = '${server.sqlMode}', time_zone = '+00:00', group_concat_max_len = ${maxGroupConcat}, div_precision_increment = 12, sql_select_limit = ${rowLimit}, ${timeLimit}`,
    begin,
  ];
}

interface TransactionFrame extends Pick<StatementStop, 'isStopped'> {
  readonly beginSql: readonly string[];
  readonly role: string | undefined;
}

async function runInTransaction<T>(
  connection: PoolConnection,
  { beginSql, role, isStopped }: TransactionFrame,
  work: () => Promise<T>,
): Promise<T> {
  if (role !== undefined) await takeRole(connection, role);
  for (const sql of beginSql) await sendQuery(connection, sql);
  return work().finally(() =>
    // Behind a stopped statement it would wait. A connection that is closed or gone has nothing to
    // roll back.
    isStopped() ? undefined : sendQuery(connection, 'ROLLBACK').catch(() => undefined),
  );
}

async function takeRole(connection: PoolConnection, role: string): Promise<void> {
  await sendQuery(connection, `SET ROLE ${mysql.quote(role)}`).catch((error: unknown) => {
    throw isServerAnswer(error) ? identityRefused(errorMessage(error)) : error;
  });
}

/** How long the second connection may take for its login, and then for the statement. */
const killMs = 3000;

/** Stops the statement from a second connection. */
function killQuery({ threadId }: PoolConnection, settings: MysqlSettings): void {
  const canceller = guardConnection(
    createConnection({ ...connectableSettings(settings), connectTimeout: killMs }),
  );
  const end = (): void => closeAtOnce(canceller);
  canceller.on('error', end);
  // A server that does not answer would keep this process alive.
  const timer = setTimeout(end, 2 * killMs);
  canceller.query(`KILL QUERY ${threadId}`, () => {
    clearTimeout(timer);
    end();
  });
}

/**
 * The library alone would wait for the server to close its end, which a statement that goes on does
 * not.
 */
function closeAtOnce(connection: Connection): void {
  connection.destroy();
  socketOf(connection).destroy();
}

/**
 * True if the server answered with an error, so that the connection can take the next statement.
 */
function isServerAnswer(error: unknown): boolean {
  return (
    error instanceof Error && 'sqlState' in error && !('fatal' in error && error.fatal === true)
  );
}

/** Matches the error's name. `server` is host, port and database, never a secret. */
function serverErrors(server: string): ErrorRules {
  return [
    [
      /^ER_(ACCESS_DENIED|NOT_SUPPORTED_AUTH|DBACCESS_DENIED_NO_PASSWORD)|AUTH_SWITCH/,
      'warehouse_auth',
      `${server} refused the login`,
    ],
    [/^ER_BAD_DB/, 'warehouse_not_found', server],
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
    [/^HANDSHAKE_NO_SSL_SUPPORT/, 'warehouse_insecure', `${server} offers no encrypted connection`],
    [
      /^HANDSHAKE_SSL|^ERR_TLS|CERT|self.signed|certificate/i,
      'warehouse_insecure',
      `The certificate of ${server} cannot be verified`,
    ],
    [
      /^(E[A-Z]{3,}|PROTOCOL_|ER_CON_COUNT|ER_SERVER_SHUTDOWN|ER_HOST)/,
      'warehouse_unreachable',
      `${server} cannot be reached`,
    ],
    [/^/, 'query_failed', 'MySQL could not run the query'],
  ];
}
