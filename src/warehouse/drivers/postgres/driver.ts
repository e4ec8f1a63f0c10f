import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import { postgres } from '../../../sql/dialects/postgres.ts';
import { isSecretReference } from '../../../store/secrets.ts';
import { type DriverSession, type OpenContext, withinLimits } from '../../driver.ts';
import { failure } from '../../failure.ts';
import type { PrivilegeReport } from '../../warehouse.ts';
import type { PostgresConfig } from './config.ts';
import { serverFailure } from './server-failure.ts';
import { introspectPostgres } from './introspect.ts';
import { postgresPolicy } from './policy.ts';
import { runLimited } from './limited-query.ts';

const introspectMs = 120_000;

export async function open(config: PostgresConfig, context: OpenContext, signal: AbortSignal): Promise<DriverSession> {
  const settings = clientSettings(config, context);
  const pool = new Pool({ ...settings, max: 4, idleTimeoutMillis: 30_000, allowExitOnIdle: true });
  // A connection that the server drops while idle is replaced at the next use.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const where = placeOf(settings);
  /** Every statement runs in a read-only transaction that is rolled back. */
  const reading = async <T>(limits: { timeoutMs: number; signal: AbortSignal }, work: (client: PoolClient) => Promise<T>): Promise<T> => {
    let client: PoolClient | undefined;
    let broken = true;
    try {
      const taken = (client = await pool.connect());
      const result = await withinLimits({ ...limits, cancel: () => void cancel(taken, settings) }, async () => {
        await taken.query(`BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${Math.ceil(limits.timeoutMs)};
          SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'`);
        try {
          return await work(taken);
        } finally {
          await taken.query('ROLLBACK');
        }
      });
      broken = false;
      return result;
    } catch (error) {
      broken = !(error instanceof DatabaseError);
      throw serverFailure(error, where);
    } finally {
      client?.release(broken);
    }
  };
  const ask = async (sql: string, caller: AbortSignal): Promise<readonly unknown[]> =>
    reading({ timeoutMs: introspectMs, signal: caller }, async (client) => (await client.query(sql)).rows as unknown[]);
  try {
    const [here] = (await ask('SELECT current_database() AS database, current_schemas(false)::text[] AS path', signal)) as {
      database: string;
      path: string[];
    }[];
    return {
      dialect: postgres,
      policy: postgresPolicy({ database: here?.database ?? '', searchPath: here?.path ?? [] }),
      introspect: (scope, caller) =>
        reading({ timeoutMs: introspectMs, signal: caller }, (client) =>
          introspectPostgres(async (sql) => (await client.query(sql)).rows as unknown[], { schemas: scope.schemas ?? config.schemas }),
        ),
      run: (sql, limits, caller) =>
        reading({ timeoutMs: limits.timeoutMs, signal: caller }, (client) => runLimited(client, sql, limits.maxRows)),
      privileges: async () => privilegeReport((await ask(privilegesSql, new AbortController().signal)) as PrivilegeRow[]),
      close: () => pool.end(),
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

function clientSettings(config: PostgresConfig, { connection, secrets }: OpenContext): ClientConfig {
  const ssl = config.ssl === undefined ? {} : { ssl: config.ssl === 'off' ? false : { rejectUnauthorized: config.ssl === 'verify' } };
  const shared = { application_name: 'ktx', connectionTimeoutMillis: 10_000, keepAlive: true, ...ssl };
  if (config.url === undefined) {
    const { host = 'localhost', port, database, user, password } = config;
    return { ...shared, host, port, database, user, password: password === undefined ? undefined : secrets(password) };
  }
  const text = isSecretReference(config.url) ? secrets(config.url) : config.url;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^postgres(ql)?:$/.test(url?.protocol ?? ''))
    throw failure('config_url', `The url of connection "${connection}" is not a Postgres URL.`);
  if (url !== undefined && config.password !== undefined) url.password = secrets(config.password);
  return { ...shared, connectionString: url?.href };
}

function placeOf({ connectionString, host, port, database }: ClientConfig): string {
  if (connectionString === undefined) return `Postgres at ${host ?? 'localhost'}:${port ?? 5432}/${database ?? ''}`;
  const url = new URL(connectionString);
  return `Postgres at ${url.hostname}:${url.port || '5432'}${url.pathname}`;
}

/** Asks the server to stop; where it does not answer, the connection is cut. */
async function cancel(client: PoolClient, settings: ClientConfig): Promise<void> {
  const canceller = new Client({ ...settings, connectionTimeoutMillis: 3000, query_timeout: 3000 });
  try {
    await canceller.connect();
    await canceller.query('SELECT pg_cancel_backend($1)', [(client as unknown as { processID: number }).processID]);
  } catch {
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
  } finally {
    await canceller.end().catch(() => undefined);
  }
}

type PrivilegeRow = { role: string; powers: string[]; writable: number; creatable: number };

const privilegesSql = `SELECT current_user AS role,
  array_remove(ARRAY[CASE WHEN r.rolsuper THEN 'is a superuser' END, CASE WHEN r.rolcreatedb THEN 'may create databases' END,
    CASE WHEN r.rolcreaterole THEN 'may create roles' END, CASE WHEN r.rolreplication THEN 'may replicate' END] ||
    ARRAY(SELECT 'is a member of ' || g.rolname FROM pg_roles g WHERE NOT r.rolsuper AND g.rolname IN ('pg_write_all_data', 'pg_write_server_files',
      'pg_read_server_files', 'pg_execute_server_program') AND pg_has_role(g.oid, 'MEMBER') ORDER BY 1), NULL)::text[] AS powers,
  (SELECT count(*)::int FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'f') AND c.oid >= 16384
    AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable,
  (SELECT count(*)::int FROM pg_namespace n WHERE n.nspname !~ '^(pg_|information_schema)' AND has_schema_privilege(n.oid, 'CREATE')) AS creatable
  FROM pg_roles r WHERE r.rolname = current_user`;

function privilegeReport(rows: readonly PrivilegeRow[]): PrivilegeReport {
  const findings = rows.flatMap(({ role, powers, writable, creatable }) => [
    ...powers.map((power) => `role ${role} ${power}`),
    ...(writable > 0 ? [`role ${role} may write to ${writable} ${writable === 1 ? 'table' : 'tables'}`] : []),
    ...(creatable > 0 ? [`role ${role} may create objects in ${creatable} ${creatable === 1 ? 'schema' : 'schemas'}`] : []),
  ]);
  return { readOnly: findings.length === 0, findings };
}
