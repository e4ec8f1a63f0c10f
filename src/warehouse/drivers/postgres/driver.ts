import type { PoolClient } from 'pg';
import { UserError } from '../../../lib/error.ts';
import type { TableRef } from '../../../sql/dialect.ts';
import { postgres } from '../../../sql/dialects/postgres.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import { clientSettings } from '../../postgres-wire/client-settings.ts';
import { runLimited } from '../../postgres-wire/limited-query.ts';
import { openTransactions, type WireEngine } from '../../postgres-wire/transactions.ts';
import { postgresValues } from '../../postgres-wire/values.ts';
import type { PostgresConfig } from './config.ts';
import { type SystemObjects, systemObjectsSql } from './database-objects.ts';
import { safeExtensionFunctionsSql } from './extension-functions.ts';
import { identitySetting, requireRowSecurity } from './identity.ts';
import { postgresHistory } from './history/history.ts';
import { introspectPostgres, partitionedTableSql } from './introspect.ts';
import { postgresPolicy } from './policy.ts';
import { createReaderSql, privilegesSql } from './privileges.ts';
import { userObjectsReader } from './read-user-objects.ts';

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
  const settings = clientSettings(config, context, { title: engine.title });
  const transactions = openTransactions(settings, engine);
  const { runCatalogQueries } = transactions;
  const queryOneRow = async <CatalogRecord>(sql: string): Promise<CatalogRecord> => {
    const rows = await runCatalogQueries(forever(), (query) => query(sql));
    return (rows as [CatalogRecord])[0];
  };
  const readSystem = async (client: PoolClient): Promise<SystemObjects> => {
    await requireRowSecurity(client, config, context);
    const { rows } = await client.query<SystemObjects>(systemObjectsSql);
    // Servers before version 14, and those on Windows, refuse.
    await transactions.addSetting(client, watchClientSql);
    return (rows as [SystemObjects])[0];
  };
  const system = await transactions.run({ signal }, readSystem).catch(async (error: unknown) => {
    await transactions.close();
    throw error;
  });
  return {
    dialect: postgres,
    policy: postgresPolicy(system, {
      loadUserObjects: userObjectsReader((work) => runCatalogQueries(forever(), work)),
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
      transactions.streamCatalogRows(callSignal, (stream) =>
        introspectPostgres(stream, { schemas: scope.schemas ?? config.schemas }),
      ),
    run: (sql, { maxRows, timeoutMs, identity, asker }, callSignal) => {
      const setting = identitySetting(config, identity);
      return transactions.run({ timeoutMs, signal: callSignal, setting }, (client) =>
        runLimited(client, { sql: markOwnStatement(sql, asker), maxRows }, postgresValues),
      );
    },
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

/**
 * The server asks the operating system this often whether its client is still there; if not, it
 * ends the statement.
 */
const watchClientSql = "SET LOCAL client_connection_check_interval = '250ms'";
const transactionSql = `BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
  ${sessionSettings.map((setting) => `SET LOCAL ${setting}`).join('; ')}`;

/** Engines that speak the protocol of Postgres, and lack catalogs and settings that ktx needs. */
function refuseOtherEngine(settings: ReadonlyMap<string, string>): Error | undefined {
  if (settings.has('crdb_version'))
    return new UserError('not_supported', 'The server is CockroachDB, which ktx cannot read yet.', {
      hint: 'Its catalogs lack what the check of a statement needs. Load an export into Postgres or DuckDB.',
    });
  if (settings.get('server_version')?.startsWith('8.0.') !== true) return undefined;
  return new UserError('not_supported', 'The server says that it is Postgres 8.0.', {
    hint: 'Amazon Redshift says so: set driver: redshift.',
  });
}

const engine: WireEngine = {
  title: 'Postgres',
  transactionSql,
  sessionSql: 'SET default_transaction_read_only = on',
  refuse: refuseOtherEngine,
  hintIfRunning: 'pg_stat_activity on the server shows it; pg_terminate_backend ends it.',
};
