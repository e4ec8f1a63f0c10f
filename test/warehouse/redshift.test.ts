import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WarehouseConfig, warehouseConfigSchemas } from '../../src/warehouse/config.ts';
import {
  profileStatement,
  readProfileResult,
  tableSource,
} from '../../src/scan/profile/profile-statement.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import type { TableSchema, Warehouse } from '../../src/warehouse/warehouse.ts';
import { z } from 'zod';
import { runPostgres } from '../support/postgres.ts';
import { createRedshift, redshiftFront } from '../support/redshift.ts';
import { generous, never } from '../support/warehouses.ts';

const configSchema = z.discriminatedUnion('driver', warehouseConfigSchemas);

const script = `
  CREATE SCHEMA sales; CREATE SCHEMA spectrum;
  CREATE TABLE public.buyers (id int PRIMARY KEY, name varchar(20), price numeric(10,2), ratio float8, share real, at timestamp, zoned timestamptz, day date, ok boolean);
  CREATE TABLE sales.orders (id bigint PRIMARY KEY, buyer_id int REFERENCES public.buyers, note text, UNIQUE (note, buyer_id));
  CREATE VIEW sales.big AS SELECT * FROM sales.orders WHERE id > 10;
  CREATE TABLE public.mv_tbl__totals__0 (n int); CREATE TABLE public.canary (id int); INSERT INTO public.canary VALUES (1);
  CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER lake FOREIGN DATA WRAPPER nothing;
  CREATE FOREIGN TABLE spectrum.clicks (url varchar(2000)) SERVER lake;
  COMMENT ON TABLE sales.orders IS 'What people bought'; COMMENT ON COLUMN sales.orders.note IS 'Free text';
  INSERT INTO public.buyers SELECT n, 'b' || n, n + 0.50, 0.1, 0.1, '2024-01-02 03:04:05', '2024-01-02 03:04:05+02', '2024-01-02', true FROM generate_series(1, 100) n;
  INSERT INTO sales.orders VALUES (1, 1, 'it''s'), (2, 2, NULL);
  CREATE FUNCTION public.f_double(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2';
  CREATE FUNCTION public.upper(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN DELETE FROM canary; RETURN 1; END $$;
  ANALYZE;
`;

let admin: string;
let reader: string;
beforeAll(async () => {
  admin = await createRedshift(script);
  const login = `reader_${new URL(admin).pathname.slice(-8)}`;
  await runPostgres(
    admin,
    `CREATE ROLE ${login} LOGIN PASSWORD 'read only'; GRANT USAGE ON SCHEMA sales, spectrum TO ${login};
    GRANT SELECT ON ALL TABLES IN SCHEMA public, sales, spectrum TO ${login}`,
  );
  const url = new URL(admin);
  [url.username, url.password] = [login, 'read only'];
  reader = url.href;
});

const openAs = (secret: string, more: Partial<WarehouseConfig> = {}): Promise<Warehouse> =>
  openWarehouse(
    {
      connection: 'rs',
      config: configSchema.parse({ driver: 'redshift', url: 'env:URL', ssl: 'off', ...more }),
      projectDir: '/',
      cacheDir: '/',
      secrets: () => secret,
    },
    never,
  );

describe('Redshift', () => {
  let warehouse: Warehouse;
  let tables: readonly TableSchema[];
  beforeAll(async () => {
    warehouse = await openAs(reader);
    tables = (await warehouse.introspect({}, never)).tables;
  });
  afterAll(() => warehouse?.close());
  const rowsOf = async (sql: string, limits = generous) =>
    (await warehouse.query(sql, limits, never)).rows;

  test('lists tables, views and external tables, not the storage of materialized views', () => {
    expect(tables.map(({ schema, table, kind }) => `${schema}.${table} ${kind}`)).toEqual([
      'public.buyers table',
      'public.canary table',
      'sales.big view',
      'sales.orders table',
      'spectrum.clicks foreign_table',
    ]);
  });

  test('reads keys, comments and types', () => {
    const orders = tables.find(({ table }) => table === 'orders');
    expect(orders).toMatchObject({
      comment: 'What people bought',
      primaryKey: ['id'],
      uniqueKeys: [['note', 'buyer_id']],
      foreignKeys: [
        {
          columns: ['buyer_id'],
          to: { table: { schema: 'public', table: 'buyers' }, columns: ['id'] },
        },
      ],
      marker: undefined,
    });
    expect(orders?.columns.find(({ name }) => name === 'note')?.comment).toBe('Free text');
    const buyers = tables.find(({ table }) => table === 'buyers');
    expect(buyers?.columns.map(({ nativeType, type }) => `${nativeType} ${type}`)).toEqual([
      'integer integer',
      'character varying(20) string',
      'numeric(10,2) decimal',
      'double precision decimal',
      'real decimal',
      'timestamp without time zone datetime',
      'timestamp with time zone datetime_tz',
      'date date',
      'boolean boolean',
    ]);
  });

  test('reads sizes only with a login that may see them', async () => {
    const sizes = (found: readonly TableSchema[]) =>
      found.flatMap(({ table, rowEstimate, bytes }) =>
        rowEstimate === undefined ? [] : [[table, rowEstimate, bytes]],
      );
    expect(sizes(tables)).toEqual([]);
    const open = await openAs(admin, { allow_writable_role: true });
    try {
      expect(sizes((await open.introspect({}, never)).tables)).toEqual([
        ['buyers', 100, 2 ** 20],
        ['canary', 1, 2 ** 20],
        ['orders', 2, 2 ** 20],
      ]);
    } finally {
      await open.close();
    }
  });

  test('gives cells by type, and floating-point numbers as short as they are', async () => {
    const sql =
      "SELECT ratio, share, price, at, zoned, day, ok, 'NaN'::float8, 16777217::float8, 3.4e38::real, 9007199254740993 FROM buyers WHERE id = 1";
    expect(await rowsOf(sql)).toEqual([
      [
        0.1,
        0.1,
        1.5,
        '2024-01-02 03:04:05',
        '2024-01-02T01:04:05Z',
        '2024-01-02',
        true,
        'NaN',
        16777217,
        3.4e38,
        '9007199254740993',
      ],
    ]);
  });

  test('sends each statement in a read-only transaction of its query group, and ends it', async () => {
    const front = await redshiftFront();
    const before = front.statements.length;
    await rowsOf('SELECT 1');
    const sent = front.statements.slice(before).join('\n');
    expect(sent).toMatch(
      /BEGIN READ ONLY; .*SET LOCAL query_group TO 'ktx'.*statement_timeout = 20000/,
    );
    expect(sent.trimEnd()).toMatch(/SELECT 1\n\/\* ktx \*\/\nROLLBACK$/);
    const group = await openAs(reader, { query_group: 'analysts' });
    await group.close();
    expect(front.statements.at(-2)).toContain('svv_user_grants');
    expect(front.statements.join()).toContain("query_group TO 'analysts'");
  });

  test('looks names up in the configured schemas', async () => {
    await expect(rowsOf('SELECT id FROM orders')).rejects.toMatchObject({
      code: 'missing_object',
    });
    expect(await rowsOf('SELECT id FROM Sales.ORDERS ORDER BY 1')).toEqual([[1], [2]]);
    const open = await openAs(reader, { schemas: ['sales'] });
    try {
      expect(
        (await open.query('SELECT id FROM orders WHERE id = 1', generous, never)).rows,
      ).toEqual([[1]]);
      await expect(
        open.query('SELECT 1 FROM public.buyers', generous, never),
      ).rejects.toMatchObject({ details: { rule: 'table' } });
    } finally {
      await open.close();
    }
  });

  test('asks once more which functions users made, for each statement', async () => {
    expect(await rowsOf("SELECT lower('A')")).toEqual([['a']]);
    await runPostgres(
      admin,
      "CREATE FUNCTION public.lower(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    );
    await expect(rowsOf("SELECT lower('A')")).rejects.toMatchObject({
      details: { rule: 'function' },
    });
  });

  test('stops at the time limit on the server too', async () => {
    const many = Array.from({ length: 9 }, (_, index) => `buyers b${index}`).join(', ');
    const slow = `SELECT sum(b0.id * b1.id) FROM ${many}`;
    await expect(rowsOf(slow, { maxRows: 1, timeoutMs: 300 })).rejects.toMatchObject({
      code: 'query_timeout',
    });
    const busy = () =>
      runPostgres(
        admin,
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'SELECT sum(b0%' AND state = 'active' AND datname = current_database()`,
      );
    await expect.poll(busy).toEqual([{ n: 0 }]);
  });
});

describe('statistics of a wide table on Redshift', () => {
  const columns = Array.from({ length: 60 }, (_, index) => `c${index}`);
  const profileOf = async (name: string, value: string) => {
    const list = columns.map((column) => `${column} varchar(1000)`).join(', ');
    await runPostgres(
      admin,
      `CREATE TABLE ${name} (${list}, flag boolean); INSERT INTO ${name} SELECT ${columns.map(() => value).join(', ')}, n % 2 = 0 FROM (SELECT b.id + 100 * s.i AS n FROM buyers b, (VALUES (0), (1), (2)) s(i)) numbers;
      GRANT SELECT ON ${name} TO ${new URL(reader).username}`,
    );
    const open = await openAs(reader);
    try {
      const { tables } = await open.introspect({}, never);
      const table = tables.find((found) => found.table === name);
      if (table === undefined) throw new Error(`no table ${name}`);
      const source = tableSource(table, 1, open.dialect);
      const result = await open.query(
        profileStatement(table.columns, source, open.dialect),
        generous,
        never,
      );
      const read = readProfileResult(table.columns, result);
      return { rows: read.rows, first: read.columnResults(0), last: read.columnResults(59) };
    } finally {
      await open.close();
    }
  };

  test('fit into what Redshift can aggregate, however long the values are', async () => {
    const { rows, first } = await profileOf(
      'long_texts',
      'repeat(chr(9731) || chr(1) || chr(92) || n, 100)',
    );
    expect(rows).toBe(300);
    expect(first.sketch).toHaveLength(300 * 12);
    // The control character has become a space.
    expect(first.firstValues.length).toBeGreaterThan(10);
    for (const value of first.firstValues) expect(value).toMatch(/^(?:\u2603 \\\d+)+/);
  });

  test('have the values of all columns where they are of usual length', async () => {
    const { first, last } = await profileOf('short_texts', `'a"b' || chr(9) || n % 10`);
    expect(first.sketch).toHaveLength(10 * 12);
    expect(new Set(last.firstValues).size).toBe(10);
    expect(last.firstValues[0]).toMatch(/^a"b\t\d$/);
  });
});

describe('a login of Redshift that may write', () => {
  test('is refused, with the statements that make one which may not', async () => {
    const error: unknown = await openAs(admin).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('login postgres is a superuser') as unknown,
      hint: expect.stringMatching(/CREATE USER ktx_reader.*allow_writable_role/) as unknown,
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('test-password');
  });

  test('is refused for one table, for a role of the system, and not for a schema', async () => {
    const login = new URL(reader).username;
    await runPostgres(admin, `GRANT UPDATE ON canary TO ${login}`);
    await expect(openAs(reader)).rejects.toMatchObject({
      code: 'warehouse_privilege',
      message: expect.stringContaining('may write to 1 table (') as unknown,
    });
    await runPostgres(
      admin,
      `REVOKE UPDATE ON canary FROM ${login}; GRANT CREATE ON SCHEMA public TO ${login}`,
    );
    const open = await openAs(reader);
    try {
      expect(await open.privileges()).toMatchObject({
        readOnly: false,
        findings: [`login ${login} may create objects in 1 schema`],
      });
    } finally {
      await open.close();
    }
    const role = `"sys:dba ${login}"`;
    await runPostgres(
      admin,
      `REVOKE CREATE ON SCHEMA public FROM ${login}; CREATE ROLE ${role}; GRANT ${role} TO ${login}`,
    );
    await expect(openAs(reader)).rejects.toMatchObject({
      message: expect.stringContaining('has the role sys:dba') as unknown,
    });
    await runPostgres(admin, `DROP ROLE ${role}`);
  });

  test('is told from one that may not', async () => {
    const open = await openAs(reader);
    try {
      expect(await open.privileges()).toEqual({ readOnly: true, findings: [] });
    } finally {
      await open.close();
    }
  });
});

describe('the history of Redshift', () => {
  test('is read by a login that sees all statements, without those of ktx', async () => {
    const login = new URL(reader).username;
    await runPostgres(
      admin,
      `INSERT INTO pg_catalog.sys_query_history SELECT 10, n, 'default', current_database(), 'SELECT', 'success', '2024-05-06', 'SELECT count(*) FROM sales.orders' FROM (VALUES (1), (2)) v(n);
      INSERT INTO pg_catalog.sys_query_history VALUES (10, 3, 'ktx', current_database(), 'SELECT', 'success', '2024-05-06', 'SELECT 1 /* ktx */'),
        (10, 4, 'default', current_database(), 'SELECT', 'failed', '2024-05-06', 'SELECT x'), (10, 5, 'default', current_database(), 'DDL', 'success', '2024-05-06', 'DROP TABLE x'),
        (10, 6, 'default', current_database(), 'SELECT', 'success', '2024-05-06', repeat('x', 4000))`,
    );
    const open = await openAs(reader);
    try {
      expect(await open.history?.access(never)).toEqual({
        isReadable: false,
        why: `${login} sees only its own statements`,
        remedy: [`ALTER USER "${login}" SYSLOG ACCESS UNRESTRICTED;`],
      });
      await runPostgres(admin, `GRANT pg_read_all_stats TO ${login}`);
      expect(await open.history?.read(never)).toEqual({
        statements: [
          {
            sql: 'SELECT count(*) FROM sales.orders',
            runs: 2,
            runsByUser: new Map([['postgres', 2]]),
          },
        ],
        hidden: 1,
        since: '2024-05-06',
      });
    } finally {
      await open.close();
    }
  });
});

describe('the configuration of Redshift', () => {
  const problems = (config: unknown): string =>
    configSchema
      .safeParse(config)
      .error?.issues.map(({ message }) => message)
      .join('; ') ?? '';

  test('refuses IAM, a password that is written out, and a query group with a quote', () => {
    const place = { driver: 'redshift', host: 'h', database: 'd', user: 'u', password: 'env:X' };
    expect(problems(place)).toBe('');
    expect(problems({ ...place, iam: true })).toContain('GetClusterCredentials');
    expect(problems({ ...place, password: 'hunter2' })).toContain('env:NAME');
    expect(problems({ ...place, query_group: "x'; DROP" })).not.toBe('');
    expect(problems({ driver: 'redshift', url: 'redshift://u:p@h/d' })).toContain('env:');
    expect(problems({ driver: 'redshift', url: 'redshift://u@h/d' })).toBe('');
  });

  test('asks for encryption unless it is switched off', async () => {
    await expect(openAs(reader, { ssl: 'verify' })).rejects.toMatchObject({
      code: 'warehouse_unreachable',
      message: expect.stringContaining('does not support SSL') as unknown,
    });
  });
});
