import type { UserError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { WarehouseConfig } from './config.ts';
import type { DriverSession, OpenContext } from './driver.ts';
import { failure } from './failure.ts';
import { gateOf } from './gate.ts';
import type { Warehouse } from './warehouse.ts';

export interface WarehouseSpec extends OpenContext {
  readonly config: WarehouseConfig;
  /** What the catalog has; without it, or where a table is not in it, the connection is introspected. */
  readonly tables?: (() => Promise<readonly TableRef[]>) | undefined;
}

/** The only door to a warehouse: whatever it returns has passed the gate. Drivers load when they are opened. */
export async function openWarehouse(spec: WarehouseSpec, signal: AbortSignal): Promise<Warehouse> {
  return gated(await openDriver(spec, signal), spec);
}

async function openDriver({ config, ...context }: WarehouseSpec, signal: AbortSignal): Promise<DriverSession> {
  try {
    if (config.driver === 'duckdb') return await (await import('./drivers/duckdb/driver.ts')).open(config, context, signal);
    if (config.driver === 'postgres') return await (await import('./drivers/postgres/driver.ts')).open(config, context, signal);
    return await (await import('./drivers/sqlite/driver.ts')).open(config, context, signal);
  } catch (error) {
    throw missingLibrary(error) ?? error;
  }
}

function missingLibrary(error: unknown): UserError | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return undefined;
  const library = /'([^']+)'/.exec(error.message)?.[1] ?? 'of this driver';
  return failure('driver_not_installed', `The library ${library} is not installed.`, {
    hint: `npm install ${library}`,
    cause: error,
  });
}

function gated(session: DriverSession, spec: WarehouseSpec): Warehouse {
  const unlimited = new AbortController().signal;
  let catalog: Promise<readonly TableRef[]> | undefined;
  const introspected = async (): Promise<readonly TableRef[]> => (await session.introspect({}, unlimited)).tables;
  const gate = gateOf(session.policy, spec.config.allow_functions ?? [], (fresh) => {
    if (fresh) catalog = introspected();
    catalog ??= spec.tables === undefined ? introspected() : spec.tables();
    return catalog;
  });
  return {
    dialect: session.dialect,
    connection: spec.connection,
    introspect: (scope, signal) => session.introspect(scope, signal),
    async query(sql, limits, signal) {
      const started = performance.now();
      await gate.check(sql);
      const rows = await session.run(sql, limits, signal);
      return { queryId: newId('q'), ...rows, ms: Math.round(performance.now() - started) };
    },
    privileges: () => session.privileges(),
    close: () => session.close(),
  };
}
