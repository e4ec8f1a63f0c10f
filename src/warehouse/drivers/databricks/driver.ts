import { databricks } from '../../../sql/dialects/databricks.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import {
  connectionCatalogs,
  introspectCatalogs,
  privilegesInCatalogs,
} from '../../scope/catalogs.ts';
import { rowsAsObjects, type RunCatalogQuery } from '../../table-schemas.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { DatabricksConfig } from './config.ts';
import { DatabricksConnection } from './connection.ts';
import { readCost } from './cost.ts';
import { introspectDatabricks } from './introspect.ts';
import { databricksLogin, workspaceUrl } from './login.ts';
import { databricksPolicy, explainedQuery } from './policy.ts';
import { createReaderSql, findPrivileges } from './privileges.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;

/**
 * Databricks has no read-only session: the grants of the login are the first wall, and are read
 * before anything else. A login that may write is let in only where the configuration says so.
 */
export async function open(
  config: DatabricksConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const { catalog, schemas, warehouse_id: warehouseId } = config;
  const catalogs = connectionCatalogs(catalog, config.other_catalogs);
  const baseUrl = workspaceUrl(config, context);
  const schema = schemas?.[0] ?? 'default';
  const login = databricksLogin(config, context, baseUrl);
  const connection = new DatabricksConnection(
    { connection: context.connection, baseUrl, warehouseId, catalog, schema },
    login,
  );
  const close = (): void => {
    connection.close();
    login.close();
  };
  const catalogQuery =
    (callSignal: AbortSignal): RunCatalogQuery =>
    async (sql) =>
      rowsAsObjects(await connection.run(sql, { maxRows: allRows, signal: callSignal }));
  const mayWrite = config.allow_writable_role === true;
  const readPrivileges = (): Promise<PrivilegeReport> =>
    privilegesInCatalogs(catalogs, async (name) => {
      const findings = await findPrivileges(catalogQuery(signal), name);
      return findings.length > 0
        ? { readOnly: false, findings, remedy: createReaderSql(name, schemas) }
        : { readOnly: true, findings: ['the login may read and nothing else'] };
    });
  try {
    const { readOnly, findings, remedy = [] } = await readPrivileges();
    if (!readOnly && !mayWrite)
      throw warehouseError(
        'warehouse_privilege',
        `The login of connection "${context.connection}" may write, and Databricks has no read-only session: ${findings[0]}.`,
        {
          hint: `Use a login that can only read: ${remedy.slice(1).join(' ')} Or set allow_writable_role: true, if nobody can make one.`,
          exitCode: 4,
        },
      );
  } catch (error) {
    close();
    throw error;
  }
  const dialect = { ...databricks, defaultSchema: schema };
  return {
    dialect,
    policy: databricksPolicy(dialect, catalog),
    introspect: (scope, callSignal) =>
      introspectCatalogs(catalogs, (name) =>
        introspectDatabricks(catalogQuery(callSignal), name, scope.schemas ?? schemas),
      ),
    async run(sql, { maxRows, timeoutMs, asker }, callSignal) {
      const limits = { maxRows, timeoutMs, signal: callSignal };
      if (mayWrite) await connection.explain(explainedQuery(sql), limits);
      return connection.run(markOwnStatement(sql, asker), limits);
    },
    estimate: async (sql, callSignal) => {
      const asked = `EXPLAIN COST ${explainedQuery(sql)}`;
      return readCost(await connection.run(asked, { maxRows: allRows, signal: callSignal }));
    },
    privileges: readPrivileges,
    close: () => Promise.resolve(close()),
  };
}
