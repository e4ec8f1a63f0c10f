import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { TrinoServer } from '../engines/trino/server.ts';
import { never } from './warehouses.ts';

/** Opens a connection to the server as a user without a password, or as `overrides` say. */
export function openTrino(
  server: TrinoServer,
  overrides: Readonly<Record<string, unknown>> = {},
  secrets: Readonly<Record<string, string>> = {},
): Promise<Warehouse> {
  const url = `${server.origin.replace('://', '://ana@')}/memory/main`;
  return openWarehouse(
    {
      connection: 'wh',
      config: { driver: 'trino', url, ...overrides },
      projectDir: '/',
      cacheDir: '/nowhere',
      secrets: (name) => secrets[name] ?? '',
    },
    never,
  );
}
