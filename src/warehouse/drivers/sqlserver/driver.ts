import { sqlserver } from '../../../sql/dialects/sqlserver.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { statementMark } from '../../history/statement-history.ts';
import type { RunCatalogQueries } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { SqlServerConfig } from './config.ts';
import { openConnections, type SqlServerTransaction } from './connection/connections.ts';
import { sqlserverHistory } from './history.ts';
import { introspectSqlserver } from './introspect.ts';
import { readPlan } from './plan.ts';
import { sqlserverPolicy } from './policy.ts';
import { createReaderSql, type LoginRights, readRights } from './privileges.ts';
import { sqlserverSettings } from './settings.ts';
import { readStatementText } from './statement-text.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;
const factsSql = `SELECT SCHEMA_NAME() AS default_schema, d.snapshot_isolation_state AS snapshots FROM sys.databases AS d WHERE d.database_id = DB_ID()`;

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
  const connections = await openConnections(settings);
  const runCatalogQueries: RunCatalogQueries = (callSignal, work) =>
    connections.run({ signal: callSignal }, (transaction) =>
      work((sql) => rowObjects(sql, transaction)),
    );
  const remedy = createReaderSql(database, config.schemas);
  try {
    const opened = await runCatalogQueries(signal, async (query) => {
      const [facts] = (await query(factsSql)) as {
        readonly default_schema: string;
        readonly snapshots: number;
      }[];
      return { facts, rights: await readRights(query) };
    });
    requireSafeLogin(opened.rights, { config, context, remedy });
    if (opened.facts?.snapshots === 1) connections.useSnapshots();
    const dialect = { ...sqlserver, defaultSchema: opened.facts?.default_schema ?? 'dbo' };
    const { mayAskForPlans } = opened.rights;
    return {
      dialect,
      policy: sqlserverPolicy(dialect, database),
      introspect: (scope, callSignal) =>
        runCatalogQueries(callSignal, (query) =>
          introspectSqlserver(query, scope.schemas ?? config.schemas),
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
        const { findings } = await runCatalogQueries(signal, readRights);
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

async function rowObjects(
  sql: string,
  transaction: SqlServerTransaction,
): Promise<readonly Record<string, unknown>[]> {
  const { columns, rows } = await transaction.query(sql, allRows);
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])),
  );
}
