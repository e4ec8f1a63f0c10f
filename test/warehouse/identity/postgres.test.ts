import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresConfigSchema } from '../../../src/warehouse/drivers/postgres/config.ts';
import { runPostgres } from '../../support/postgres.ts';
import { limits, never, openWith, roleNames, rolesOfPostgres, wordsOf } from './callers.ts';

let server: Awaited<ReturnType<typeof rolesOfPostgres>>;
let byRole: Awaited<ReturnType<typeof openWith>>;
let byPerson: Awaited<ReturnType<typeof openWith>>;
const as = (role?: string) => ({ role, person: undefined });
const person = (name?: string) => ({ role: 'dach', person: name });
const all = 'SELECT word FROM orders';

beforeAll(async () => {
  server = await rolesOfPostgres();
  const base = { driver: 'postgres', url: 'env:URL' };
  const identity = { mode: 'role', roles: server.roles };
  byRole = await openWith({ ...base, identity }, server.url);
  const session = { mode: 'session', setting: 'ktx.user' };
  byPerson = await openWith({ ...base, identity: session }, server.url);
});

afterAll(async () => {
  await byRole.close();
  await byPerson.close();
});

describe('a caller of Postgres by role', () => {
  it.each(roleNames)('%s sees the rows of its role alone', async (role) => {
    const words = await wordsOf(byRole.warehouse.as(as(role)), all);
    expect(words).toHaveLength(20);
    expect(words.every((word) => word.startsWith(`canary-${role}-`))).toBe(true);
  });

  it('is refused without a role, and with one that the connection does not name', async () => {
    for (const role of [undefined, 'nobody', 'constructor', '__proto__'])
      await expect(byRole.warehouse.as(as(role)).query(all, limits, never)).rejects.toMatchObject({
        code: 'identity_unknown',
      });
  });

  it('is refused if the login is no member of the role', async () => {
    const identity = { mode: 'role', roles: { dach: 'postgres' } };
    const { warehouse, close } = await openWith(
      { driver: 'postgres', url: 'env:URL', identity },
      server.url,
    );
    await expect(warehouse.as(as('dach')).query(all, limits, never)).rejects.toMatchObject({
      code: 'identity_unknown',
      message: expect.stringContaining('permission denied to set role'),
    });
    await close();
  });

  it('leaves nothing of itself in a connection, whatever its statement did', async () => {
    const statements = [all, 'SELECT 1 / 0', 'SELECT nothing FROM orders', 'SELECT pg_sleep(1)'];
    const callers = fc.constantFrom(undefined, ...roleNames);
    const calls = fc.array(fc.tuple(callers, fc.constantFrom(...statements)), { maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(calls, async (asked) => {
        const answers = asked.map(async ([role, sql]) => {
          const isOwn = role === undefined;
          const view = isOwn ? byRole.warehouse : byRole.warehouse.as(as(role));
          const words = await wordsOf(view, sql).catch(() => []);
          if (sql !== all) return;
          const marks = [...new Set(words.map((word) => word.split('-')[1]))];
          expect(marks).toEqual(isOwn ? [] : [role]);
        });
        await Promise.all(answers);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    'RESET ROLE',
    'SET ROLE NONE',
    'SET LOCAL ROLE postgres',
    'SET SESSION AUTHORIZATION DEFAULT',
    'DISCARD ALL',
    'ROLLBACK',
    'COMMIT; RESET ROLE; SELECT word FROM orders',
    "SELECT set_config('role', 'none', true)",
    "SELECT pg_catalog.set_config('role', 'none', true), word FROM orders",
    `SELECT "set_config"('ktx.user', 'ann-us', true)`,
    "SELECT word FROM orders WHERE set_config('role', 'none', false) IS NOT NULL",
    "SELECT U&'x' FROM orders WHERE U&\"set\\005fconfig\"('role', 'none', true) = ''",
    "DO $$ BEGIN PERFORM set_config('role', 'none', true); END $$",
    'PREPARE x AS SELECT 1',
    "EXECUTE 'RESET ROLE'",
    "SELECT * FROM dblink('', 'SELECT word FROM orders') AS t(word text)",
    "SELECT query_to_xml('SELECT word FROM orders', true, true, '')",
    "UPDATE pg_settings SET setting = 'none' WHERE name = 'role'",
  ])('cannot change who it is: %s', async (sql) => {
    for (const view of [byRole.warehouse.as(as('dach')), byPerson.warehouse.as(person('ann-us'))])
      await expect(view.query(sql, limits, never)).rejects.toMatchObject({ code: /^(gate_|sql_)/ });
  });
});

describe('a caller of Postgres by row security', () => {
  it.each(roleNames)('%s sees the rows of the person alone', async (role) => {
    const words = await wordsOf(byPerson.warehouse.as(person(`ann-${role}`)), all);
    expect(words).toHaveLength(20);
    expect(words.every((word) => word.startsWith(`canary-${role}-`))).toBe(true);
  });

  it('is refused without a name that somebody vouches for', async () => {
    for (const name of [undefined, '', 'a\0b', 'ann\nus', 'x'.repeat(201)])
      await expect(
        byPerson.warehouse.as(person(name)).query(all, limits, never),
      ).rejects.toMatchObject({ code: 'identity_unknown' });
  });

  it('is a value and never SQL, also where a backslash escapes', async () => {
    const database = new URL(server.url).pathname.slice(1);
    await runPostgres(
      server.owner,
      `ALTER ROLE ${server.login} IN DATABASE ${database} SET standard_conforming_strings = off`,
    );
    const { warehouse, close } = await openWith(
      { driver: 'postgres', url: 'env:URL', identity: { mode: 'session', setting: 'ktx.user' } },
      server.url,
    );
    const names = ["'", "\\'", "x', true); RESET ROLE; --", "\\'; SELECT 1; --", '$$', '"'];
    for (const name of names) expect(await wordsOf(warehouse.as(person(name)), all)).toEqual([]);
    await close();
  });

  it('is not served by a login that row security does not bind', async () => {
    const identity = { mode: 'session', setting: 'ktx.user' };
    const config = { driver: 'postgres', url: 'env:URL', identity };
    await expect(openWith(config, server.owner)).rejects.toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('it is a superuser'),
    });
  });
});

it('takes no setting of the server, no reserved role and no set_config', () => {
  const errorsOf = (rest: object) =>
    postgresConfigSchema.safeParse({ driver: 'postgres', url: 'env:URL', ...rest }).success;
  const session = (setting: string) => ({ identity: { mode: 'session', setting } });
  expect(errorsOf(session('app.user'))).toBe(true);
  for (const setting of ['role', 'session_authorization', 'row_security', 'a b.c', 'A.b', 'a.'])
    expect(errorsOf(session(setting)), setting).toBe(false);
  const role = (name: string) => ({ identity: { mode: 'role', roles: { dach: name } } });
  expect(errorsOf(role('dach_reader'))).toBe(true);
  for (const name of ['none', 'NONE', 'default', 'all', '', 'a"b', "a'b", 'a\\b', 'a\0b'])
    expect(errorsOf(role(name)), name).toBe(false);
  for (const name of ['set_config', 'pg_catalog.set_config', 'SET_CONFIG'])
    expect(errorsOf({ ...role('x'), allow_functions: [name] }), name).toBe(false);
});
