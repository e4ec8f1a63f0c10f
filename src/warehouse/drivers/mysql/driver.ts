import { mysql } from '../../../sql/dialects/mysql.ts';
import type { DriverSession, OpenContext, QueryRows } from '../../driver.ts';
import { roleOf } from '../../identity/statement-identity.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import type { MysqlConfig } from './config.ts';
import { protocolError } from './connection/guard-connection.ts';
import { mysqlHistory } from './history.ts';
import { introspectMysql } from './introspect.ts';
import { runLimited } from './limited-query.ts';
import { mysqlPolicy } from './policy.ts';
import { createReaderSql, findPrivileges, requireNoOwnRights } from './privileges.ts';
import { mysqlSettings } from './settings.ts';
import { openTransactions, type ServerFacts, sendQuery } from './transactions.ts';
import { readWarnings } from './warnings.ts';

export async function open(
  config: MysqlConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const settings = mysqlSettings(config, context);
  const { database } = settings;
  const transactions = openTransactions(settings);
  const runCatalogQueries = <T>(
    callSignal: AbortSignal,
    work: (query: RunCatalogQuery) => Promise<T>,
  ) =>
    transactions.run({ signal: callSignal }, (connection) =>
      work((sql) => sendQuery(connection, sql)),
    );
  const readServer = async (query: RunCatalogQuery): Promise<ServerFacts> => {
    if (config.identity?.mode === 'role') await requireNoOwnRights(query, context.connection);
    return readServerFacts(query);
  };
  const server = await runCatalogQueries(signal, readServer).catch((error: unknown) => {
    transactions.close().catch(() => undefined);
    throw error;
  });
  transactions.useServerFacts(server);
  const dialect = { ...mysql, defaultSchema: database };
  const schemas = config.schemas ?? [database];
  return {
    dialect,
    policy: mysqlPolicy(dialect, server.storedFunctions),
    introspect: (scope, callSignal) =>
      runCatalogQueries(callSignal, (query) =>
        introspectMysql(query, scope.schemas ?? schemas, server.isMariadb),
      ),
    run: (sql, { maxRows, timeoutMs, identity }, callSignal) =>
      transactions.run<QueryRows>(
        { timeoutMs, maxRows, signal: callSignal, role: roleOf(identity) },
        async (connection, stop) => {
          const result = await runLimited(connection, sql, { maxRows, ...stop });
          // The connection of a truncated result is closed.
          if (result.truncated) return result;
          const warnings = await readWarnings((text) => sendQuery(connection, text));
          return { ...result, warnings: [...(result.warnings ?? []), ...warnings] };
        },
      ),
    async privileges() {
      const rows = await runCatalogQueries(new AbortController().signal, (query) =>
        query('SHOW GRANTS'),
      );
      const grants = rows.flatMap((row) => Object.values(row as Record<string, string>));
      const findings = findPrivileges(grants);
      const readOnly = findings.length === 0;
      return { readOnly, findings, remedy: readOnly ? undefined : createReaderSql(schemas) };
    },
    history: mysqlHistory(database, runCatalogQueries),
    close: () => transactions.close(),
  };
}

async function readServerFacts(query: RunCatalogQuery): Promise<ServerFacts> {
  const [server] = (await query('SELECT version() AS version, @@sql_mode AS mode')) as {
    readonly version?: string;
    readonly mode?: string;
  }[];
  const { version, mode = '' } = server ?? {};
  if (typeof version !== 'string') throw protocolError('it does not tell its version');
  const functions = (await query(
    `SELECT DISTINCT lower(routine_name) AS name FROM information_schema.routines`,
  )) as { name: string }[];
  const keepsFullGroupBy = mode.split(',').includes('ONLY_FULL_GROUP_BY');
  return {
    isMariadb: /mariadb/i.test(version),
    sqlMode: `ERROR_FOR_DIVISION_BY_ZERO${keepsFullGroupBy ? ',ONLY_FULL_GROUP_BY' : ''}`,
    storedFunctions: functions.map(({ name }) => name),
  };
}
