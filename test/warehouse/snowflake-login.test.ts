import { decodeJwt } from 'jose';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WarehouseConfig } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { WireGrant } from '../engines/snowflake/catalog.ts';
import {
  keys,
  makeSnowflake,
  passphrase,
  readerGrants,
  secrets,
  type SnowflakeDatabase,
} from '../support/snowflake.ts';
import { generous, never } from '../support/warehouses.ts';

const script = 'CREATE TABLE many (n INTEGER); INSERT INTO many VALUES (1), (2);';
const keyLogin = { token: undefined, user: 'ktx_reader', private_key: 'env:KEY' };

describe('a login to snowflake', () => {
  let database: SnowflakeDatabase;
  beforeAll(async () => {
    database = await makeSnowflake(script);
  });
  afterAll(() => database?.remove());
  beforeEach(() => {
    database.server.seen.length = 0;
    database.server.answers.length = 0;
    database.server.intercept = undefined;
  });

  const openWith = (
    overrides: Partial<WarehouseConfig>,
    read: (reference: string) => string = (reference) => secrets[reference] ?? '',
  ) =>
    openWarehouse(
      {
        connection: 'wh',
        projectDir: '/',
        cacheDir: '/nowhere',
        secrets: read,
        config: { ...database.config, ...overrides } as WarehouseConfig,
      },
      never,
    );

  test.each([
    ['a key pair', keyLogin, 'KEYPAIR_JWT'],
    [
      'an encrypted key',
      { ...keyLogin, private_key: 'env:ENCRYPTED_KEY', private_key_passphrase: 'env:PASSPHRASE' },
      'KEYPAIR_JWT',
    ],
    ['an access token', {}, 'PROGRAMMATIC_ACCESS_TOKEN'],
    ['an OAuth token', { token: undefined, oauth_token: 'env:OAUTH' }, 'OAUTH'],
  ] as const)('works with %s', async (_name, overrides, kind) => {
    await using warehouse = asDisposable(await openWith(overrides as Partial<WarehouseConfig>));
    expect((await warehouse.query('SELECT n FROM many', generous, never)).rows).toEqual([[1], [2]]);
    const kinds = database.server.seen.map(
      ({ headers }) => headers['x-snowflake-authorization-token-type'],
    );
    expect(new Set(kinds)).toEqual(new Set([kind]));
  });

  test('signs for the account without its region, and for less than an hour', async () => {
    await expect(openWith({ ...keyLogin, account: 'xy12345.eu-central-1' })).rejects.toMatchObject({
      code: 'warehouse_auth',
    });
    const [first] = database.server.seen;
    const token = decodeJwt(first?.headers.authorization?.replace('Bearer ', '') ?? '');
    expect(token.sub).toBe('XY12345.KTX_READER');
    expect(token.iss).toMatch(/^XY12345\.KTX_READER\.SHA256:[A-Za-z0-9+/]{43}=$/);
    expect((token.exp ?? 0) - (token.iat ?? 0)).toBeLessThanOrEqual(3600);
  });

  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  test.each([
    ['no PEM', 'certainly no key', 'or is no PEM'],
    ['no passphrase', keys.encrypted, 'no passphrase was given'],
    [
      'a key of another kind',
      ecKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      'is no RSA key',
    ],
  ])('fails before anything is sent with %s', async (_name, pem, reason) => {
    const failure = await openWith(keyLogin as Partial<WarehouseConfig>, () => pem).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining(reason),
    });
    expect(database.server.seen).toEqual([]);
    expect(JSON.stringify(failure)).not.toContain('PRIVATE KEY');
  });

  test('fails with another passphrase, and does not show it', async () => {
    const read = (reference: string): string =>
      reference === 'env:KEY' ? keys.encrypted : `not ${passphrase}`;
    const overrides = { ...keyLogin, private_key_passphrase: 'env:PASSPHRASE' };
    const failure: unknown = await openWith(overrides as Partial<WarehouseConfig>, read).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'warehouse_auth' });
    expect(String(failure)).not.toContain(passphrase);
  });

  test('names a refusal, and shows no token, even if the server does', async () => {
    database.server.intercept = ({ headers }) => ({
      status: 401,
      body: JSON.stringify({ code: '390144', message: `no: ${headers.authorization}` }),
    });
    const failure: unknown = await openWith({}).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'warehouse_auth',
      message: expect.stringContaining('refused the login: no: Bearer …'),
    });
    expect(JSON.stringify(failure)).not.toContain(secrets['env:TOKEN']);
  });

  test('signs a new token when the server takes the old one no longer', async () => {
    await using warehouse = asDisposable(await openWith(keyLogin as Partial<WarehouseConfig>));
    database.server.seen.length = 0;
    let isExpired = true;
    database.server.intercept = () => {
      if (!isExpired) return undefined;
      isExpired = false;
      return {
        status: 401,
        body: JSON.stringify({ code: '390318', message: 'OAuth access token expired.' }),
      };
    };
    expect((await warehouse.query('SELECT max(n) FROM many', generous, never)).rows).toEqual([[2]]);
    const [refused, repeated] = database.server.seen;
    expect(repeated?.body).toEqual(refused?.body);
    expect(repeated?.query.get('requestId')).toBe(refused?.query.get('requestId'));
  });

  test('signs a new token before the old one ends', async () => {
    await using warehouse = asDisposable(await openWith(keyLogin as Partial<WarehouseConfig>));
    const used = () => new Set(database.server.seen.map(({ headers }) => headers.authorization));
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      vi.setSystemTime(Date.now() + 49 * 60_000);
      await warehouse.query('SELECT 1', generous, never);
      expect(used().size).toBe(1);
      vi.setSystemTime(Date.now() + 60_000 + 1000);
      await warehouse.query('SELECT 1', generous, never);
      expect(used().size).toBe(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('reads an access token again that was replaced', async () => {
    let token = 'an old one';
    const read = () => {
      const current = token;
      token = secrets['env:TOKEN'] ?? '';
      return current;
    };
    await using warehouse = asDisposable(await openWith({}, read));
    expect((await warehouse.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
    expect(database.server.answers[0]?.status).toBe(401);
  });

  test('sends the login to no address without encryption on another machine', async () => {
    await expect(openWith({ endpoint: 'http://snowflake.example.com' })).rejects.toMatchObject({
      code: 'warehouse_insecure',
    });
  });
});

describe('a role of snowflake', () => {
  const grant = (privilege: string, on: string, name: string): WireGrant => ({
    privilege,
    granted_on: on,
    name,
  });
  const failureWith = async (
    grants: Readonly<Record<string, readonly WireGrant[]>>,
    settings: { readonly role?: string; readonly secondaryRoles?: readonly string[] } = {},
  ): Promise<unknown> => {
    const database = await makeSnowflake(script, {
      grants: { PUBLIC: [], ...grants },
      ...settings,
    });
    try {
      const warehouse = await database.open();
      const report = await warehouse.privileges();
      await warehouse.close();
      return report;
    } catch (error) {
      return error;
    } finally {
      await database.remove();
    }
  };

  test('that may only read is let in', async () => {
    const reads = [
      ...readerGrants,
      grant('MONITOR', 'WAREHOUSE', 'WH'),
      grant('OPERATE', 'WAREHOUSE', 'WH'),
      grant('USAGE', 'DATABASE_ROLE', 'SNOWFLAKE.CORE_VIEWER'),
      grant('USAGE', 'ROLE', 'ANALYST'),
      grant('USAGE', 'DATABASE_ROLE', 'SALES.READER'),
    ];
    const report = await failureWith({
      READER: reads,
      ANALYST: readerGrants,
      'SALES.READER': [grant('SELECT', 'VIEW', 'SALES.PUBLIC.V')],
    });
    expect(report).toMatchObject({ readOnly: true, remedy: undefined });
  });

  test.each([
    ['INSERT on table', { READER: [grant('INSERT', 'TABLE', 'SALES.PUBLIC.MANY')] }],
    ['OWNERSHIP on schema', { READER: [grant('OWNERSHIP', 'SCHEMA', 'SALES.PUBLIC')] }],
    ['CREATE TABLE on schema', { READER: [grant('CREATE TABLE', 'SCHEMA', 'SALES.PUBLIC')] }],
    ['MANAGE GRANTS on account', { READER: [grant('MANAGE GRANTS', 'ACCOUNT', 'X')] }],
    ['OPERATE on task', { READER: [grant('OPERATE', 'TASK', 'SALES.PUBLIC.NIGHTLY')] }],
    ['WRITE on stage', { READER: [grant('WRITE', 'STAGE', 'SALES.PUBLIC.S')] }],
    [
      'APPLY MASKING POLICY on account',
      { READER: [grant('APPLY MASKING POLICY', 'ACCOUNT', 'X')] },
    ],
    [
      'role ETL has DELETE on table',
      { READER: [grant('USAGE', 'ROLE', 'ETL')], ETL: [grant('DELETE', 'TABLE', 'T')] },
    ],
    [
      'role SALES.WRITER has UPDATE on table',
      {
        READER: [grant('USAGE', 'DATABASE_ROLE', 'SALES.WRITER')],
        'SALES.WRITER': [grant('UPDATE', 'TABLE', 'T')],
      },
    ],
    [
      'role PUBLIC has TRUNCATE on table',
      { READER: [], PUBLIC: [grant('TRUNCATE', 'TABLE', 'T')] },
    ],
    ['role SYSADMIN administers the account', { READER: [grant('USAGE', 'ROLE', 'SYSADMIN')] }],
    ['the grants of role GONE cannot be read', { READER: [grant('USAGE', 'ROLE', 'GONE')] }],
  ] as const)('is refused: %s', async (finding, grants) => {
    expect(await failureWith(grants)).toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining(finding),
      hint: expect.stringContaining(
        'GRANT SELECT ON ALL TABLES IN DATABASE "SALES" TO ROLE KTX_READER;',
      ),
    });
  });

  test('is refused for what a secondary role may do', async () => {
    const grants = { READER: readerGrants, LOADER: [grant('INSERT', 'TABLE', 'T')] };
    expect(await failureWith(grants, { secondaryRoles: ['LOADER'] })).toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('role LOADER has INSERT on table T'),
    });
  });

  test('that may write is let in if the connection says so, and the report says so', async () => {
    const database = await makeSnowflake(script, {
      grants: {
        READER: [grant('INSERT', 'TABLE', 'A'), grant('INSERT', 'TABLE', 'B')],
        PUBLIC: [],
      },
    });
    const warehouse = await database.open({ allow_writable_role: true, schemas: ['public'] });
    try {
      const report = await warehouse.privileges();
      expect(report).toMatchObject({
        readOnly: false,
        findings: ['role READER has INSERT on table A and 1 more'],
      });
      expect(report.remedy).toContain(
        'GRANT SELECT ON FUTURE VIEWS IN SCHEMA "SALES"."PUBLIC" TO ROLE KTX_READER;',
      );
    } finally {
      await warehouse.close();
      await database.remove();
    }
  });
});

function asDisposable<T extends { close(): Promise<void> }>(open: T): T & AsyncDisposable {
  return Object.assign(open, { [Symbol.asyncDispose]: () => open.close() });
}
