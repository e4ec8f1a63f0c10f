import { DuckDBInstance } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import type { DriverSession } from '../../src/warehouse/driver.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { SpendingLimits } from '../../src/warehouse/spending.ts';
import type { QueryLimits, Warehouse } from '../../src/warehouse/warehouse.ts';
import { startBigquery } from '../engines/bigquery/server.ts';
import { startDatabricks } from '../engines/databricks/server.ts';
import { startSqlserver } from '../engines/sqlserver/server.ts';
import { startTrino } from '../engines/trino/server.ts';
import { bigqueryConfig } from './bigquery.ts';
import {
  clickhouseContent,
  createClickhouse,
  hasClickhouse,
  readerOfClickhouse,
} from './clickhouse.ts';
import { createMariadb, hasMariadb, readerOfMariadb, runMariadb } from './mariadb.ts';
import { createDatabase, runPostgres } from './postgres.ts';
import { createRedshift } from './redshift.ts';
import { prepareSnowflake } from './snowflake.ts';

export const engines = ['duckdb', 'sqlite', 'postgres', 'mysql'] as const;
export type EngineName = (typeof engines)[number];
/** ClickHouse has no keys and its own SQL: suites that can, take it too. */
export const enginesAndClickhouse = [...engines, 'clickhouse'] as const;
export type AnyEngine = (typeof enginesAndClickhouse)[number];
/** Engines that run here, and those for which a protocol server stands. */
export const everyEngine = [
  ...enginesAndClickhouse,
  'redshift',
  'snowflake',
  'bigquery',
  'trino',
  'databricks',
  'sqlserver',
] as const;
export type TestEngine = (typeof everyEngine)[number];
/** MariaDB stands for MySQL. ClickHouse runs only in `npm run test:clickhouse`. */
export const isThere = (engine: TestEngine): boolean =>
  (engine !== 'mysql' || hasMariadb) && (engine !== 'clickhouse' || hasClickhouse);

/** A database of its own on one engine, made by `script`, with everything that is around it. */
export interface TestDatabase {
  readonly engine: TestEngine;
  readonly folder: string;
  readonly config: WarehouseConfig;
  /** The URL of a login that may do everything, of a server. */
  readonly secret: string;
  open(overrides?: Partial<WarehouseConfig>, spending?: SpendingLimits): Promise<Warehouse>;
  /** The statements that a protocol server was to run, without those that it only explained. */
  ran(): readonly string[];
  /** Behind walls 1 and 3 only; on a server as a login that has SELECT and nothing else. */
  openDriver(): Promise<DriverSession>;
  /** Changes with any byte of the files, any row or object of the database. */
  fingerprint(): Promise<string>;
  remove(): Promise<void>;
}

export const never = new AbortController().signal;
export const generous: QueryLimits = { maxRows: 1000, timeoutMs: 20_000 };

export async function makeDatabase(engine: TestEngine, script: string): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-warehouse-'));
  const { config, secret, close, ran = () => [] } = await prepare(engine, folder, script);
  const context = {
    connection: 'wh',
    projectDir: folder,
    cacheDir: join(folder, 'cache'),
    secrets: () => secret,
  };
  return {
    engine,
    folder,
    config,
    secret,
    ran,
    open: (overrides, spending) => {
      const whole = { ...config, ...overrides } as WarehouseConfig;
      return openWarehouse({ ...context, config: whole, spending }, never);
    },
    openDriver: async () => {
      if (config.driver === 'duckdb')
        return (await import('../../src/warehouse/drivers/duckdb/driver.ts')).open(
          config,
          context,
          never,
        );
      if (config.driver === 'sqlite')
        return (await import('../../src/warehouse/drivers/sqlite/driver.ts')).open(
          config,
          context,
          never,
        );
      if (config.driver === 'mysql') {
        const reader = await readerOfMariadb(secret);
        return (await import('../../src/warehouse/drivers/mysql/driver.ts')).open(
          config,
          { ...context, secrets: () => reader },
          never,
        );
      }
      if (config.driver === 'clickhouse')
        return (await import('../../src/warehouse/drivers/clickhouse/driver.ts')).open(
          config,
          { ...context, secrets: () => readerOfClickhouse(secret) },
          never,
        );
      if (config.driver === 'redshift') {
        const reader = await readerOf(secret);
        return (await import('../../src/warehouse/drivers/redshift/driver.ts')).open(
          config,
          { ...context, secrets: () => reader },
          never,
        );
      }
      if (config.driver !== 'postgres') throw new Error(`no login for ${config.driver}`);
      const reader = await readerOf(secret);
      return (await import('../../src/warehouse/drivers/postgres/driver.ts')).open(
        config,
        { ...context, secrets: () => reader },
        never,
      );
    },
    fingerprint: async () => hash([await filesOf(folder), await serverContent(engine, secret)]),
    remove: async () => {
      await close?.();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface PreparedDatabase {
  readonly config: WarehouseConfig;
  readonly secret: string;
  /** As in `TestDatabase`. */
  readonly ran?: () => readonly string[];
  /** Ends a server of its own. */
  readonly close?: () => Promise<void>;
}

async function prepare(
  engine: TestEngine,
  folder: string,
  script: string,
): Promise<PreparedDatabase> {
  const path = join(folder, `data.${engine}`);
  if (engine === 'postgres') {
    const url = await createDatabase('warehouse');
    await runPostgres(url, script);
    return { config: { driver: 'postgres', url: 'env:TEST_URL' }, secret: url };
  }
  if (engine === 'redshift') {
    const config = { driver: 'redshift', url: 'env:TEST_URL', ssl: 'off' } as const;
    return {
      config: { ...config, allow_writable_role: true },
      secret: await createRedshift(script),
    };
  }
  if (engine === 'clickhouse') {
    const url = await createClickhouse(script);
    return { config: { driver: 'clickhouse', url: 'env:TEST_URL' }, secret: url };
  }
  if (engine === 'mysql') {
    return {
      config: { driver: 'mysql', url: 'env:TEST_URL', ssl: 'off' },
      secret: await createMariadb(script),
    };
  }
  if (engine === 'sqlite') {
    const database = new DatabaseSync(path);
    database.exec(script);
    database.close();
    return { config: { driver: 'sqlite', path }, secret: '' };
  }
  if (engine === 'duckdb') {
    const instance = await DuckDBInstance.create(path);
    const connection = await instance.connect();
    await connection.run(script);
    connection.closeSync();
    instance.closeSync();
    return { config: { driver: 'duckdb', path }, secret: '' };
  }
  return protocolServers[engine](script);
}

/** Engines that cannot run here: a server speaks their protocol, with DuckDB behind it. */
const protocolServers: Readonly<
  Record<Exclude<TestEngine, AnyEngine | 'redshift'>, (script: string) => Promise<PreparedDatabase>>
> = {
  snowflake: prepareSnowflake,
  bigquery: async (script) => {
    const server = await startBigquery({ script });
    const secret = server.logins.keyFile(server.tokenUri);
    return {
      config: bigqueryConfig(server),
      secret,
      ran: () => server.calls.flatMap(({ body }) => ranByJob(body)),
      close: () => server.close(),
    };
  },
  trino: async (script) => {
    const server = await startTrino({ script });
    server.rules.mayWrite = true;
    return {
      config: { driver: 'trino', url: 'env:TEST_URL' },
      secret: `${server.origin.replace('://', '://ana@')}/memory/main`,
      ran: () => unexplained(server.requests.map(({ sql }) => sql)),
      close: () => server.close(),
    };
  },
  databricks: async (script) => {
    const server = await startDatabricks({ script });
    await server.execute(
      "INSERT INTO databricks_server.table_privileges VALUES ('ktx', 'main', 'many', 'MODIFY')",
    );
    return {
      config: {
        driver: 'databricks',
        url: server.origin,
        warehouse_id: '1234567890abcdef',
        catalog: 'memory',
        schemas: ['main'],
        token: 'env:TEST_TOKEN',
        allow_writable_role: true,
      },
      secret: 'dapi-token',
      ran: () =>
        unexplained(server.requests.flatMap(({ method, sql }) => (method === 'POST' ? sql : []))),
      close: () => server.close(),
    };
  },
  sqlserver: async (script) => {
    const server = await startSqlserver({ script });
    await server.execute(
      "INSERT INTO sqlserver_server.database_permissions VALUES ('INSERT'), ('ALTER ANY USER')",
    );
    return {
      config: {
        driver: 'sqlserver',
        host: '127.0.0.1',
        port: server.port,
        database: 'memory',
        user: 'ktx_reader',
        password: 'env:TEST_PASSWORD',
        ssl: 'off',
        allow_writable_role: true,
      },
      secret: 'p',
      ran: () => server.statements.flatMap(({ sql, isPlanned }) => (isPlanned ? [] : sql)),
      close: () => server.close(),
    };
  },
};

function unexplained(statements: readonly string[]): readonly string[] {
  return statements.filter((sql) => !/^\s*EXPLAIN\b/i.test(sql));
}

/** The statement of a job of BigQuery, unless the job is a dry run. */
function ranByJob(body: string): readonly string[] {
  const job = (body.startsWith('{') ? JSON.parse(body) : {}) as {
    readonly configuration?: {
      readonly dryRun?: boolean;
      readonly query?: { readonly query: string };
    };
  };
  const { dryRun = false, query } = job.configuration ?? {};
  return dryRun || query === undefined ? [] : [query.query];
}

async function readerOf(url: string): Promise<string> {
  const reader = new URL(url);
  [reader.username, reader.password] = [`reader_${reader.pathname.slice(-8)}`, 'r'];
  const { username } = reader;
  await runPostgres(
    url,
    `CREATE ROLE ${username} LOGIN PASSWORD 'r'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${username}`,
  );
  return reader.href;
}

async function filesOf(folder: string): Promise<string> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const marks = await Promise.all(
    names.map(
      async ({ parentPath, name }) => `${name}:${hash([await readFile(join(parentPath, name))])}`,
    ),
  );
  return marks.sort((a, b) => (a < b ? -1 : 1)).join('\n');
}

async function serverContent(engine: TestEngine, url: string): Promise<string> {
  if (engine === 'postgres' || engine === 'redshift') return JSON.stringify(await contentOf(url));
  if (engine === 'clickhouse') return JSON.stringify(await clickhouseContent(url));
  return engine === 'mysql' ? JSON.stringify(await mariadbContent(url)) : '';
}

async function mariadbContent(url: string): Promise<unknown[]> {
  const tables = await runMariadb(
    url,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database() ORDER BY 1`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      runMariadb(url, `SELECT * FROM "${String(name).replaceAll('"', '""')}"`),
    ),
  );
  const objects = await runMariadb(
    url,
    `SELECT (SELECT count(*) FROM information_schema.routines WHERE routine_schema = database()) AS routines,
    (SELECT count(*) FROM mysql.user WHERE user NOT LIKE '%!_%' ESCAPE '!') AS users, @@global.sql_mode AS mode, @@global.local_infile AS files`,
  );
  return [tables, rows, objects];
}

async function contentOf(url: string): Promise<unknown[]> {
  const tables = await runPostgres(
    url,
    `SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS name FROM pg_class c
    JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind = 'r' AND nspname !~ '^(pg_|information_schema)' ORDER BY 1`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => runPostgres(url, `SELECT * FROM ${String(name)}`)),
  );
  const objects = await runPostgres(
    url,
    `SELECT (SELECT count(*) FROM pg_class)::int AS relations, (SELECT count(*) FROM pg_roles WHERE rolname !~ '_')::int AS roles,
    (SELECT count(*) FROM pg_proc)::int AS functions, (SELECT count(*) FROM pg_largeobject_metadata)::int AS large_objects,
    (SELECT COALESCE(sum(last_value), 0) FROM pg_sequences)::int AS sequences`,
  );
  return [tables, rows, objects];
}

function hash(parts: readonly (string | Uint8Array)[]): string {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest('hex');
}
