import { redshift } from '../../../sql/dialects/redshift.ts';
import type { DriverSession, OpenContext } from '../../driver.ts';
import { markOwnStatement } from '../../history/statement-history.ts';
import { clientSettings } from '../../postgres-wire/client-settings.ts';
import { runLimited } from '../../postgres-wire/limited-query.ts';
import { openTransactions, type WireEngine } from '../../postgres-wire/transactions.ts';
import { type RedshiftConfig, redshiftDriver } from './config.ts';
import { redshiftHistory } from './history.ts';
import { introspectRedshift, isUserSchema } from './introspect.ts';
import { redshiftPolicy } from './policy.ts';
import { privilegeReport, readPowers, writableLoginError } from './privileges.ts';
import { redshiftValues } from './values.ts';

export async function open(
  config: RedshiftConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const searchPath = config.schemas ?? [redshift.defaultSchema];
  const settings = clientSettings(config, context, {
    title: 'Redshift',
    port: redshiftDriver.server.defaultPort,
    ssl: 'verify',
  });
  const transactions = openTransactions(settings, engineOf(config, searchPath));
  const { runCatalogQueries } = transactions;
  const forever = (): AbortSignal => new AbortController().signal;
  const { database, serverFunctions } = await checkLogin().catch(async (error: unknown) => {
    await transactions.close();
    throw error;
  });
  return {
    dialect: redshift,
    policy: redshiftPolicy(redshift, {
      database,
      serverFunctions,
      searchPath,
      systemNames: redshiftDriver.systemNames,
      loadUserFunctions: async () => {
        const rows = await runCatalogQueries(forever(), (query) => query(userFunctionsSql));
        return rows as { schema: string; name: string }[];
      },
    }),
    introspect: (scope, callSignal) =>
      introspectRedshift(
        runCatalogQueries,
        { schemas: scope.schemas ?? config.schemas },
        callSignal,
      ),
    run: (sql, { maxRows, timeoutMs, asker }, callSignal) =>
      transactions.run({ timeoutMs, signal: callSignal }, (client) =>
        runLimited(client, { sql: markOwnStatement(sql, asker), maxRows }, redshiftValues),
      ),
    privileges: async () =>
      privilegeReport(await readPowers(runCatalogQueries, forever()), searchPath),
    history: redshiftHistory(runCatalogQueries),
    close: () => transactions.close(),
  };

  /** What the policy knows of the server. Throws if the login may change data. */
  async function checkLogin() {
    const [databases, functions] = await runCatalogQueries(
      signal,
      async (query) => [await query(databaseSql), await query(serverFunctionsSql)] as const,
    );
    const powers = await readPowers(runCatalogQueries, signal);
    if (powers.writes.length > 0 && config.allow_writable_role !== true)
      throw writableLoginError(context.connection, powers, searchPath);
    const [row] = databases as { database: unknown }[];
    const known = (functions as { name: string }[]).map(({ name }) => name);
    return { database: String(row?.database), serverFunctions: known };
  }
}

const databaseSql = 'SELECT current_database() AS "database"';
const serverFunctionsSql = 'SELECT DISTINCT proname AS "name" FROM pg_proc';
const userFunctionsSql = `SELECT DISTINCT n.nspname AS "schema", p.proname AS "name" FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE ${isUserSchema('n.nspname')}`;

/**
 * Whether the transaction keeps Redshift from writing was never seen live, so a login that may
 * write is refused too. The settings decide how values are written and where names are looked up.
 */
function engineOf(
  { query_group: group = 'ktx' }: RedshiftConfig,
  path: readonly string[],
): WireEngine {
  const settings = [
    "TimeZone TO 'UTC'",
    "DateStyle TO 'ISO, YMD'",
    'extra_float_digits TO 2',
    `search_path TO ${path.map((schema) => redshift.quote(schema)).join(', ')}`,
    `query_group TO ${redshift.literal(group)}`,
  ];
  return {
    title: 'Redshift',
    transactionSql: `BEGIN READ ONLY; ${settings.map((setting) => `SET LOCAL ${setting}`).join('; ')}`,
    hintIfRunning: 'STV_RECENTS on the server shows it; CANCEL ends it.',
  };
}
