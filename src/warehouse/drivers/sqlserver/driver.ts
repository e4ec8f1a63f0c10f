import { sqlserver } from '../../../sql/dialects/sqlserver.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { statementMark } from '../../history/statement-history.ts';
import { connectionCatalogs, introspectCatalogs } from '../../scope/catalogs.ts';
import { rowsAsObjects, type RunCatalogQueries } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { SqlServerConfig } from './config.ts';
import { openConnections } from './connection/connections.ts';
import { inDatabase, readDatabases, readRightsIn } from './databases.ts';
import { sqlserverHistory } from './history.ts';
import { introspectSqlserver } from './introspect.ts';
import { readPlan } from './plan.ts';
import { sqlserverPolicy } from './policy.ts';
import { createReaderSql, type LoginRights } from './privileges.ts';
import { sqlserverSettings } from './settings.ts';
import { readStatementText } from './statement-text.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;

/**
 * SQL Server has no read-only session: the permissions of the login are the first wall, and are
 * read before anything else. A login that may write is let in only where the configuration says so,
 * and then only if the server tells it what a statement would do.
 */
export async function open(
  config: SqlServerConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const settings = sqlserverSettings(config, context);
  const { database } = settings;
  const databases = connectionCatalogs(database, config.other_databases);
  const connections = await openConnections(settings);
  const runCatalogQueries: RunCatalogQueries = (callSignal, work) =>
    connections.run({ signal: callSignal }, (transaction) =>
      work(async (sql) => rowsAsObjects(await transaction.query(sql, allRows))),
    );
  const remedy = createReaderSql(databases, config.schemas);
  try {
    const { facts, rights } = await runCatalogQueries(signal, async (query) => ({
      facts: await readDatabases(query, databases),
      rights: await readRightsIn(query, databases),
    }));
    requireSafeLogin(rights, { config, context, remedy });
    if (facts.haveSnapshots) connections.useSnapshots();
    const dialect = { ...sqlserver, defaultSchema: facts.defaultSchema };
    const { mayAskForPlans } = rights;
    return {
      dialect,
      policy: sqlserverPolicy(dialect, database),
      catalog: database,
      introspect: (scope, callSignal) =>
        runCatalogQueries(callSignal, (query) =>
          introspectCatalogs(databases, (name) =>
            introspectSqlserver(
              inDatabase(query, name, databases),
              scope.schemas ?? config.schemas,
            ),
          ),
        ),
      run: (sql, { maxRows, timeoutMs, asker }, callSignal) =>
        connections.run({ timeoutMs, signal: callSignal }, async (transaction) => {
          const { sent } = readStatementText(sql);
          if (mayAskForPlans) readPlan(await transaction.plan(sent));
          return transaction.query(markStatement(sent, asker), maxRows);
        }),
      ...(mayAskForPlans && {
        estimate: (sql: string, callSignal: AbortSignal) =>
          connections.run({ signal: callSignal }, async (transaction) => ({
            ...readPlan(await transaction.plan(readStatementText(sql).sent)),
            kind: 'guess' as const,
          })),
      }),
      async privileges() {
        const { findings } = await runCatalogQueries(signal, (query) =>
          readRightsIn(query, databases),
        );
        return findings.length > 0
          ? { readOnly: false, findings, remedy }
          : { readOnly: true, findings: ['the login may read and nothing else'] };
      },
      history: sqlserverHistory(runCatalogQueries),
      close: () => Promise.resolve(connections.close()),
    };
  } catch (error) {
    connections.close();
    throw error;
  }
}

interface LoginCheck {
  readonly config: SqlServerConfig;
  readonly context: OpenContext;
  readonly remedy: readonly string[];
}

function requireSafeLogin(
  { findings, mayAskForPlans }: LoginRights,
  { config, context, remedy }: LoginCheck,
): void {
  if (findings.length === 0) return;
  const what = `The login of connection "${context.connection}" may write, and SQL Server has no read-only session: ${findings[0]}.`;
  if (config.allow_writable_role !== true)
    throw warehouseError('warehouse_privilege', what, {
      hint: `Use a login that can only read: ${remedy.join(' ')} Or set allow_writable_role: true, if nobody can make one.`,
      exitCode: 4,
    });
  if (!mayAskForPlans)
    throw warehouseError('warehouse_privilege', `${what} It may not see plans either.`, {
      hint: 'Without the plan of a statement nothing but the parser of ktx keeps it from writing: GRANT SHOWPLAN to the login.',
      exitCode: 4,
    });
}

/** At its start: the Query Store cuts off what stands behind a statement. */
function markStatement(sql: string, asker: string | undefined): string {
  return sql.replace(/^[\s(]*\w+/, (start) => `${start} ${statementMark(asker)}`);
}
