import type { BigqueryConfig } from '../../src/warehouse/drivers/bigquery/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { SpendingLimits } from '../../src/warehouse/spending.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import {
  type BigqueryServer,
  type BigqueryServerOptions,
  project,
  startBigquery,
} from '../engines/bigquery/server.ts';

interface OpenOptions {
  readonly config?: Partial<BigqueryConfig>;
  /** The text of the credentials; that of the key by default. */
  readonly credentials?: string;
  readonly spending?: SpendingLimits;
}

/** Opens a connection to the server, with the key of its service account. */
export function openBigquery(
  server: BigqueryServer,
  { config, credentials = server.logins.keyFile(server.tokenUri), spending }: OpenOptions = {},
): Promise<Warehouse> {
  return openWarehouse(
    {
      connection: 'wh',
      projectDir: '/nowhere',
      cacheDir: '/nowhere/cache',
      secrets: () => credentials,
      config: bigqueryConfig(server, config),
      spending,
    },
    new AbortController().signal,
  );
}

export function bigqueryConfig(
  server: BigqueryServer,
  config: Partial<BigqueryConfig> = {},
): BigqueryConfig {
  return {
    driver: 'bigquery',
    project,
    datasets: ['main'],
    credentials: 'env:KEY',
    endpoint: server.origin,
    ...config,
  };
}

/** Starts a server for one test, and ends it with the test. */
export async function withBigquery<T>(
  options: BigqueryServerOptions,
  use: (server: BigqueryServer) => Promise<T>,
): Promise<T> {
  const server = await startBigquery(options);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}
