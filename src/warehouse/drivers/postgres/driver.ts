import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import type { TableRef } from '../../../sql/dialect.ts';
import { postgres } from '../../../sql/dialects/postgres.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import { type CallLimits, withTimeLimit } from '../../time-limit.ts';
import { type ErrorRules, translateError } from '../../warehouse-error.ts';
import { clientSettings } from './client-settings.ts';
import type { PostgresConfig } from './config.ts';
import {
  type SystemObjects,
  systemObjectsSql,
  type UserObjects,
  userObjectsSql,
} from './database-objects.ts';
import { safeExtensionFunctionsSql } from './extension-functions.ts';
import { GuardedClient } from './guard-socket.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import { postgresHistory } from './history/history.ts';
import { introspectPostgres, partitionedTableSql } from './introspect.ts';
import { runLimited, socketOf } from './limited-query.ts';
import { postgresPolicy } from './policy.ts';
import { createReaderSql, privilegesSql } from './privileges.ts';

/**
 * Statements over the catalog are never cancelled by a caller; they have a limit of time of their
 * own.
 */
const forever = (): AbortSignal => new AbortController().signal;

export async function open(
  config: PostgresConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const transactions = openTransactions(clientSettings(config, context));
  const runCatalogQueries = <T>(
    callSignal: AbortSignal,
    work: (query: RunCatalogQuery) => Promise<T>,
  ) =>
    transactions.run({ signal: callSignal }, (client) =>
      work(async (sql) => (await client.query(sql)).rows as unknown[]),
    );
  const queryOneRow = async <CatalogRecord>(sql: string): Promise<CatalogRecord> => {
    const rows = await runCatalogQueries(forever(), (query) => query(sql));
    return (rows as [CatalogRecord])[0];
  };
  const readSystem = async (client: PoolClient): Promise<SystemObjects> => {
    const { rows } = await client.query<SystemObjects>(systemObjectsSql);
    await transactions.watchClient(client);
    return (rows as [SystemObjects])[0];
  };
  const system = await transactions.run({ signal }, readSystem).catch(async (error: unknown) => {
    await transactions.close();
    throw error;
  });
  return {
    dialect: postgres,
    policy: postgresPolicy(system, {
      loadUserObjects: () => queryOneRow<UserObjects>(userObjectsSql),
      loadExtensionFunctions: async () => {
        const { names } = await queryOneRow<{ names: string[] }>(safeExtensionFunctionsSql);
        return new Set(names);
      },
      findPartitionedTable: async (name) => {
        const rows = await runCatalogQueries(forever(), (query) =>
          query(partitionedTableSql(name)),
        );
        return (rows as TableRef[])[0];
      },
    }),
    introspect: (scope, callSignal) =>
      runCatalogQueries(callSignal, (query) =>
        introspectPostgres(query, { schemas: scope.schemas ?? config.schemas }),
      ),
    run: (sql, { maxRows, timeoutMs }, callSignal) =>
      transactions.run({ timeoutMs, signal: callSignal }, (client) =>
        runLimited(client, markOwnStatement(sql), maxRows),
      ),
    async privileges() {
      const rows = await runCatalogQueries(forever(), (query) => query(privilegesSql));
      const findings = (rows as { finding: string }[]).map(({ finding }) => finding);
      const readOnly = findings.length === 0;
      const remedy = readOnly ? undefined : createReaderSql(config.schemas ?? system.searchPath);
      return { readOnly, findings, remedy };
    },
    history: postgresHistory(runCatalogQueries),
    close: () => transactions.close(),
  };
}

/** A pool that runs all work in read-only transactions and rolls them back. */
function openTransactions(settings: ClientConfig) {
  const poolLimits = { max: 4, idleTimeoutMillis: 30_000, allowExitOnIdle: true };
  const pool = new Pool({ ...settings, ...poolLimits, Client: GuardedClient });
  // If the server drops an idle connection, the next call gets a new one.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    client.query('SET default_transaction_read_only = on').catch(() => undefined);
  });
  let beginSql = transactionSql;
  // The library merges the URL, the fields and the environment.
  const { host, port, database } = new Client(settings);
  const errorRules = serverErrors(`Postgres at ${host}:${port}/${database}`);
  return {
    async run<T>(limits: CallLimits, work: (client: PoolClient) => Promise<T>): Promise<T> {
      const client = await pool.connect().catch(translateError(errorRules));
      // After a cancel the connection is thrown away: the cancel could still hit its next
      // statement.
      let isCancelled = false;
      if (client instanceof GuardedClient) client.guard?.startTransaction();
      try {
        const cancel = (): void => {
          isCancelled = true;
          void cancelStatement(client, settings);
        };
        const result = await withTimeLimit({ ...limits, cancel, hintIfRunning }, (milliseconds) =>
          runInTransaction(
            client,
            `${beginSql}; SET LOCAL statement_timeout = ${milliseconds}`,
            work,
          ),
        );
        client.release(isCancelled);
        return result;
      } catch (error) {
        client.release(isCancelled || !(error instanceof DatabaseError));
        return translateError(errorRules)(error);
      }
    },
    /**
     * Call it at the end of a transaction. If the server can, it watches the client in all later
     * ones.
     */
    async watchClient(client: PoolClient): Promise<void> {
      // Servers before version 14, and those on Windows, refuse.
      await client.query(watchClientSql).then(
        () => (beginSql = `${transactionSql}; ${watchClientSql}`),
        () => undefined,
      );
    },
    close: () => pool.end(),
  };
}

/**
 * A database or a role can have other defaults. The first group decides how values are written:
 * without `extra_float_digits`, numbers lose digits. The second decides how a statement is read:
 * the gate's parser knows only these meanings.
 */
const sessionSettings = [
  "TimeZone = 'UTC'",
  "DateStyle = 'ISO, YMD'",
  "IntervalStyle = 'iso_8601'",
  "bytea_output = 'hex'",
  'extra_float_digits = 1',
  "client_min_messages = 'notice'",
  'standard_conforming_strings = on',
  'transform_null_equals = off',
];

const hintIfRunning = 'pg_stat_activity on the server shows it; pg_terminate_backend ends it.';
/**
 * The server asks the operating system this often whether its client is still there; if not, it
 * ends the statement.
 */
const watchClientSql = "SET LOCAL client_connection_check_interval = '250ms'";
const transactionSql = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
  ${sessionSettings.map((setting) => `SET LOCAL ${setting}`).join('; ')}`;

async function runInTransaction<T>(
  client: PoolClient,
  beginSql: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  await client.query(beginSql);
  // A connection that is gone has nothing to roll back.
  return work(client).finally(() => client.query('ROLLBACK').catch(() => undefined));
}

/** Asks the server to stop the statement. If the server does not answer, the connection is cut. */
async function cancelStatement(client: PoolClient, settings: ClientConfig): Promise<void> {
  const { processID } = client as unknown as { processID: number };
  const limits = { connectionTimeoutMillis: 3000, query_timeout: 3000 };
  const canceller = new GuardedClient({ ...settings, ...limits });
  // After the login, a broken connection is an event that would end this process.
  canceller.on('error', () => undefined);
  await canceller
    .connect()
    .then(() => canceller.query('SELECT pg_cancel_backend($1)', [processID]))
    .catch(() => socketOf(client).destroy());
  await canceller.end().catch(() => undefined);
}

/**
 * Matches the SQLSTATE, or the library's own code or message. `server` is host, port and database,
 * never a secret.
 */
function serverErrors(server: string): ErrorRules {
  return [
    [
      /password must be a string|no password supplied/,
      'warehouse_auth',
      `${server} asks for a password, but none is configured`,
    ],
    [/^28|SASL/, 'warehouse_auth', `${server} refused the login`],
    [/^3D000/, 'warehouse_not_found', server],
    [/^42501/, 'warehouse_privilege', 'The login lacks a privilege'],
    [/^(42P01|42703|42883|3F000)/, 'missing_object', 'Postgres'],
    [/^57014/, 'query_timeout', 'The server cancelled the query at its time limit'],
    [/^25006/, 'gate_refused', ''],
    [/^(E[A-Z_]+|08...|57P0[1-3]|53300|):/, 'warehouse_unreachable', `${server} cannot be reached`],
    [/^/, 'query_failed', 'Postgres could not run the query'],
  ];
}
