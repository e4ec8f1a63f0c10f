import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient } from 'pg';
import { postgres } from '../../../sql/dialects/postgres.ts';
import { isSecretReference } from '../../../store/secrets.ts';
import { type DriverSession, type Limits, type OpenContext, withinLimits } from '../../driver.ts';
import { explaining, failure, type FailureRules } from '../../failure.ts';
import type { Ask } from '../../table-schemas.ts';
import type { PostgresConfig } from './config.ts';
import { introspectPostgres } from './introspect.ts';
import {
  ownObjectsSql,
  type OwnObjects,
  placeSql,
  type PostgresPlace,
} from './database-objects.ts';
import { postgresPolicy } from './policy.ts';
import { runLimited, socketOf } from './limited-query.ts';

export async function open(
  config: PostgresConfig,
  context: OpenContext,
  signal: AbortSignal,
): Promise<DriverSession> {
  const settings = clientSettings(config, context);
  const pool = new Pool({ ...settings, max: 4, idleTimeoutMillis: 30_000, allowExitOnIdle: true });
  // A connection that the server drops while idle is replaced at the next use.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    client.query('SET default_transaction_read_only = on').catch(() => undefined);
  });
  // The library knows what the URL, the fields and the environment come to.
  const { host, port, database } = new Client(settings);
  const failures = serverFailures(`Postgres at ${host}:${port}/${database}`);
  /** Every statement runs in a read-only transaction that is rolled back. */
  const reading = async <T>(
    limits: Limits,
    work: (client: PoolClient) => Promise<T>,
  ): Promise<T> => {
    const client = await pool.connect().catch(explaining(failures));
    // A cancel under way would hit the connection's next statement.
    let isCancelled = false;
    try {
      const stop = (): void => {
        isCancelled = true;
        void cancel(client, settings);
      };
      const result = await withinLimits({ ...limits, cancel: stop }, (milliseconds) =>
        rolledBack(client, milliseconds, work),
      );
      client.release(isCancelled);
      return result;
    } catch (error) {
      client.release(isCancelled || !(error instanceof DatabaseError));
      return explaining(failures)(error);
    }
  };
  const introspecting = <T>(caller: AbortSignal, work: (ask: Ask) => Promise<T>) =>
    reading({ signal: caller }, (client) =>
      work(async (sql) => (await client.query(sql)).rows as unknown[]),
    );
  const one = async <Row>(sql: string, caller: AbortSignal) =>
    ((await introspecting(caller, (ask) => ask(sql))) as [Row])[0];
  const place = await one<PostgresPlace>(placeSql, signal).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  return {
    dialect: postgres,
    policy: postgresPolicy(place, () =>
      one<OwnObjects>(ownObjectsSql, new AbortController().signal),
    ),
    introspect: (scope, caller) =>
      introspecting(caller, (ask) =>
        introspectPostgres(ask, { schemas: scope.schemas ?? config.schemas }),
      ),
    run: (sql, { maxRows, timeoutMs }, caller) =>
      reading({ timeoutMs, signal: caller }, (client) => runLimited(client, sql, maxRows)),
    async privileges() {
      const rows = (await introspecting(new AbortController().signal, (ask) =>
        ask(privilegesSql),
      )) as { finding: string }[];
      const remedy = rows.length === 0 ? undefined : readerSql(config.schemas ?? place.searchPath);
      return { readOnly: rows.length === 0, findings: rows.map(({ finding }) => finding), remedy };
    },
    close: () => pool.end(),
  };
}

async function rolledBack<T>(
  client: PoolClient,
  milliseconds: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  await client.query(`BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = ${milliseconds};
    SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'iso_8601'; SET LOCAL bytea_output = 'hex'`);
  // A connection that is gone has nothing to roll back.
  return work(client).finally(() => client.query('ROLLBACK').catch(() => undefined));
}

/** By SQLSTATE, or the library's own code or words. `where` is host, port and database, never a secret. */
function serverFailures(where: string): FailureRules {
  return [
    [
      /password must be a string|no password supplied/,
      'warehouse_auth',
      `${where} asks for a password, and none is configured`,
    ],
    [/^28|SASL/, 'warehouse_auth', `${where} refused the login`],
    [/^3D000/, 'warehouse_not_found', where],
    [/^42501/, 'warehouse_privilege', 'The login lacks a privilege'],
    [/^(42P01|42703|42883|3F000)/, 'missing_object', 'Postgres'],
    [/^57014/, 'query_timeout', 'The server cancelled the query at its time limit'],
    [/^25006/, 'gate_refused', ''],
    [/^(E[A-Z_]+|08...|57P0[1-3]|53300|):/, 'warehouse_unreachable', `${where} cannot be reached`],
    [/^/, 'query_failed', 'Postgres could not run the query'],
  ];
}

function clientSettings(
  config: PostgresConfig,
  { connection, secrets }: OpenContext,
): ClientConfig {
  const ssl =
    config.ssl === undefined
      ? {}
      : { ssl: config.ssl === 'off' ? false : { rejectUnauthorized: config.ssl === 'verify' } };
  const shared = {
    application_name: 'ktx',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    ...ssl,
  };
  if (config.url === undefined) {
    const { host = 'localhost', port, database, user, password } = config;
    return {
      ...shared,
      host,
      port,
      database,
      user,
      password: password === undefined ? undefined : secrets(password),
    };
  }
  const text = isSecretReference(config.url) ? secrets(config.url) : config.url;
  if (!/^postgres(ql)?:/.test(text) || !URL.canParse(text))
    throw failure('config_url', `The url of connection "${connection}" is not a Postgres URL.`, {
      hint: 'Write it like postgresql://user:password@host:5432/database.',
    });
  const url = new URL(text);
  if (config.password !== undefined) url.password = secrets(config.password);
  return { ...shared, connectionString: url.href };
}

/** Asks the server to stop; where it does not answer, the connection is cut. */
async function cancel(client: PoolClient, settings: ClientConfig): Promise<void> {
  const { processID } = client as unknown as { processID: number };
  const canceller = new Client({ ...settings, connectionTimeoutMillis: 3000, query_timeout: 3000 });
  await canceller
    .connect()
    .then(() => canceller.query('SELECT pg_cancel_backend($1)', [processID]))
    .catch(() => socketOf(client).destroy());
  await canceller.end().catch(() => undefined);
}

/** For `ktx status` and `setup`: a person runs it, as the owner of the schemas. */
function readerSql(schemas: readonly string[]): string[] {
  const grants = schemas
    .map((schema) => postgres.quote(schema))
    .flatMap((schema) => [
      `GRANT USAGE ON SCHEMA ${schema} TO ktx_reader;`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ktx_reader;`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ktx_reader;`,
    ]);
  return [`CREATE ROLE ktx_reader LOGIN PASSWORD '…';`, ...grants];
}

const privilegesSql = `WITH own AS (SELECT * FROM pg_roles WHERE rolname = current_user)
  SELECT 'role ' || current_user || ' ' || f.power AS finding FROM (
    SELECT unnest(array_remove(ARRAY[CASE WHEN rolsuper THEN 'is a superuser' END, CASE WHEN rolcreatedb THEN 'may create databases' END,
      CASE WHEN rolcreaterole THEN 'may create roles' END, CASE WHEN rolreplication THEN 'may replicate' END], NULL)) AS power FROM own
    UNION ALL SELECT 'is a member of ' || g.rolname FROM own JOIN pg_roles g ON NOT own.rolsuper AND pg_has_role(g.oid, 'MEMBER')
      AND g.rolname IN ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files', 'pg_execute_server_program')
    UNION ALL SELECT 'may write to ' || count(*) || CASE count(*) WHEN 1 THEN ' table' ELSE ' tables' END FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'f') AND oid >= 16384
      AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE') HAVING count(*) > 0
    UNION ALL SELECT 'may create objects in ' || count(*) || CASE count(*) WHEN 1 THEN ' schema' ELSE ' schemas' END FROM pg_namespace
      WHERE nspname !~ '^(pg_|information_schema)' AND has_schema_privilege(oid, 'CREATE') HAVING count(*) > 0) f`;
