import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasMariadb, runMariadb } from '../../support/mariadb.ts';
import { limits, never, openWith, roleNames, rolesOfMariadb, wordsOf } from './callers.ts';

const as = (role?: string) => ({ role, person: undefined });

describe.runIf(hasMariadb)('a caller of MariaDB by role', () => {
  let server: Awaited<ReturnType<typeof rolesOfMariadb>>;
  let opened: Awaited<ReturnType<typeof openWith>>;
  const config = () => ({
    driver: 'mysql',
    url: 'env:URL',
    ssl: 'off',
    identity: { mode: 'role', roles: server.roles },
  });

  beforeAll(async () => {
    server = await rolesOfMariadb();
    opened = await openWith(config(), server.url);
  });
  afterAll(() => opened.close());

  it('reads what its role may read, and is refused the rest', async () => {
    for (const role of roleNames) {
      const view = opened.warehouse.as(as(role));
      const words = await wordsOf(view, `SELECT word FROM orders_${role}`);
      expect(words).toHaveLength(20);
      for (const other of roleNames.filter((name) => name !== role).map((name) => `orders_${name}`))
        await expect(wordsOf(view, `SELECT word FROM ${other}`)).rejects.toMatchObject({
          code: 'warehouse_privilege',
        });
      await expect(wordsOf(view, 'SELECT word FROM orders')).rejects.toMatchObject({
        code: 'warehouse_privilege',
      });
    }
  });

  it('leaves nothing of itself in a connection', async () => {
    const callers = fc.constantFrom(undefined, ...roleNames);
    await fc.assert(
      fc.asyncProperty(fc.array(callers, { maxLength: 24 }), async (asked) => {
        const answers = asked.map(async (role) => {
          const view = role === undefined ? opened.warehouse : opened.warehouse.as(as(role));
          expect(await wordsOf(view, 'SELECT who FROM mine')).toEqual([
            role === undefined ? expect.stringMatching(/_scan$/) : server.roles[role],
          ]);
        });
        await Promise.all(answers);
      }),
      { numRuns: 25 },
    );
  });

  it('is refused without a role that the connection names, or that the login has', async () => {
    for (const role of [undefined, 'nobody'])
      await expect(
        opened.warehouse.as(as(role)).query('SELECT who FROM mine', limits, never),
      ).rejects.toMatchObject({ code: 'identity_unknown' });
    const identity = { mode: 'role', roles: { dach: 'no_such_role' } };
    const { warehouse, close } = await openWith({ ...config(), identity }, server.url);
    await expect(
      warehouse.as(as('dach')).query('SELECT who FROM mine', limits, never),
    ).rejects.toMatchObject({ code: 'identity_unknown' });
    await close();
  });

  it.each([
    'SET ROLE NONE',
    'SET ROLE ALL',
    'SET STATEMENT x = 1 FOR SELECT 1',
    'RESET CONNECTION',
  ])('cannot change who it is: %s', async (sql) => {
    await expect(opened.warehouse.as(as('dach')).query(sql, limits, never)).rejects.toMatchObject({
      code: /^(gate_|sql_)/,
    });
  });

  it('is not served by a login with rights of its own', async () => {
    await runMariadb(server.owner, `GRANT SELECT ON ${server.database}.orders TO ${server.login}`);
    await expect(openWith(config(), server.url)).rejects.toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('GRANT SELECT ON'),
    });
  });
});
