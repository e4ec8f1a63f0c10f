import { UserError } from '../../../lib/error.ts';
import { parseJson } from '../../../lib/json.ts';
import { readVersion } from '../../../lib/version.ts';
import { snowflake } from '../../../sql/dialects/snowflake.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import { openRest } from '../../rest/client.ts';
import { connectionCatalogs, introspectCatalogs } from '../../scope/catalogs.ts';
import { rowsAsObjects, type RunCatalogQuery } from '../../table-schemas.ts';
import type { CallLimits } from '../../time-limit.ts';
import { warehouseError } from '../../warehouse-error.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import { serverAddress, type SnowflakeConfig } from './config.ts';
import { SnowflakeConnection, type StatementLogin, type StatementPlace } from './connection.ts';
import { snowflakeHistory } from './history.ts';
import { loginKey, openStatementLogins, requireNoSecondaryRoles } from './identity.ts';
import { introspectSnowflake } from './catalog/introspect.ts';
import { snowflakeLogin } from './login.ts';
import { foldName } from './names.ts';
import { readPlan, type StatementPlan } from './plan.ts';
import { explainedStatement, snowflakePolicy } from './policy.ts';
import { createReaderSql, type LoginRoles, readPrivileges } from './privileges.ts';

/** Statements over the server's own catalogs return all that there is. */
const allRows = 10_000_000;

export async function open(
  config: SnowflakeConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const schemas = config.schemas?.map(foldName);
  const place = placeOf(config, schemas);
  const databases = connectionCatalogs(place.database, config.other_databases?.map(foldName));
  const connection = connect(config, context, place);
  try {
    const catalog = catalogQuery(connection, signal);
    const roles = await readRoles(catalog, place);
    await requireDatabases(catalog, databases.further);
    const remedy = createReaderSql(place, databases, schemas);
    const privileges = await readPrivileges(catalog, roles, remedy);
    const requireReader = (report: PrivilegeReport): void => {
      if (!report.readOnly && config.allow_writable_role !== true)
        throw writableRole(context.connection, report);
    };
    requireReader(privileges);
    const loginFor = openStatementLogins(async (login) => {
      const query = catalogQuery(connection, new AbortController().signal, login);
      const own = await readRoles(query, place);
      if (login.headers === undefined) requireNoSecondaryRoles(own, context.connection);
      requireReader(await readPrivileges(query, own, remedy));
    });
    const dialect = { ...snowflake, defaultSchema: place.schema };
    const explain = rememberPlan((sql, limits) => readPlanOf(connection, sql, limits));
    return {
      dialect,
      policy: snowflakePolicy(dialect, place.database),
      catalog: place.database,
      introspect: (scope, callSignal) =>
        introspectCatalogs(databases, (database) =>
          introspectSnowflake(catalogQuery(connection, callSignal), database, {
            schemas: scope.schemas ?? schemas,
          }),
        ),
      async run(sql, { maxRows, timeoutMs, identity, asker }, callSignal) {
        const started = performance.now();
        const login = await loginFor(identity);
        await explain.take(sql, { signal: callSignal, timeoutMs, login });
        return connection.run(markOwnStatement(sql, asker), {
          maxRows,
          timeoutMs: Math.max(1, timeoutMs - (performance.now() - started)),
          signal: callSignal,
          isLong: true,
          login,
        });
      },
      async estimate(sql, callSignal, identity) {
        const login = await loginFor(identity);
        const { bytes } = await explain.look(sql, { signal: callSignal, login });
        return { bytes, kind: 'upper' };
      },
      privileges: async () => privileges,
      history: snowflakeHistory(place.database, (callSignal, work) =>
        work(catalogQuery(connection, callSignal)),
      ),
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function placeOf(config: SnowflakeConfig, schemas: readonly string[] | undefined): StatementPlace {
  const { database, warehouse, role } = config;
  return {
    database: foldName(database),
    schema: schemas?.[0] ?? snowflake.defaultSchema,
    warehouse: warehouse === undefined ? undefined : foldName(warehouse),
    role: role === undefined ? undefined : foldName(role),
  };
}

function connect(
  config: SnowflakeConfig,
  context: OpenContext,
  place: StatementPlace,
): SnowflakeConnection {
  const address = serverAddress(config);
  const login = snowflakeLogin(config, context);
  const rest = openRest({
    connection: context.connection,
    baseUrl: address,
    headers: { 'user-agent': `ktx/${readVersion()}` },
    login,
  });
  return new SnowflakeConnection({
    rest,
    server: new URL(address).host,
    place,
  });
}

function catalogQuery(
  connection: SnowflakeConnection,
  signal: AbortSignal,
  login?: StatementLogin,
): RunCatalogQuery {
  return async (sql) =>
    rowsAsObjects(await connection.run(sql, { maxRows: allRows, signal, login }));
}

async function readRoles(query: RunCatalogQuery, place: StatementPlace): Promise<LoginRoles> {
  const [row] = (await query(
    'SELECT CURRENT_ROLE() AS "role", CURRENT_SECONDARY_ROLES() AS "secondary", CURRENT_DATABASE() AS "database"',
  )) as { role: string | null; secondary: string | null; database: string | null }[];
  if (row?.database == null) throw noDatabaseError(place.database, 'database');
  if (row.role === null)
    throw warehouseError('warehouse_privilege', 'The user has no default role.', {
      hint: 'Set role of the connection.',
    });
  const secondary = parseJson(row.secondary ?? '') as { readonly roles?: string } | undefined;
  const names = secondary?.roles?.split(',') ?? [];
  return { role: row.role, secondary: names.filter((name) => name !== '') };
}

/** Throws for a database that is not there, or that the role may not see. */
async function requireDatabases(
  query: RunCatalogQuery,
  databases: readonly string[],
): Promise<void> {
  for (const database of databases)
    await query(
      `SELECT 1 AS "one" FROM ${snowflake.quote(database)}.INFORMATION_SCHEMA.TABLES LIMIT 1`,
    ).catch((error: unknown) => {
      throw error instanceof UserError && error.code === 'missing_object'
        ? noDatabaseError(database, 'other_databases')
        : error;
    });
}

function noDatabaseError(database: string, key: string): UserError {
  return warehouseError(
    'warehouse_not_found',
    `There is no database ${database}, or the role may not see it.`,
    { hint: `Check ${key} and role of the connection; GRANT USAGE ON DATABASE shows it.` },
  );
}

function writableRole(connection: string, { findings, remedy = [] }: PrivilegeReport) {
  return warehouseError(
    'warehouse_privilege',
    `The role of connection "${connection}" may do more than read, and Snowflake has no read-only session: ${findings.slice(0, 5).join('; ')}.`,
    {
      hint: `Create a user that can only read, or set allow_writable_role: true.\n${remedy.join('\n')}`,
      details: { findings },
    },
  );
}

interface PlanLimits extends CallLimits {
  readonly login: StatementLogin | undefined;
}

async function readPlanOf(
  connection: SnowflakeConnection,
  sql: string,
  limits: PlanLimits,
): Promise<StatementPlan> {
  const { rows } = await connection.run(`EXPLAIN USING JSON ${explainedStatement(sql)}`, {
    ...limits,
    maxRows: 1,
  });
  return readPlan(rows[0]?.[0]);
}

/** An estimate and the run after it need one plan only, if they are for the same login. */
function rememberPlan(
  explain: (sql: string, limits: PlanLimits) => Promise<StatementPlan>,
): Readonly<Record<'look' | 'take', typeof explain>> {
  const plans = new Map<string, StatementPlan>();
  const keyOf = (sql: string, { login }: PlanLimits): string => loginKey(login) + sql;
  return {
    async look(sql, limits) {
      const plan = await explain(sql, limits);
      if (plans.size > 100) plans.clear();
      plans.set(keyOf(sql, limits), plan);
      return plan;
    },
    async take(sql, limits) {
      const key = keyOf(sql, limits);
      const plan = plans.get(key) ?? (await explain(sql, limits));
      plans.delete(key);
      return plan;
    },
  };
}
