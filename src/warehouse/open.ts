import { newId } from '../lib/id.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { WarehouseConfig } from './config.ts';
import type { DriverSession, OpenContext } from './driver.ts';
import { gateOf } from './gate.ts';
import type { Warehouse } from './warehouse.ts';

export interface WarehouseSpec extends OpenContext {
  readonly config: WarehouseConfig;
  /** What the catalog has; without it, or where a table is not in it, the connection is introspected. */
  readonly tables?: (() => Promise<readonly TableRef[]>) | undefined;
}

/** The only door to a warehouse: whatever it returns has passed the gate. */
export async function openWarehouse(spec: WarehouseSpec, signal: AbortSignal): Promise<Warehouse> {
  const session = await openDriver(spec, signal);
  const introspected = async () =>
    (await session.introspect({}, new AbortController().signal)).tables;
  let catalog: Promise<readonly TableRef[]> | undefined;
  const gate = gateOf(session.policy, spec.config.allow_functions ?? [], (fresh) => {
    if (fresh) catalog = introspected();
    catalog ??= spec.tables?.() ?? introspected();
    // After a failure the next query asks again.
    catalog.catch(() => (catalog = undefined));
    return catalog;
  });
  return {
    dialect: session.dialect,
    connection: spec.connection,
    introspect: (scope, caller) => session.introspect(scope, caller),
    reads: (sql) => gate.check(sql),
    async query(sql, limits, caller) {
      const started = performance.now();
      await gate.check(sql);
      const rows = await session.run(sql, limits, caller);
      return { queryId: newId('q'), ...rows, ms: Math.round(performance.now() - started) };
    },
    privileges: () => session.privileges(),
    close: () => session.close(),
  };
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
  if (config.driver === 'duckdb')
    return (await import('./drivers/duckdb/driver.ts')).open(config, context, signal);
  if (config.driver === 'mysql')
    return (await import('./drivers/mysql/driver.ts')).open(config, context, signal);
  if (config.driver === 'postgres')
    return (await import('./drivers/postgres/driver.ts')).open(config, context, signal);
  return (await import('./drivers/sqlite/driver.ts')).open(config, context, signal);
}
