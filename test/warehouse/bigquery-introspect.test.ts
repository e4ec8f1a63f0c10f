import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  groupShards,
  shardedName,
} from '../../src/warehouse/drivers/bigquery/introspect/shards.ts';
import type { TableSchema, Warehouse } from '../../src/warehouse/warehouse.ts';
import { ApiError } from '../engines/bigquery/api-error.ts';
import {
  type BigqueryServer,
  type BigqueryServerOptions,
  startBigquery,
} from '../engines/bigquery/server.ts';
import { openBigquery, withBigquery } from '../support/bigquery.ts';
import { generous, never } from '../support/warehouses.ts';

const tables = `
  CREATE TABLE customers (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR, tags VARCHAR[], price DECIMAL(12, 3));
  COMMENT ON TABLE customers IS 'People who bought "something".';
  COMMENT ON COLUMN customers.name IS 'Full name.';
  CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), at TIMESTAMPTZ, day DATE);
  INSERT INTO customers VALUES (1, 'a', ['x'], 1.5);
  INSERT INTO orders VALUES (1, 1, '2026-01-01', '2026-01-01');
  CREATE TABLE events_20260101 (n INTEGER); CREATE TABLE events_20260102 (n INTEGER);
  INSERT INTO events_20260102 VALUES (1), (2);
  CREATE TABLE single_20260101 (n INTEGER);
  CREATE TABLE loads (n INTEGER);
  CREATE VIEW names AS SELECT name FROM customers;
  CREATE TABLE sheet (a VARCHAR);
`;
const script = tables.replace('at TIMESTAMPTZ', '"at" TIMESTAMPTZ');
const options: BigqueryServerOptions = {
  script: `${script}; CREATE SCHEMA billing; CREATE TABLE billing.invoices (id INTEGER);
    CREATE SCHEMA shared; CREATE TABLE shared.rates (day DATE, rate DOUBLE); INSERT INTO shared.rates VALUES ('2026-01-01', 1.1);`,
  datasets: { 'shop-1': ['main', 'billing'], 'other-project': ['shared'] },
  types: { 'main.sheet': 'EXTERNAL' },
  requiredFilters: { 'main.orders': 'day' },
  ingestionPartitioned: ['main.loads'],
};

let server: BigqueryServer;
beforeAll(async () => {
  server = await startBigquery(options);
});
afterAll(() => server?.close());

async function introspect(
  config: Parameters<typeof openBigquery>[1],
  from = server,
): Promise<{ tables: readonly TableSchema[]; queries: number; open: Warehouse }> {
  const open = await openBigquery(from, config);
  try {
    return { ...(await open.introspect({}, never)), open };
  } finally {
    await open.close();
  }
}

describe('the tables of a dataset', () => {
  test('are described for free', async () => {
    const jobs = server.jobs.size;
    const { tables: found, queries } = await introspect({});
    expect(queries).toBe(0);
    expect(server.jobs.size).toBe(jobs);
    expect(found.map(({ table, kind }) => [table, kind])).toEqual([
      ['customers', 'table'],
      ['events_*', 'table'],
      ['loads', 'table'],
      ['names', 'view'],
      ['orders', 'table'],
      ['sheet', 'foreign_table'],
      ['single_20260101', 'table'],
    ]);
    const byName = new Map(found.map((table) => [table.table, table]));
    expect(byName.get('customers')).toEqual({
      schema: 'main',
      table: 'customers',
      kind: 'table',
      comment: 'People who bought "something".',
      columns: [
        { name: 'id', nativeType: 'INT64', type: 'integer', nullable: false, comment: undefined },
        {
          name: 'name',
          nativeType: 'STRING',
          type: 'string',
          nullable: true,
          comment: 'Full name.',
        },
        {
          name: 'tags',
          nativeType: 'ARRAY<STRING>',
          type: 'unknown',
          nullable: true,
          comment: undefined,
        },
        {
          name: 'price',
          nativeType: 'NUMERIC(12, 3)',
          type: 'decimal',
          nullable: true,
          comment: undefined,
        },
      ],
      primaryKey: ['id'],
      uniqueKeys: [],
      foreignKeys: [],
      marker: expect.stringMatching(/^\d+:1:32$/),
      rowEstimate: 1,
      bytes: 32,
    });
    expect(byName.get('orders')).toMatchObject({
      comment: 'Queries must filter day.',
      foreignKeys: [
        {
          columns: ['customer'],
          to: { table: { schema: 'main', table: 'customers' }, columns: ['id'] },
        },
      ],
    });
    // Days of one table are one table; its last day stands for all.
    expect(byName.get('events_*')).toMatchObject({ rowEstimate: 4, bytes: 32 });
    expect(byName.get('events_*')?.columns.map(({ name }) => name)).toEqual(['n', '_TABLE_SUFFIX']);
    expect(byName.get('loads')?.columns.map(({ name, type }) => [name, type])).toEqual([
      ['n', 'integer'],
      ['_PARTITIONTIME', 'datetime_tz'],
    ]);
    const names = byName.get('names');
    expect([names?.marker, names?.rowEstimate]).toEqual([undefined, undefined]);
  });

  test('of every dataset of the project are read without a list of datasets', async () => {
    const { tables: found } = await introspect({ config: { datasets: undefined } });
    expect(new Set(found.map(({ schema }) => schema))).toEqual(new Set(['billing', 'main']));
    expect(new Set(found.map(({ catalog }) => catalog))).toEqual(new Set([undefined]));
  });

  test('of another project have its name, and are read by it', async () => {
    const open = await openBigquery(server, {
      config: { datasets: ['main', 'other-project.shared'] },
    });
    try {
      const found = (await open.introspect({}, never)).tables.find(
        ({ table }) => table === 'rates',
      );
      expect(found).toMatchObject({ catalog: 'other-project', schema: 'shared', table: 'rates' });
      const sql = 'SELECT rate FROM `other-project`.`shared`.`rates`';
      expect(await open.reads(sql)).toMatchObject([{ catalog: 'other-project', table: 'rates' }]);
      expect((await open.query(sql, generous, never)).rows).toEqual([[1.1]]);
      await expect(
        open.query('SELECT rate FROM shared.rates', generous, never),
      ).rejects.toMatchObject({ code: 'missing_object' });
    } finally {
      await open.close();
    }
  });

  test('that were dropped since they were listed are left out', async () => {
    server.fault = ({ path }) =>
      path.endsWith('/tables/loads')
        ? new ApiError(404, 'notFound', 'Not found: Table')
        : undefined;
    const { tables: found } = await introspect({});
    server.fault = () => undefined;
    expect(found.map(({ table }) => table)).not.toContain('loads');
    expect(found).toHaveLength(6);
  });

  test('of a dataset that does not exist are an error', async () => {
    await expect(introspect({ config: { datasets: ['nowhere'] } })).rejects.toMatchObject({
      code: 'missing_object',
      message: expect.stringContaining('shop-1:nowhere'),
    });
  });

  test('are asked of INFORMATION_SCHEMA when there are many, with four statements', async () => {
    const many = Array.from({ length: 230 }, (_, index) => `CREATE TABLE t${index} (a INTEGER);`);
    await withBigquery(
      { ...options, script: `${script} ${many.join('')}`, datasets: { 'shop-1': ['main'] } },
      async (large) => {
        const calls = large.calls.length;
        const { tables: found, queries } = await introspect({}, large);
        expect([found.length, queries]).toEqual([237, 4]);
        const described = large.calls.slice(calls).filter(({ path }) => /tables\/\w+$/.test(path));
        expect(described).toEqual([]);
        const { tables: few } = await introspect({});
        const withoutMarks = (table: TableSchema) => ({ ...table, marker: undefined });
        for (const name of ['customers', 'orders', 'events_*', 'names', 'sheet']) {
          const [one, other] = [found, few].map((list) => list.find(({ table }) => table === name));
          if (one === undefined || other === undefined) throw new Error(`no ${name}`);
          expect(withoutMarks(one)).toEqual(withoutMarks(other));
        }
      },
    );
  });
});

describe('names that end in a day', () => {
  test.each([
    ['events_20260131', 'events_*'],
    ['events20260131', 'events*'],
    ['events_20261331', undefined],
    ['events_20260230', undefined],
    ['20260131', undefined],
    ['orders_12345678', undefined],
    ['ga_sessions_intraday_20260131', 'ga_sessions_intraday_*'],
  ])('%s is listed as %s', (name, expected) => {
    expect(shardedName(name)).toBe(expected);
  });

  test('are one table only if there are several, and none is a view', () => {
    const read = (name: string) => ({ table: name, isTable: !name.startsWith('v') });
    const names = ['a_20260102', 'a_20260101', 'b_20260101', 'v_20260101', 'v_20260102', 'c'];
    expect(groupShards(names, read)).toEqual([
      { name: 'a_*', latest: 'a_20260102', shards: 2 },
      { name: 'b_20260101', latest: 'b_20260101', shards: undefined },
      { name: 'v_20260101', latest: 'v_20260101', shards: undefined },
      { name: 'v_20260102', latest: 'v_20260102', shards: undefined },
      { name: 'c', latest: 'c', shards: undefined },
    ]);
  });
});

describe('what people ran', () => {
  test('is listed for free, without what ktx ran', async () => {
    const open = await openBigquery(server);
    try {
      await open.query('SELECT name FROM customers', generous, never);
      expect(await open.history?.access(never)).toEqual({ isReadable: true });
      expect((await open.history?.read(never))?.statements).toEqual([]);
      const token = server.logins.issue();
      const body = {
        configuration: { query: { query: 'SELECT name FROM main.customers', useLegacySql: false } },
      };
      for (const _ of [1, 2])
        await fetch(`${server.origin}/bigquery/v2/projects/shop-1/jobs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        });
      await Promise.all([...server.jobs.values()].map(({ done }) => done));
      expect(await open.history?.read(never)).toMatchObject({
        hidden: 0,
        since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        statements: [
          {
            sql: 'SELECT name FROM main.customers',
            runs: 2,
            runsByUser: new Map([['ktx-reader@shop-1.iam.gserviceaccount.com', 2]]),
          },
        ],
      });
    } finally {
      await open.close();
    }
  });

  test('says which role the login lacks', async () => {
    const open = await openBigquery(server);
    server.fault = ({ path, method }) =>
      method === 'GET' && path.endsWith('/jobs')
        ? new ApiError(403, 'accessDenied', 'Access Denied: bigquery.jobs.listAll')
        : undefined;
    try {
      expect(await open.history?.access(never)).toMatchObject({
        isReadable: false,
        why: expect.stringContaining('bigquery.jobs.listAll'),
      });
      await expect(open.history?.read(never)).rejects.toMatchObject({ code: 'history_unreadable' });
    } finally {
      server.fault = () => undefined;
      await open.close();
    }
  });
});
