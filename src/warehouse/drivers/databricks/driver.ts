import { databricks } from '../../../sql/dialects/databricks.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import type { RunCatalogQuery } from '../../table-schemas.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { DatabricksConfig } from './config.ts';
import { DatabricksConnection } from './connection.ts';
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
    async (sql) => {
      const { columns, rows } = await connection.run(sql, { maxRows: allRows, signal: callSignal });
      return rows.map((row) =>
        Object.fromEntries(columns.map(({ name }, index) => [name, row[index]])),
      );
    };
  const mayWrite = config.allow_writable_role === true;
  const remedy = createReaderSql(catalog, schemas);
  try {
    const findings = await findPrivileges(catalogQuery(signal), catalog);
    if (findings.length > 0 && !mayWrite)
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
      introspectDatabricks(catalogQuery(callSignal), catalog, scope.schemas ?? schemas),
    async run(sql, { maxRows, timeoutMs, asker }, callSignal) {
      const limits = { maxRows, timeoutMs, signal: callSignal };
      if (mayWrite) await connection.explain(explainedQuery(sql), limits);
      return connection.run(markOwnStatement(sql, asker), limits);
    },
    async privileges() {
      const findings = await findPrivileges(catalogQuery(signal), catalog);
      return findings.length > 0
        ? { readOnly: false, findings, remedy }
        : { readOnly: true, findings: ['the login may read and nothing else'] };
    },
    close: () => Promise.resolve(close()),
  };
}
