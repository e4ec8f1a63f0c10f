import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { mysqlConfigSchema } from '../../src/warehouse/drivers/mysql/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { TableSchema, Warehouse } from '../../src/warehouse/warehouse.ts';
import { createMariadb, hasMariadb, readerOfMariadb, runMariadb } from '../support/mariadb.ts';
import { generous, never } from '../support/warehouses.ts';

const script = `
  CREATE TABLE parent (a int, b int, PRIMARY KEY (b, a));
  CREATE TABLE child (x int COMMENT 'First part', y int, mood enum('sad', 'o''k'), status varchar(10) CHECK (status IN ('new', 'it''s')), loud bit(1),
    born timestamp(0) NULL, other int, FOREIGN KEY (x, y) REFERENCES parent (b, a)) COMMENT 'A child';
  CREATE UNIQUE INDEX child_key ON child (y, x); CREATE UNIQUE INDEX child_prefix ON child (status(3)); CREATE SEQUENCE counter;
  CREATE VIEW broken AS SELECT a FROM parent; ALTER TABLE parent ADD COLUMN c int; CREATE TABLE gone (id int); CREATE VIEW lost AS SELECT id FROM gone; DROP TABLE gone;
`;

describe.skipIf(!hasMariadb)('MySQL', () => {
  let url: string;
  let other: string;
  let folder: string;
  let warehouse: Warehouse;
  let tables: readonly TableSchema[];
  const place = () => ({
    driver: 'mysql',
    host: '127.0.0.1',
    port: inject('mariadb')?.port,
    database: url.slice(-13),
    user: 'root',
  });
  const openWith = (config: unknown, secret = url): Promise<Warehouse> =>
    openWarehouse(
      {
        connection: 'my',
        config: mysqlConfigSchema.parse(config),
        projectDir: folder,
        cacheDir: folder,
        secrets: () => secret,
      },
      never,
    );
  const plain = { driver: 'mysql', url: 'env:URL', ssl: 'off' };
  const named = (table: string) => tables.find((one) => one.table === table);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ktx-test-mysql-'));
    other = (await createMariadb('CREATE TABLE parent (id int PRIMARY KEY)')).slice(-13);
    url = await createMariadb(script);
    await runMariadb(
      url,
      `ALTER TABLE child ADD FOREIGN KEY (other) REFERENCES ${other}.parent (id)`,
    );
    warehouse = await openWith({ ...plain, schemas: [url.slice(-13), other] });
    tables = (await warehouse.introspect({}, never)).tables;
  });
  afterAll(async () => {
    await warehouse?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('reads comments, enums, checks, unique indexes over whole columns only, keys across schemas, no sequence and no broken view', () => {
    expect(tables.filter(({ schema }) => schema !== other).map(({ table }) => table)).toEqual([
      'broken',
      'child',
      'parent',
    ]);
    const child = named('child');
    expect(child).toMatchObject({ comment: 'A child', uniqueKeys: [['y', 'x']] });
    expect(
      child?.columns.map(({ name, type, values, comment }) => ({ name, type, values, comment })),
    ).toMatchObject([
      { name: 'x', type: 'integer', comment: 'First part' },
      { name: 'y', type: 'integer' },
      { name: 'mood', type: 'string', values: ['sad', "o'k"] },
      { name: 'status', type: 'string', values: ['new', "it's"] },
      { name: 'loud', type: 'boolean' },
      { name: 'born', type: 'datetime_tz' },
      { name: 'other', type: 'integer' },
    ]);
    expect(child?.foreignKeys).toEqual([
      {
        columns: ['x', 'y'],
        to: { table: { schema: url.slice(-13), table: 'parent' }, columns: ['b', 'a'] },
      },
      { columns: ['other'], to: { table: { schema: other, table: 'parent' }, columns: ['id'] } },
    ]);
  });

  test('shows a login with SELECT and nothing else every key, and says that it can only read', async () => {
    const open = await openWith(plain, await readerOfMariadb(url));
    try {
      const seen = (await open.introspect({}, never)).tables;
      const keys = (list: readonly TableSchema[]) =>
        list.map(({ primaryKey, uniqueKeys }) => [primaryKey, uniqueKeys]);
      expect(keys(seen)).toEqual(keys(tables.filter(({ schema }) => schema !== other)));
      expect(await open.privileges()).toEqual({ readOnly: true, findings: [] });
      await expect(
        open.query(`SELECT * FROM ${other}.parent`, generous, never),
      ).rejects.toMatchObject({ details: { rule: 'table' } });
    } finally {
      await open.close();
    }
    const { findings, remedy = [] } = await warehouse.privileges();
    expect(findings).toContain('the login has ALL PRIVILEGES on *.*');
    // Logins belong to the whole server, which may run this test twice.
    const login = `ktx_reader_${new URL(url).pathname.slice(-8)}`;
    const statements = remedy.join(' ').replaceAll('`', '').replaceAll('ktx_reader', login);
    await runMariadb(url, statements.replace('…', 'r'));
    const made = Object.assign(new URL(url), { username: login, password: 'r' }).href;
    const reader = await openWith(plain, made);
    expect(await reader.privileges()).toEqual({ readOnly: true, findings: [] });
    await reader.close();
    // By the server's own word, without any wall of ktx.
    for (const writing of [
      'DELETE FROM child',
      'DROP TABLE child',
      'CREATE TABLE more (id int)',
      "SELECT 1 INTO OUTFILE '/tmp/ktx-test'",
    ]) {
      await expect(runMariadb(made, writing)).rejects.toThrow(/denied/);
    }
  });

  test('gives cells by type, in UTC, whatever the server is set to', async () => {
    const sql = `SELECT 12345678901234567890.5, 1.50, 1e300, CAST('2024-01-02 03:04:05.250' AS DATETIME(3)), DATE '2024-01-02', TIME '10:11:12',
      x'00ff', b'101', FROM_UNIXTIME(0), 'it''s ☃😀', NULL, CAST(18446744073709551615 AS UNSIGNED), YEAR('2024-01-01'), 10 / 3`;
    expect((await warehouse.query(sql, generous, never)).rows).toEqual([
      [
        '12345678901234567890.5',
        1.5,
        1e300,
        '2024-01-02 03:04:05.25',
        '2024-01-02',
        '10:11:12',
        '\\x00ff',
        '\\x05',
        '1970-01-01 00:00:00',
        "it's ☃😀",
        null,
        '18446744073709551615',
        2024,
        3.333333333333,
      ],
    ]);
  });

  test('cancels a query on the server too', async () => {
    const open = await openWith({ ...plain, allow_functions: ['sleep'] });
    try {
      const abort = new AbortController();
      const running = open.query('SELECT sleep(60)', generous, abort.signal);
      setTimeout(() => abort.abort(), 200);
      await expect(running).rejects.toMatchObject({ code: 'query_cancelled' });
      const busy = () =>
        runMariadb(
          url,
          "SELECT id FROM information_schema.processlist WHERE info = 'SELECT sleep(60)'",
        );
      await expect.poll(busy).toEqual([]);
    } finally {
      await open.close();
    }
  });

  test('says that a statement which ignores its KILL may go on, and closes the connection', async () => {
    // MariaDB looks for a KILL between rows, so this one takes its seconds.
    const stubborn = `SELECT repeat('a', 1200000) LIKE '%${'a'.repeat(1000)}b%' AS stubborn_here`;
    const open = await openWith(plain);
    const sockets = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    try {
      const before = sockets();
      await expect(
        open.query(stubborn, { maxRows: 1, timeoutMs: 200 }, never),
      ).rejects.toMatchObject({
        code: 'query_timeout',
        message: expect.stringContaining('may still be running') as string,
        hint: expect.stringContaining('SHOW PROCESSLIST') as string,
        retryable: false,
      });
      // One was the idle connection that the statement took.
      await expect.poll(sockets).toBeLessThan(before);
      expect(await open.query('SELECT 1 AS one', generous, never)).toMatchObject({ rows: [[1]] });
    } finally {
      await open.close();
    }
  });

  test('calls no stored function in place of a function that the server may lack', async () => {
    const own = await createMariadb('CREATE FUNCTION any_value(x int) RETURNS int RETURN 1');
    const open = await openWith(plain, own);
    try {
      await expect(open.query('SELECT any_value(1)', generous, never)).rejects.toMatchObject({
        details: { rule: 'function' },
      });
    } finally {
      await open.close();
    }
  });

  test('lets no statement past its time limit that answers row by row', async () => {
    const cross = `SELECT p.a FROM ${'abcdefghij'.replaceAll(/./g, ', child $&').slice(2)} RIGHT JOIN parent p ON 1 = 1`;
    expect(
      (await warehouse.query(cross, { maxRows: 2, timeoutMs: 5000 }, never)).rows.length,
    ).toBeLessThanOrEqual(2);
  });

  describe('that encrypts', () => {
    const code = (config: unknown) =>
      openWith(config, '').then(
        (open) => open.close().then(() => 'connected'),
        (error: { code: string }) => error.code,
      );

    test('is checked by default: certificate, its authority and the name of the host', async () => {
      writeFileSync(join(folder, 'ca.pem'), inject('mariadb')?.certificate ?? '');
      expect(await code(place())).toBe('warehouse_insecure');
      expect(await code({ ...place(), ca: 'ca.pem' })).toBe('warehouse_insecure');
      expect(await code({ ...place(), host: 'localhost', ca: 'ca.pem' })).toBe('connected');
      expect(await code({ ...place(), ssl: 'no-verify' })).toBe('connected');
      expect(await code({ ...place(), ca: 'missing.pem' })).toBe('warehouse_not_found');
    });
  });

  describe('that fails', () => {
    const fields = () => ({ ...place(), ssl: 'off' });

    test('names a wrong password without saying it, and an unknown login and database', async () => {
      const error = await openWith(
        { ...fields(), user: 'nobody', password: 'env:X' },
        'hunter2',
      ).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'warehouse_auth', exitCode: 4 });
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2');
      await expect(openWith({ ...fields(), database: 'missing_db' })).rejects.toMatchObject({
        code: 'warehouse_not_found',
        exitCode: 2,
      });
    });

    test('names a host that is not there, and a port that is closed', async () => {
      await expect(openWith({ ...fields(), host: 'host.invalid' })).rejects.toMatchObject({
        code: 'warehouse_unreachable',
        retryable: true,
      });
      await expect(openWith({ ...fields(), port: 1 })).rejects.toMatchObject({
        code: 'warehouse_unreachable',
        retryable: true,
      });
    });

    test('names what is no URL, and one without a database', async () => {
      for (const secret of ['postgresql://u:secret@h/d', 'mysql://u:secret@h']) {
        await expect(openWith(plain, secret)).rejects.toMatchObject({
          code: 'config_url',
          exitCode: 2,
          message: expect.not.stringContaining('secret'),
        });
      }
    });
  });
});

test('the configuration of a MySQL connection takes a URL or fields, and no password', () => {
  const problems = (config: unknown): string =>
    mysqlConfigSchema
      .safeParse(config)
      .error?.issues.map(({ message }) => message)
      .join('; ') ?? '';
  expect(problems({ driver: 'mysql', url: 'mysql://me:hunter2@host/db' })).toContain(
    'url: env:WAREHOUSE_URL',
  );
  expect(problems({ driver: 'mysql' })).toContain('url');
  expect(problems({ driver: 'mysql', url: 'env:URL', database: 'd' })).toContain('url');
  expect(problems({ driver: 'mysql', database: 'd', user: 'u', password: 'env:X' })).toBe('');
  expect(problems({ driver: 'mysql', url: 'mariadb://me@host/db' })).toBe('');
});
