import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  makeSnowflake,
  readerGrants,
  secrets,
  type SnowflakeDatabase,
} from '../../support/snowflake.ts';
import { limits, never, roleNames, wordsOf } from './callers.ts';

const script = `CREATE TABLE orders (word VARCHAR, region VARCHAR);
  INSERT INTO orders VALUES ${roleNames.map((role) => `('canary-${role}', '${role.toUpperCase()}')`).join(', ')};`;
const sql = 'SELECT word FROM orders';
const roles = Object.fromEntries(roleNames.map((role) => [role, `r_${role}`]));
const grants = Object.fromEntries(
  ['READER', ...roleNames.map((role) => `R_${role.toUpperCase()}`)].map((role) => [
    role,
    readerGrants,
  ]),
);

let database: SnowflakeDatabase;
const tokens: string[] = [secrets['env:OAUTH'] ?? ''];

beforeEach(async () => {
  database = await makeSnowflake(script, {
    grants: {
      ...grants,
      PUBLIC: [],
      WRITER: [{ privilege: 'INSERT', granted_on: 'TABLE', name: 'SALES.PUBLIC.ORDERS' }],
    },
    secure: (text, { role, token }) => {
      const owner = /^R_(\w+)$/.exec(role)?.[1] ?? /^for-(\w+)$/.exec(token)?.[1]?.toUpperCase();
      const rows = `(SELECT * FROM orders WHERE region = '${owner ?? 'NOBODY'}') AS orders`;
      return text.replace(/FROM orders\b/, `FROM ${rows}`);
    },
    logins: {
      account: 'TESTORG-TESTACCOUNT',
      user: 'KTX_READER',
      tokens: [secrets['env:TOKEN'] ?? ''],
      oauthTokens: [...tokens, ...roleNames.map((role) => `for-${role}`)],
    },
  });
});
afterEach(() => database.remove());

const open = (identity: object) => database.open({ identity } as object);
const exchange = {
  mode: 'exchange',
  client_id: 'ktx',
  client_secret: 'env:TOKEN',
  audience: 'snowflake',
};

describe('a caller of Snowflake by role', () => {
  it('has its role in every statement and in its plan', async () => {
    const warehouse = await open({ mode: 'role', roles });
    const answers = Array.from({ length: 60 }, async (_, index) => {
      const role = roleNames[index % roleNames.length] ?? '';
      const view = warehouse.as({ role, person: undefined });
      expect(await wordsOf(view, sql)).toEqual([`canary-${role}`]);
    });
    await Promise.all(answers);
    const about = database.server.seen.filter(({ body }) => body?.statement.includes(sql) === true);
    expect(about.length).toBeGreaterThan(60);
    expect(about.every(({ body }) => body?.role?.startsWith('R_'))).toBe(true);
    expect(await wordsOf(warehouse, sql)).toEqual([]);
    await warehouse.close();
  });

  it('has a plan of its own, also for a statement that was estimated for another', async () => {
    const warehouse = await open({ mode: 'role', roles });
    const ask = (role: string, maxBytes?: number) =>
      warehouse.as({ role, person: undefined }).query(sql, { ...limits, maxBytes }, never);
    await expect(ask('dach', 1)).rejects.toMatchObject({ code: 'too_expensive' });
    await ask('us');
    const plans = database.server.seen.filter(({ body }) => body?.statement.startsWith('EXPLAIN'));
    expect(plans.map(({ body }) => body?.role)).toEqual(['R_DACH', 'R_US']);
    await warehouse.close();
  });

  it('is refused if its role may write, or if secondary roles add to it', async () => {
    const warehouse = await open({ mode: 'role', roles: { etl: 'writer' } });
    await expect(
      warehouse.as({ role: 'etl', person: undefined }).query(sql, limits, never),
    ).rejects.toMatchObject({ code: 'warehouse_privilege' });
    await warehouse.close();
    await database.remove();
    database = await makeSnowflake(script, {
      grants: { ...grants, PUBLIC: [] },
      secondaryRoles: ['READER'],
    });
    const added = await open({ mode: 'role', roles });
    await expect(
      added.as({ role: 'us', person: undefined }).query(sql, limits, never),
    ).rejects.toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('secondary roles'),
    });
    await added.close();
  });
});

describe('a caller of Snowflake with an exchanged token', () => {
  it('is the person of the token in every request, and no other login is used', async () => {
    const warehouse = await open(exchange);
    const wanted: unknown[] = [];
    const answers = Array.from({ length: 30 }, async (_, index) => {
      const name = roleNames[index % roleNames.length] ?? '';
      const caller = {
        role: undefined,
        person: name,
        exchange: async (what: unknown) => {
          wanted.push(what);
          return `for-${name}`;
        },
      };
      expect(await wordsOf(warehouse.as(caller), sql)).toEqual([`canary-${name}`]);
    });
    await Promise.all(answers);
    expect(wanted[0]).toEqual({
      clientId: 'ktx',
      clientSecret: secrets['env:TOKEN'],
      audience: 'snowflake',
      scope: undefined,
    });
    const statements = database.server.seen.filter(({ body }) => body?.statement.includes(sql));
    expect(statements.length).toBeGreaterThan(30);
    const isTheirs = (header?: string) => /^Bearer for-\w+$/.test(header ?? '');
    expect(statements.every(({ headers }) => isTheirs(headers.authorization))).toBe(true);
    await warehouse.close();
  });

  it('is refused without a token that could be exchanged, and with one that Snowflake refuses', async () => {
    const warehouse = await open(exchange);
    await expect(
      warehouse.as({ role: 'dach', person: 'ann' }).query(sql, limits, never),
    ).rejects.toMatchObject({ code: 'identity_unknown' });
    const stale = { role: undefined, person: 'ann', exchange: async () => 'for-nobody-4711' };
    const failed = warehouse.as(stale).query(sql, limits, never);
    await expect(failed).rejects.toMatchObject({ code: 'warehouse_auth' });
    await expect(failed).rejects.not.toThrow('for-nobody-4711');
    await warehouse.close();
  });
});
