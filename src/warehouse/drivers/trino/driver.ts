import { trino } from '../../../sql/dialects/trino.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import { rowsAsObjects, type RunCatalogQueries } from '../../table-schemas.ts';
import {
  connectionCatalogs,
  introspectCatalogs,
  privilegesInCatalogs,
} from '../../scope/catalogs.ts';
import type { TrinoConfig } from './config.ts';
import { TrinoConnection } from './connection.ts';
import { trinoHistory } from './history.ts';
import { introspectTrino } from './introspect.ts';
import { readPlan } from './plan.ts';
import { trinoPolicy } from './policy.ts';
import { trinoPrivileges } from './privileges.ts';
import { trinoSettings } from './settings.ts';
import { withoutLastSemicolon } from './statement-text.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;
const mebibyte = 2 ** 20;

export async function open(
  config: TrinoConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const settings = trinoSettings(config, context);
  const { catalog, schema, schemas } = settings;
  const catalogs = connectionCatalogs(catalog, config.other_catalogs);
  const connection = new TrinoConnection(context.connection, settings);
  // Each statement has a transaction of its own: one that the login may not run would end it.
  const runCatalogQueries: RunCatalogQueries = (callSignal, work) =>
    work((sql) =>
      connection.transact({ signal: callSignal }, async (transaction) =>
        rowsAsObjects(await transaction.query(sql, allRows)),
      ),
    );
  const maxReadBytes = config.max_read_mb === undefined ? undefined : config.max_read_mb * mebibyte;
  try {
    for (const name of [catalog, ...catalogs.further])
      await runCatalogQueries(signal, (query) =>
        query(`SELECT 1 AS one FROM ${trino.quote(name)}.information_schema.schemata LIMIT 1`),
      );
  } catch (error) {
    connection.close();
    throw error;
  }
  const dialect = { ...trino, defaultSchema: schema };
  return {
    dialect,
    policy: trinoPolicy(dialect, catalog),
    catalog,
    introspect: (scope, callSignal) =>
      runCatalogQueries(callSignal, (query) =>
        introspectCatalogs(catalogs, (name) =>
          introspectTrino(query, { catalog: name, schemas: scope.schemas ?? schemas }),
        ),
      ),
    run: (sql, { maxRows, timeoutMs, maxBytes, identity, asker }, callSignal) =>
      connection.transact(
        { timeoutMs, signal: callSignal, maxBytes: smaller(maxBytes, maxReadBytes), identity },
        async (transaction) => {
          const statement = withoutLastSemicolon(sql);
          await readPlan(statement, transaction);
          return transaction.query(markOwnStatement(statement, asker), maxRows);
        },
      ),
    limitsBytes: true,
    estimate: (sql, callSignal, identity) =>
      connection.transact({ signal: callSignal, identity }, async (transaction) => ({
        ...(await readPlan(withoutLastSemicolon(sql), transaction)),
        kind: 'guess' as const,
      })),
    privileges: () =>
      runCatalogQueries(signal, (query) =>
        privilegesInCatalogs(catalogs, (name) =>
          trinoPrivileges(query, { catalog: name, schemas }),
        ),
      ),
    history: trinoHistory(runCatalogQueries),
    close: () => Promise.resolve(connection.close()),
  };
}

function smaller(first: number | undefined, second: number | undefined): number | undefined {
  const limits = [first, second].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}
