import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { DatabricksServer } from '../engines/databricks/server.ts';
import { never } from './warehouses.ts';

/** A connection to the server with a token, as `ktx.yaml` has it. */
export function databricksConfig({ origin }: Pick<DatabricksServer, 'origin'>) {
  return {
    driver: 'databricks' as const,
    url: origin,
    warehouse_id: '1234567890abcdef',
    catalog: 'memory',
    schemas: ['main'],
    token: 'env:TOKEN',
  };
}

const tokenOnly: Readonly<Record<string, string>> = { 'env:TOKEN': 'dapi-token' };

export function openDatabricks(
  server: DatabricksServer,
  overrides: Readonly<Record<string, unknown>> = {},
  secrets: Readonly<Record<string, string>> = tokenOnly,
): Promise<Warehouse> {
  return openWarehouse(
    {
      connection: 'wh',
      config: { ...databricksConfig(server), ...overrides },
      projectDir: '/',
      cacheDir: '/nowhere',
      secrets: (name) => secrets[name] ?? '',
    },
    never,
  );
}
