import { createServer } from 'node:net';
import { inject } from 'vitest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type WarehouseConfig, warehouseConfigSchemas } from '../../src/warehouse/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { TableSchema, Warehouse } from '../../src/warehouse/warehouse.ts';
import { createDatabase, runPostgres } from '../support/postgres.ts';
import { generous, never } from '../support/warehouses.ts';

const warehouseConfigSchema = z.discriminatedUnion('driver', warehouseConfigSchemas);

const script = `
  CREATE SCHEMA sales; CREATE SCHEMA "Odd Schema";
  CREATE TYPE mood AS ENUM ('sad', 'ok');
  CREATE DOMAIN positive AS int CHECK (VALUE > 0);
  CREATE TABLE parent (a int, b int, PRIMARY KEY (b, a));
  CREATE TABLE sales.parent (id int PRIMARY KEY);
  CREATE TABLE child (x int, y int, mood mood, amount positive, status text CHECK (status IN ('new', 'old')),
    FOREIGN KEY (x, y) REFERENCES parent (b, a), other int REFERENCES sales.parent);
  CREATE UNIQUE INDEX child_key ON child (y, x); CREATE UNIQUE INDEX child_partial ON child (x) WHERE y > 0; CREATE UNIQUE INDEX child_expression ON child (lower(status));
  CREATE TABLE events (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
  CREATE TABLE events_2024 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
  INSERT INTO events VALUES (1, '2024-05-05');
  CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM child;
  CREATE TABLE "Odd Schema"."Ta.ble" (id int);
  COMMENT ON TABLE child IS 'A child'; COMMENT ON COLUMN child.x IS 'First part';
  CREATE TABLE hidden (id int PRIMARY KEY);
  CREATE FUNCTION slow(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN 1; END $$;
  CREATE FUNCTION stubborn() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN 0;
    EXCEPTION WHEN query_canceled THEN RETURN pg_backend_pid(); END $$;
`;

let url: string;
let reader: string;
beforeAll(async () => {
  url = await createDatabase('pg');
  const role = `reader_${new URL(url).pathname.slice(-8)}`;
  await runPostgres(
    url,
    `${script}
    CREATE ROLE ${role} LOGIN PASSWORD 'read only'; GRANT USAGE ON SCHEMA public, sales, "Odd Schema" TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA public, sales, "Odd Schema" TO ${role}; REVOKE ALL ON hidden FROM ${role}`,
  );
  const readerUrl = new URL(url);
  [readerUrl.username, readerUrl.password] = [role, 'read only'];
  reader = readerUrl.href;
});

const openWith = (config: unknown, secret = url): Promise<Warehouse> =>
  openWarehouse(
    {
      connection: 'pg',
      config: warehouseConfigSchema.parse(config),
      projectDir: '/',
      cacheDir: '/',
      secrets: () => secret,
    },
    never,
  );

describe('Postgres', () => {
  let warehouse: Warehouse;
  let tables: readonly TableSchema[];
  beforeAll(async () => {
    warehouse = await openWith({ driver: 'postgres', url: 'env:URL' });
    tables = (await warehouse.introspect({}, never)).tables;
  });
  afterAll(() => warehouse?.close());
  const named = (schema: string, table: string) =>
    tables.find((one) => one.schema === schema && one.table === table);

  test('hides partitions behind their parent, and shows materialized views', () => {
    expect(tables.map(({ schema, table, kind }) => `${schema}.${table} ${kind}`)).toEqual([
      'Odd Schema.Ta.ble table',
      'public.child table',
      'public.events table',
      'public.hidden table',
      'public.parent table',
      'public.totals materialized_view',
      'sales.parent table',
    ]);
    expect(named('public', 'events')?.primaryKey).toEqual(['id', 'day']);
  });

  test('keeps two tables of one name apart, and follows keys across schemas', () => {
    expect(named('public', 'child')?.foreignKeys).toEqual([
      { columns: ['other'], to: { table: { schema: 'sales', table: 'parent' }, columns: ['id'] } },
      {
        columns: ['x', 'y'],
        to: { table: { schema: 'public', table: 'parent' }, columns: ['b', 'a'] },
      },
    ]);
  });

  test('reads comments, enums, domains, checks, and unique indexes over whole columns only', () => {
    const child = named('public', 'child');
    expect(child).toMatchObject({ comment: 'A child', uniqueKeys: [['y', 'x']] });
    expect(
      child?.columns.map(({ name, type, values, comment }) => ({ name, type, values, comment })),
    ).toMatchObject([
      { name: 'x', type: 'integer', comment: 'First part' },
      { name: 'y', type: 'integer' },
      { name: 'mood', type: 'string', values: ['sad', 'ok'] },
      { name: 'amount', type: 'integer' },
      { name: 'status', type: 'string', values: ['new', 'old'] },
      { name: 'other', type: 'integer' },
    ]);
  });

  test('shows a role with SELECT and nothing else every key, and only what it may read', async () => {
    const open = await openWith({ driver: 'postgres', url: 'env:URL' }, reader);
    try {
      const seen = (await open.introspect({}, never)).tables;
      expect(seen).toEqual(tables.filter(({ table }) => table !== 'hidden'));
      expect(await open.privileges()).toEqual({ readOnly: true, findings: [] });
      await expect(open.query('SELECT * FROM hidden', generous, never)).rejects.toMatchObject({
        code: 'missing_object',
        details: { rule: 'table' },
      });
    } finally {
      await open.close();
    }
  });

  test('says that a superuser could write, and how to make a login that can only read', async () => {
    const { findings, remedy = [] } = await warehouse.privileges();
    expect(findings).toContain('role postgres is a superuser');
    const own = await createDatabase('reader');
    // Logins belong to the whole server, which may run this test twice.
    const login = `ktx_reader_${new URL(own).pathname.slice(-8)}`;
    const made = own.replace(/postgres:[^@]*@/, `${login}:r@`);
    const statements = remedy.join(' ').replaceAll('ktx_reader', login).replace('…', 'r');
    await runPostgres(own, `CREATE TABLE seen (id int); ${statements}`);
    const open = await openWith({ driver: 'postgres', url: 'env:URL' }, made);
    try {
      expect(await open.privileges()).toEqual({ readOnly: true, findings: [] });
      expect((await open.query('SELECT * FROM seen', generous, never)).rows).toEqual([]);
      // By the server's own word, without any wall of ktx.
      for (const writing of [
        'INSERT INTO seen VALUES (1)',
        'UPDATE seen SET id = 2',
        'DROP TABLE seen',
        'CREATE TABLE more (id int)',
      ]) {
        await expect(runPostgres(made, writing)).rejects.toThrow(/permission denied|must be owner/);
      }
    } finally {
      await open.close();
    }
  });

  test('keeps to the configured schemas', async () => {
    const open = await openWith({ driver: 'postgres', url: 'env:URL', schemas: ['sales'] });
    try {
      expect((await open.introspect({}, never)).tables.map(({ table }) => table)).toEqual([
        'parent',
      ]);
      await expect(open.query('SELECT * FROM public.child', generous, never)).rejects.toMatchObject(
        { details: { rule: 'table' } },
      );
      expect((await open.query('SELECT * FROM sales.parent', generous, never)).rows).toEqual([]);
    } finally {
      await open.close();
    }
  });

  test('cancels a query on the server too', async () => {
    const open = await openWith({ driver: 'postgres', url: 'env:URL', allow_functions: ['slow'] });
    try {
      const abort = new AbortController();
      const running = open.query('SELECT slow(1)', generous, abort.signal);
      setTimeout(() => abort.abort(), 200);
      await expect(running).rejects.toMatchObject({ code: 'query_cancelled' });
      const [busy] = await runPostgres(
        url,
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT slow%' AND state = 'active'",
      );
      expect(busy).toEqual({ n: 0 });
    } finally {
      await open.close();
    }
  });

  test('lets casts to enums, and fields that are columns, pass', async () => {
    const sql =
      "SELECT 'ok'::mood, 'ok'::public.mood, c.x, (c).status FROM child c WHERE c.mood = 'ok' AND c.x BETWEEN 1 AND 2";
    expect((await warehouse.query(sql, generous, never)).rows).toEqual([]);
  });

  test('lets what owners put into types, views and policies run, and the engine lets none of it write', async () => {
    const own = await createDatabase('own');
    const deleting = (name: string, type: string) =>
      `CREATE FUNCTION ${name} RETURNS ${type} LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN NULL; END $$;`;
    await runPostgres(
      own,
      `CREATE TABLE canary (id int); INSERT INTO canary VALUES (1); CREATE TYPE mood AS ENUM ('ok'); CREATE TABLE m (x mood); INSERT INTO m VALUES ('ok');
      ${deleting('mood_int(mood)', 'int')} CREATE CAST (mood AS int) WITH FUNCTION mood_int(mood) AS IMPLICIT;
      ${deleting('seen()', 'int')} CREATE VIEW v AS SELECT seen();`,
    );
    const open = await openWith({ driver: 'postgres', url: 'env:URL' }, own);
    try {
      for (const sql of ['SELECT x + 1 FROM m', 'SELECT sum(x) FROM m', 'SELECT * FROM v']) {
        await expect(open.query(sql, generous, never)).rejects.toMatchObject({
          code: 'gate_refused',
          details: { rule: 'engine' },
        });
      }
      await expect(open.query('SELECT x::int FROM m', generous, never)).rejects.toMatchObject({
        details: { rule: 'function' },
      });
      expect((await open.query("SELECT '1'::int", generous, never)).rows).toEqual([[1]]);
      expect((await open.query('SELECT id FROM canary', generous, never)).rows).toEqual([[1]]);
    } finally {
      await open.close();
    }
  });

  test('knows functions, operators and casts that are made while it is open', async () => {
    const own = await createDatabase('own');
    const open = await openWith({ driver: 'postgres', url: 'env:URL' }, own);
    const attempts = ['SELECT abs(1)', 'SELECT 1 + 1'];
    try {
      for (const sql of attempts)
        expect((await open.query(sql, generous, never)).rows).toHaveLength(1);
      await runPostgres(
        own,
        `CREATE FUNCTION abs(text) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION plus(text, int) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE OPERATOR + (LEFTARG = text, RIGHTARG = int, FUNCTION = plus); CREATE TYPE mood AS ENUM ('ok');
        CREATE FUNCTION priced(mood) RETURNS money LANGUAGE sql AS 'SELECT 1::money'; CREATE CAST (mood AS money) WITH FUNCTION priced(mood);`,
      );
      for (const sql of [...attempts, "SELECT 'ok'::mood::money"]) {
        await expect(open.query(sql, generous, never)).rejects.toMatchObject({
          code: 'gate_refused',
          details: { rule: 'function' },
        });
      }
    } finally {
      await open.close();
    }
  });

  test('gives a connection up once a cancel was sent to it, though its query answered', async () => {
    const open = await openWith({
      driver: 'postgres',
      url: 'env:URL',
      allow_functions: ['pg_backend_pid', 'stubborn'],
    });
    const backend = async () =>
      (await open.query('SELECT pg_backend_pid()', generous, never)).rows[0]?.[0];
    try {
      const first = await backend();
      expect(await backend()).toBe(first);
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 300);
      expect((await open.query('SELECT stubborn()', generous, abort.signal)).rows).toEqual([
        [first],
      ]);
      expect(await backend()).not.toBe(first);
    } finally {
      await open.close();
    }
  });

  test('rolls back and reads only, whatever the session was set to', async () => {
    const { rows } = await warehouse.query("SELECT 'x'", generous, never);
    expect(rows).toEqual([['x']]);
    const open = await openWith({
      driver: 'postgres',
      url: 'env:URL',
      allow_functions: ['current_setting', 'nextval'],
    });
    try {
      expect(
        (await open.query("SELECT current_setting('transaction_read_only')", generous, never)).rows,
      ).toEqual([['on']]);
    } finally {
      await open.close();
    }
  });

  test('gives cells by type', async () => {
    const sql = `SELECT 12345678901234567890.5::numeric, 1.50::numeric, 'NaN'::numeric, 0.1::float8, 'Infinity'::float8, 7::money::text,
      '2024-01-02 03:04:05+02'::timestamptz, '2024-01-02 03:04:05.25'::timestamp, 'infinity'::date, '{"a":1}'::jsonb, ARRAY[1,2], '\\x00ff'::bytea, '10:11:12'::time`;
    expect((await warehouse.query(sql, generous, never)).rows).toEqual([
      [
        '12345678901234567890.5',
        1.5,
        'NaN',
        0.1,
        'Infinity',
        '$7.00',
        '2024-01-02T01:04:05Z',
        '2024-01-02 03:04:05.25',
        'infinity',
        '{"a": 1}',
        '{1,2}',
        '\\x00ff',
        '10:11:12',
      ],
    ]);
  });
});

describe('a Postgres connection that fails', () => {
  const fields = () => {
    const { hostname: host, port, pathname } = new URL(inject('postgresUrl'));
    return {
      driver: 'postgres',
      host,
      port: Number(port),
      database: pathname.slice(1),
      user: 'postgres',
    };
  };

  test('keeps no connection open to a server that waits for the password', async () => {
    const sockets = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    // The first that fails: what another left open could end meanwhile.
    const before = sockets();
    await expect(openWith(fields())).rejects.toMatchObject({ code: 'warehouse_auth' });
    await expect.poll(sockets).toBe(before);
  });

  test('names a wrong password without saying it', async () => {
    const error = await openWith({ ...fields(), password: 'env:X' }, 'hunter2').catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: 'warehouse_auth', exitCode: 4 });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('hunter2');
  });

  test('names a missing password, an unknown role and an unknown database', async () => {
    await expect(openWith(fields())).rejects.toMatchObject({ code: 'warehouse_auth', exitCode: 4 });
    await expect(
      openWith({ ...fields(), user: 'nobody', password: 'env:X' }, 'x'),
    ).rejects.toMatchObject({ code: 'warehouse_auth' });
    const noDatabase = { ...fields(), database: 'missing_db', password: 'env:X' };
    await expect(openWith(noDatabase, new URL(url).password)).rejects.toMatchObject({
      code: 'warehouse_not_found',
      exitCode: 2,
    });
  });

  test('takes a password beside a URL without one', async () => {
    const bare = new URL(url);
    bare.password = '';
    const open = await openWith(
      { driver: 'postgres', url: bare.href, password: 'env:X' },
      new URL(url).password,
    );
    expect((await open.query('SELECT 1', generous, never)).rows).toEqual([[1]]);
    await open.close();
  });

  test('names a host that is not there, a port that is closed, a server that is something else', async () => {
    await expect(openWith({ ...fields(), host: 'host.invalid' })).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      retryable: true,
    });
    await expect(openWith({ ...fields(), port: 1 })).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      retryable: true,
    });
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await expect(openWith({ ...fields(), port })).rejects.toMatchObject({
      code: 'warehouse_unreachable',
    });
    other.close();
  });

  test('names what is no URL', async () => {
    await expect(
      openWith({ driver: 'postgres', url: 'env:URL' }, 'mysql://u:secret@h/d'),
    ).rejects.toMatchObject({
      code: 'config_url',
      exitCode: 2,
      message: expect.not.stringContaining('secret'),
    });
  });
});

describe('the configuration of a warehouse', () => {
  const problems = (config: unknown): string =>
    warehouseConfigSchema
      .safeParse(config)
      .error?.issues.map(({ message }) => message)
      .join('; ') ?? '';

  test('refuses a password that is written out, with the fix', () => {
    expect(problems({ driver: 'postgres', url: 'postgresql://me:hunter2@host/db' })).toContain(
      'url: env:WAREHOUSE_URL',
    );
    expect(
      problems({ driver: 'postgres', url: 'postgresql://host/db?password=hunter2' }),
    ).toContain('url: env:WAREHOUSE_URL');
    expect(problems({ driver: 'postgres', host: 'h', password: 'hunter2' })).toContain('env:NAME');
  });

  test('takes a URL or fields, not both, not neither', () => {
    expect(problems({ driver: 'postgres' })).toContain('url');
    expect(problems({ driver: 'postgres', url: 'env:URL', host: 'h' })).toContain('url');
    const good: WarehouseConfig[] = [
      { driver: 'postgres', url: 'postgresql://me@host/db' },
      { driver: 'postgres', host: 'h', database: 'd', user: 'u', password: 'file:x' },
    ];
    expect(good.map(problems)).toEqual(['', '']);
  });

  test('refuses an unknown key and an unknown driver', () => {
    expect(problems({ driver: 'sqlite', path: 'x', pahts: 1 })).toContain('pahts');
    expect(problems({ driver: 'oracle' })).not.toBe('');
  });
});
