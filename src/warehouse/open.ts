import { newId } from '../lib/id.ts';
import { resolveConfiguredPath } from '../store/confined-file.ts';
import type { TableRef } from '../sql/dialect.ts';
import { driverNamed, type WarehouseConfig } from './config.ts';
import { answerFromCatalog } from './describe/answer.ts';
import { type CatalogStatement, parseCatalogStatement } from './describe/parse.ts';
import type { DriverSession, OpenContext, QueryRows, RunLimits } from './driver.ts';
import { identityConfigOf } from './identity/identity-config.ts';
import { identifyCaller, type WarehouseCaller } from './identity/statement-identity.ts';
import { warnOfDoubts } from './result/doubtful-columns.ts';
import { summarizeWarnings } from './result/engine-warnings.ts';
import { keepStatementFacts } from './gate/analyze-statement.ts';
import { createGate } from './gate/gate.ts';
import {
  ignoredLimitWarning,
  mostBytes,
  requireAffordable,
  soundEstimate,
  type SpendingAccount,
  type SpendingLimits,
  usdPerTibOf,
} from './spending.ts';
import { coveredSchema, coveredTables, tableScope } from './scope/table-scope.ts';
import type { Warehouse } from './warehouse.ts';

export interface WarehouseSpec extends OpenContext {
  readonly config: WarehouseConfig;
  /**
   * The tables of the catalog. If undefined, or if a statement names another table, the database is
   * introspected.
   */
  readonly tables?: (() => Promise<readonly TableRef[]>) | undefined;
  readonly spending?: SpendingLimits | undefined;
}

/** The only way to open a warehouse. Every statement passes the gate before it is sent. */
export async function openWarehouse(spec: WarehouseSpec, signal: AbortSignal): Promise<Warehouse> {
  const session = await openDriver(spec, signal);
  const covers = tableScope(spec.config, session.catalog ?? ownCatalogOf(spec.config));
  const introspect: DriverSession['introspect'] = async (scope, callSignal) =>
    coveredSchema(await session.introspect(scope, callSignal), covers);
  const introspectTables = async () => (await introspect({}, new AbortController().signal)).tables;
  const readTables = async (read: NonNullable<WarehouseSpec['tables']>) =>
    coveredTables(await read(), covers);
  let catalog: Promise<readonly TableRef[]> | undefined;
  const loadTables = (fresh: boolean): Promise<readonly TableRef[]> => {
    if (fresh) catalog = introspectTables();
    catalog ??= spec.tables === undefined ? introspectTables() : readTables(spec.tables);
    // A failed load is not kept: the next query tries again.
    catalog.catch(() => (catalog = undefined));
    return catalog;
  };
  const gate = createGate(session.policy, {
    dialect: session.dialect,
    allowedFunctions: spec.config.allow_functions ?? [],
    loadTables,
    isLeftOut:
      covers &&
      ((name) => !covers({ ...name, schema: name.schema ?? session.dialect.defaultSchema })),
  });
  const parse = (sql: string) => parseCatalogStatement(sql, session.dialect);
  const run = openCheckedRun(gate, session, openRun(spec, session));
  const describe = async (statement: CatalogStatement, callSignal: AbortSignal) => {
    const { tables } = await introspect({}, callSignal);
    return answerFromCatalog(statement, {
      dialect: session.dialect,
      tables,
      find: async ({ table }) => {
        const [found] = await gate.resolveTables([table]);
        if (found === undefined) throw new Error('the gate resolved a name to no table');
        return found;
      },
    });
  };
  const identity = identityConfigOf(spec.config);
  /** For a caller, or for ktx itself as the login. */
  const viewFor = (caller: WarehouseCaller | undefined): Warehouse => ({
    dialect: session.dialect,
    connection: spec.connection,
    introspect,
    // A statement over the catalog reads no rows.
    reads: async (sql) => (parse(sql) === undefined ? gate.check(sql) : []),
    async query(sql, limits, callSignal) {
      const started = performance.now();
      const as = caller && (await identifyCaller(identity, caller, spec));
      const catalogStatement = parse(sql);
      const { warnings = [], ...rows } =
        catalogStatement === undefined
          ? await run(sql, { ...limits, identity: as, account: caller?.account }, callSignal)
          : limitRows(await describe(catalogStatement, callSignal), limits.maxRows);
      const ms = Math.round(performance.now() - started);
      return { queryId: newId('q'), ...rows, warnings: summarizeWarnings(warnings), ms };
    },
    marker: (table) => session.marker?.(table),
    privileges: () => session.privileges(),
    // What others ran is no business of a caller.
    history: caller === undefined ? session.history : undefined,
    usdPerTib: usdPerTibOf(spec.config),
    as: viewFor,
    close: () => session.close(),
  });
  return viewFor(undefined);
}

interface SpendingRun extends RunLimits {
  readonly account: SpendingAccount | undefined;
}

/** Runs a statement that passes the gate, and warns of what is in doubt about what it reads. */
function openCheckedRun(
  gate: ReturnType<typeof createGate>,
  { doubts = [] }: DriverSession,
  run: ReturnType<typeof openRun>,
) {
  return async (sql: string, limits: SpendingRun, signal: AbortSignal): Promise<QueryRows> => {
    const tables = await gate.check(sql);
    const rows = await run(sql, limits, signal);
    const warnings = [...warnOfDoubts(doubts, sql, tables), ...(rows.warnings ?? [])];
    return { ...rows, warnings };
  };
}

/** Runs a statement within the limits of bytes: those of the call, or else of the connection. */
function openRun({ config, spending = {} }: WarehouseSpec, session: DriverSession) {
  const usdPerTib = usdPerTibOf(config);
  return async (sql: string, limits: SpendingRun, signal: AbortSignal): Promise<QueryRows> => {
    const { account, identity } = limits;
    const most = mostBytes(limits, spending, usdPerTib);
    if (most === undefined && account === undefined) return session.run(sql, limits, signal);
    const estimate = soundEstimate(await session.estimate?.(sql, signal, identity));
    if (estimate !== undefined && most !== undefined) requireAffordable(estimate, most, usdPerTib);
    const isHeld =
      most === undefined || estimate?.bytes !== undefined || session.limitsBytes === true;
    const run = async (maxBytes: number | undefined) => {
      const rows = await session.run(sql, { ...limits, maxBytes }, signal);
      return isHeld ? rows : withIgnoredLimit(rows, config);
    };
    if (account === undefined) return run(most);
    const reserved = account.reserve(estimate?.bytesBilled ?? estimate?.bytes, usdPerTib);
    const left = Math.min(most ?? Infinity, reserved.mostBytes);
    // What fails counts as estimated: the engine may have read it.
    const rows = await run(Number.isFinite(left) ? left : undefined);
    settle(reserved, rows);
    return rows;
  };
}

function withIgnoredLimit(rows: QueryRows, config: WarehouseConfig): QueryRows {
  const { title } = driverNamed(config.driver);
  return { ...rows, warnings: [...(rows.warnings ?? []), ignoredLimitWarning(title)] };
}

/** The catalog of a connection that reads one, where its tables do not name it. */
function ownCatalogOf(config: WarehouseConfig): string | undefined {
  const { catalog, database }: { catalog?: unknown; database?: unknown } = config as object;
  return [catalog, database].find((name) => typeof name === 'string');
}

function settle(reserved: ReturnType<SpendingAccount['reserve']>, { cost }: QueryRows): void {
  const read = cost?.bytesBilled ?? cost?.bytesRead;
  if (read !== undefined) reserved.settle(read);
}

function limitRows(result: QueryRows, maxRows: number): QueryRows {
  const { rows } = result;
  return { ...result, rows: rows.slice(0, maxRows), truncated: rows.length > maxRows };
}

/** Creates a database file of `ownDatabaseDriver` with a SQL script in that driver's dialect. */
export async function createDatabaseFile(
  path: string,
  script: string,
  variables: Readonly<Record<string, number>> = {},
): Promise<void> {
  const { createDatabase } = await import('./drivers/duckdb/create-database.ts');
  await createDatabase(path, script, variables);
}

/** Imports a driver when a connection of it is opened, not before. */
async function openDriver(
  { config, ...context }: WarehouseSpec,
  signal: AbortSignal,
): Promise<DriverSession> {
  keepStatementFacts(context.cacheDir);
  // A glob has no real path; its driver checks each file.
  if ('path' in config) await resolveConfiguredPath(context.projectDir, config.path);
  if (config.driver === 'bigquery')
    return (await import('./drivers/bigquery/driver.ts')).open(config, context, signal);
  if (config.driver === 'clickhouse')
    return (await import('./drivers/clickhouse/driver.ts')).open(config, context, signal);
  if (config.driver === 'databricks')
    return (await import('./drivers/databricks/driver.ts')).open(config, context, signal);
  if (config.driver === 'duckdb')
    return (await import('./drivers/duckdb/driver.ts')).open(config, context, signal);
  if (config.driver === 'mysql')
    return (await import('./drivers/mysql/driver.ts')).open(config, context, signal);
  if (config.driver === 'postgres')
    return (await import('./drivers/postgres/driver.ts')).open(config, context, signal);
  if (config.driver === 'redshift')
    return (await import('./drivers/redshift/driver.ts')).open(config, context, signal);
  if (config.driver === 'snowflake')
    return (await import('./drivers/snowflake/driver.ts')).open(config, context, signal);
  if (config.driver === 'sqlserver')
    return (await import('./drivers/sqlserver/driver.ts')).open(config, context, signal);
  if (config.driver === 'trino')
    return (await import('./drivers/trino/driver.ts')).open(config, context, signal);
  return (await import('./drivers/sqlite/driver.ts')).open(config, context, signal);
}
