import { generateKeyPairSync } from 'node:crypto';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { Warehouse } from '../../src/warehouse/warehouse.ts';
import type { WireGrant } from '../engines/snowflake/catalog.ts';
import {
  type SnowflakeServer,
  type SnowflakeServerSettings,
  startSnowflake,
} from '../engines/snowflake/server.ts';

/** A key pair and tokens that are worth nothing. */
const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const passphrase = 'worthless passphrase';
const cipher = { cipher: 'aes-256-cbc', passphrase };
export const keys = {
  public: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  private: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  encrypted: pair.privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }).toString(),
};
export const secrets: Readonly<Record<string, string>> = {
  'env:TOKEN': 'pat-4711-worthless',
  'env:OAUTH': 'oauth-4712-worthless',
  'env:KEY': keys.private,
  'env:ENCRYPTED_KEY': keys.encrypted,
  'env:PASSPHRASE': passphrase,
};

/** What a role needs to read a database, and nothing else. */
export const readerGrants: readonly WireGrant[] = [
  { privilege: 'USAGE', granted_on: 'WAREHOUSE', name: 'WH' },
  { privilege: 'USAGE', granted_on: 'DATABASE', name: 'SALES' },
  { privilege: 'USAGE', granted_on: 'SCHEMA', name: 'SALES.PUBLIC' },
  { privilege: 'SELECT', granted_on: 'TABLE', name: 'SALES.PUBLIC.MANY' },
];

/** A server of its own with the database SALES, and the connection to it. */
export interface SnowflakeDatabase {
  readonly server: SnowflakeServer;
  readonly config: WarehouseConfig;
  open(overrides?: Partial<WarehouseConfig>): Promise<Warehouse>;
  remove(): Promise<void>;
}

export async function makeSnowflake(
  script: string,
  settings: Partial<SnowflakeServerSettings> = {},
): Promise<SnowflakeDatabase> {
  const server = await startSnowflake({
    script,
    grants: { READER: readerGrants, PUBLIC: [] },
    logins: {
      account: 'TESTORG-TESTACCOUNT',
      user: 'KTX_READER',
      publicKey: keys.public,
      tokens: [secrets['env:TOKEN'] ?? ''],
      oauthTokens: [secrets['env:OAUTH'] ?? ''],
    },
    ...settings,
  });
  const config: WarehouseConfig = {
    driver: 'snowflake',
    account: 'testorg-testaccount',
    token: 'env:TOKEN',
    warehouse: 'wh',
    database: 'sales',
    endpoint: server.endpoint,
  };
  return {
    server,
    config,
    open: (overrides) =>
      openWarehouse(
        {
          connection: 'wh',
          projectDir: '/',
          cacheDir: '/nowhere',
          secrets: (reference) => secrets[reference] ?? '',
          config: { ...config, ...overrides } as WarehouseConfig,
        },
        new AbortController().signal,
      ),
    remove: () => server.close(),
  };
}

export async function prepareSnowflake(script: string) {
  const { config, server } = await makeSnowflake(script);
  return {
    config,
    secret: secrets['env:TOKEN'] ?? '',
    ran: () =>
      server.seen
        .flatMap(({ body }) => body?.statement ?? [])
        .filter((sql) => !/^\s*EXPLAIN\b/i.test(sql)),
    close: () => server.close(),
  };
}
