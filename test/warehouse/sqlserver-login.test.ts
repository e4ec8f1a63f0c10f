import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlserverConfigSchema } from '../../src/warehouse/drivers/sqlserver/config.ts';
import { type SqlServer, startSqlserver } from '../engines/sqlserver/server.ts';
import { throwAwayCertificate } from '../support/certificate.ts';
import { refusalOf } from '../support/refusal.ts';
import { openSqlserver } from '../support/sqlserver.ts';
import { generous, never } from '../support/warehouses.ts';

const script = 'CREATE TABLE many (n INTEGER); INSERT INTO many SELECT range FROM range(10);';

let server: SqlServer;
beforeAll(async () => {
  server = await startSqlserver({ script });
});
afterAll(async () => {
  await server?.close();
});

describe('the login of SQL Server', () => {
  test('is refused if it may write, unless the configuration lets it in', async () => {
    const writable = await startSqlserver({ script });
    try {
      const harmless = await openSqlserver(writable);
      expect(await harmless.privileges()).toEqual({
        readOnly: true,
        findings: ['the login may read and nothing else'],
      });
      await harmless.close();
      await writable.execute(
        "INSERT INTO sys.database_permissions SELECT 1, object_id, 5, 'UPDATE', 'G' FROM sys.objects WHERE name = 'many'",
      );
      expect(await refusalOf(openSqlserver(writable))).toMatchObject({
        code: 'warehouse_privilege',
        exitCode: 4,
        message: expect.stringContaining('the login has UPDATE on main.many'),
        hint: expect.stringContaining('CREATE USER ktx_reader FOR LOGIN ktx_reader;'),
      });
      await writable.execute(
        "INSERT INTO sqlserver_server.database_permissions VALUES ('ALTER'), ('INSERT'); INSERT INTO sys.user_token VALUES (1, 'dbo')",
      );
      const open = await openSqlserver(writable, { allow_writable_role: true });
      expect(await open.privileges()).toMatchObject({
        readOnly: false,
        findings: [
          'the login has INSERT and 1 more on the whole database',
          'the login has OWNERSHIP on main',
          'the login has UPDATE on main.many',
        ],
      });
      await open.close();
      // Then the plan is the wall, so it must be there.
      await writable.execute(
        "DELETE FROM sqlserver_server.database_permissions WHERE permission_name = 'SHOWPLAN'",
      );
      expect(await refusalOf(openSqlserver(writable, { allow_writable_role: true }))).toMatchObject(
        { code: 'warehouse_privilege', message: expect.stringContaining('plans') },
      );
    } finally {
      await writable.close();
    }
  });

  test('that only reads needs no plans', async () => {
    const plain = await startSqlserver({ script });
    await plain.execute(
      "DELETE FROM sqlserver_server.database_permissions WHERE permission_name = 'SHOWPLAN'",
    );
    const open = await openSqlserver(plain);
    expect((await open.query('SELECT count(*) AS n FROM many', generous, never)).rows).toEqual([
      [10],
    ]);
    expect(plain.statements.some(({ sql }) => sql.includes('SHOWPLAN_XML'))).toBe(false);
    await open.close();
    await plain.close();
  });

  test('can be a token of Entra', async () => {
    const given = { user: undefined, password: undefined, token: 'env:TOKEN' };
    const open = await openSqlserver(server, given, { 'env:TOKEN': 'entra-token\n' });
    expect((await open.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
    expect(server.logins.at(-1)).toMatchObject({ token: 'entra-token', user: '', password: '' });
    await open.close();
    const refused = await refusalOf(openSqlserver(server, given, { 'env:TOKEN': 'other-secret' }));
    expect(refused).toMatchObject({ code: 'warehouse_auth' });
    expect(JSON.stringify(refused)).not.toContain('other-secret');
    expect(await refusalOf(openSqlserver(server, given, { 'env:TOKEN': 'a b' }))).toMatchObject({
      code: 'warehouse_auth',
    });
  });

  test.each([
    [{}, { 'env:PASSWORD': 'wrong-secret' }, 'warehouse_auth'],
    [{ database: 'other' }, { 'env:PASSWORD': 'p' }, 'warehouse_not_found'],
    [{ port: 1 }, { 'env:PASSWORD': 'p' }, 'warehouse_unreachable'],
    [{ user: undefined }, { 'env:PASSWORD': 'p' }, 'config_url'],
    [{ host: 'db.example.com' }, { 'env:PASSWORD': 'p' }, 'warehouse_insecure'],
    [{ ssl: 'verify' }, { 'env:PASSWORD': 'p' }, 'warehouse_insecure'],
    [
      { host: undefined, port: undefined, database: undefined, url: 'env:URL' },
      { 'env:URL': 'postgres://x/y' },
      'config_url',
    ],
  ])('%j ends with what is wrong', async (overrides, secrets, code) => {
    const logins = server.logins.length;
    const refused = await refusalOf(openSqlserver(server, overrides, secrets));
    expect(refused).toMatchObject({ code });
    expect(JSON.stringify(refused)).not.toContain('wrong-secret');
    // A server without encryption is told no password.
    if (code === 'warehouse_insecure') expect(server.logins).toHaveLength(logins);
  });

  test('comes from a url, whatever characters it has', async () => {
    server.rules.password = 'p:/@%';
    const url = `sqlserver://ktx%20reader:${encodeURIComponent('p:/@%')}@127.0.0.1:${server.port}/memory`;
    const place = { host: undefined, port: undefined, database: undefined };
    const given = { ...place, user: undefined, password: undefined, url: 'env:URL' };
    const open = await openSqlserver(server, given, { 'env:URL': url });
    expect(server.logins.at(-1)).toMatchObject({ user: 'ktx reader', password: 'p:/@%' });
    await open.close();
    server.rules.password = 'p';
  });

  test('is not written into ktx.yaml', () => {
    const parse = (settings: object) =>
      sqlserverConfigSchema.safeParse({ driver: 'sqlserver', ...settings }).success;
    expect([
      parse({ url: 'sqlserver://u:secret@h/d' }),
      parse({ url: 'sqlserver://u@h/d' }),
      parse({ host: 'h' }),
      parse({ database: 'd', password: 'secret' }),
      parse({ database: 'd', token: 'env:T', user: 'u' }),
      parse({ database: 'd', token: 'env:T' }),
    ]).toEqual([false, true, false, false, false, true]);
  });
});

describe('an encrypted link to SQL Server', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-sqlserver-tls-')));
  const { key, certificate } = throwAwayCertificate('localhost');
  let secure: SqlServer;
  beforeAll(async () => {
    writeFileSync(join(folder, 'ca.pem'), certificate);
    secure = await startSqlserver({ script, tls: { key, certificate } });
  });
  afterAll(async () => {
    await secure?.close();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['with the certificate of its authority', { ca: join(folder, 'ca.pem') }, undefined],
    ['with any certificate, where nobody checks', { ssl: 'no-verify' }, undefined],
    ['not with an unknown certificate', {}, 'warehouse_insecure'],
    ['not without encryption', { ssl: 'off' }, 'warehouse_insecure'],
  ])('is made %s', async (_name, overrides, code) => {
    const logins = secure.logins.length;
    const opening = openSqlserver(secure, { host: 'localhost', ssl: undefined, ...overrides });
    if (code !== undefined) {
      expect(await refusalOf(opening)).toMatchObject({ code });
      expect(secure.logins).toHaveLength(logins);
      return;
    }
    const open = await opening;
    expect((await open.query('SELECT n FROM many ORDER BY n', generous, never)).rows).toHaveLength(
      10,
    );
    await open.close();
  });

  test('is not made to a host of another name', async () => {
    const overrides = { host: '127.0.0.1', ssl: undefined, ca: join(folder, 'ca.pem') };
    expect(await refusalOf(openSqlserver(secure, overrides))).toMatchObject({
      code: 'warehouse_insecure',
    });
  });
});
