import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { SqlServer } from '../engines/sqlserver/server.ts';
import { never } from './warehouses.ts';

/** A connection to the server with a login and a password, as `ktx.yaml` has it. */
export function sqlserverConfig({ port }: Pick<SqlServer, 'port'>) {
  return {
    driver: 'sqlserver' as const,
    host: '127.0.0.1',
    port,
    database: 'memory',
    user: 'ktx_reader',
    password: 'env:PASSWORD',
    ssl: 'off' as const,
  };
}

const passwordOnly: Readonly<Record<string, string>> = { 'env:PASSWORD': 'p' };

export function openSqlserver(
  server: SqlServer,
  overrides: Readonly<Record<string, unknown>> = {},
  secrets: Readonly<Record<string, string>> = passwordOnly,
): Promise<Warehouse> {
  return openWarehouse(
    {
      connection: 'wh',
      config: { ...sqlserverConfig(server), ...overrides },
      projectDir: '/',
      cacheDir: '/nowhere',
      secrets: (name) => secrets[name] ?? '',
    },
    never,
  );
}
