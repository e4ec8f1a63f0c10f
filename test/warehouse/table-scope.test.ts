import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { duckdbConfigSchema } from '../../src/warehouse/drivers/duckdb/config.ts';
import { openWarehouse } from '../../src/warehouse/open.ts';
import { tableScope } from '../../src/warehouse/scope/table-scope.ts';
import type { TableRef } from '../../src/sql/dialect.ts';
import { ktx } from '../cli/run-cli.ts';
import { generous, makeDatabase, never } from '../support/warehouses.ts';

const script = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20));
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id));
  CREATE TABLE tmp_orders (id INTEGER);
  INSERT INTO customers VALUES (1, 'Ada'); INSERT INTO orders VALUES (1, 1);
`;

describe('the tables that a connection covers', () => {
  test.each([
    [{ tables: ['orders_*'] }, ['orders_2024'], ['orders', 'x_orders_1']],
    [{ tables: ['sales.*'] }, ['sales.a', 'SALES.B'], ['a', 'hr.sales']],
    [{ exclude_tables: ['tmp_*', 'hr.*'] }, ['sales.a'], ['sales.tmp_a', 'hr.a', 'HR.TMP_B']],
    [{ tables: ['sales.*'], exclude_tables: ['*.secrets'] }, ['sales.a'], ['sales.secrets']],
    [{ tables: ['shop.sales.?'] }, ['sales.a', 'shop.sales.b'], ['other.sales.a', 'sales.ab']],
    [{ tables: ['a*'] }, ['a/b', 'a'], ['.a', 'b']],
  ] as const)('%j', (config, covered, leftOut) => {
    const covers = tableScope(config, 'shop');
    const isCovered = (name: string) => {
      const [table = '', schema = 'main', catalog] = name.split(/(?<!^)\./).toReversed();
      return covers?.({ catalog, schema, table });
    };
    expect(covered.map(isCovered)).toEqual(covered.map(() => true));
    expect(leftOut.map(isCovered)).toEqual(leftOut.map(() => false));
  });

  test('are all of them without patterns, and patterns are checked', () => {
    expect(tableScope({}, undefined)).toBeUndefined();
    const isValid = (pattern: string) =>
      duckdbConfigSchema.safeParse({ driver: 'duckdb', path: 'x', tables: [pattern] }).success;
    expect(['a', 'a.b', 'a.b.c*', 'a.b.c.d', '', 'a..b', 'a/b', '{a,b}'].map(isValid)).toEqual([
      true,
      true,
      true,
      ...Array.from({ length: 5 }, () => false),
    ]);
  });

  test.each(['duckdb', 'postgres', 'sqlserver', 'bigquery', 'trino'] as const)(
    'are what %s shows, and what statements may read',
    async (engine) => {
      const database = await makeDatabase(engine, script);
      const warehouse = await database.open({
        exclude_tables: ['TMP_*', '*.customers'],
      });
      try {
        const { tables } = await warehouse.introspect({}, never);
        expect(tables.map(({ table }) => table)).toEqual(['orders']);
        // What it would lead to is not there.
        expect(tables[0]?.foreignKeys).toEqual([]);
        const ask = (sql: string) => warehouse.query(sql, generous, never);
        expect((await ask('SELECT id FROM orders')).rows).toEqual([[1]]);
        for (const sql of ['SELECT * FROM customers', 'SELECT * FROM Tmp_Orders'])
          await expect(ask(sql)).rejects.toMatchObject({
            code: 'gate_refused',
            message: expect.stringContaining('is outside of what this connection covers'),
            hint: expect.stringContaining('exclude_tables'),
          });
        expect((await ask('SHOW TABLES')).rows.flat()).not.toContain('customers');
        await expect(ask('SELECT * FROM nothing_like_it')).rejects.toMatchObject({
          code: 'missing_object',
        });
      } finally {
        await warehouse.close();
        await database.remove();
      }
    },
  );

  test('count more than a catalog that was read before', async () => {
    const database = await makeDatabase('sqlite', script);
    const stored: TableRef[] = [
      { schema: 'main', table: 'orders' },
      { schema: 'main', table: 'customers' },
    ];
    const warehouse = await openWarehouse(
      {
        connection: 'wh',
        projectDir: database.folder,
        cacheDir: database.folder,
        secrets: () => '',
        config: { ...database.config, tables: ['orders'] },
        tables: () => Promise.resolve(stored),
      },
      never,
    );
    expect(await warehouse.reads('SELECT * FROM orders')).toEqual([stored[0]]);
    await expect(warehouse.reads('SELECT * FROM customers')).rejects.toMatchObject({
      code: 'gate_refused',
    });
    await warehouse.close();
    await database.remove();
  });
});

describe('a scan', () => {
  let cwd = '';
  beforeAll(async () => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-scope-')));
    const instance = await DuckDBInstance.create(join(cwd, 'shop.duckdb'));
    const connection = await instance.connect();
    await connection.run(script);
    connection.closeSync();
    instance.closeSync();
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  test('reads what the connection covers', async () => {
    const configure = (more: string) =>
      writeFileSync(
        join(cwd, 'ktx.yaml'),
        `connections:\n  shop: {driver: duckdb, path: shop.duckdb${more}}\n`,
      );
    const scan = async () => {
      const { code, stdout, stderr } = await ktx(['scan', '--json'], { cwd });
      expect(code, stdout + stderr).toBe(0);
      return stdout;
    };
    configure('');
    expect(await scan()).toContain('tmp_orders');
    configure(', exclude_tables: ["tmp_*"]');
    const later = await scan();
    expect(later).toContain('orders');
    expect(later).not.toContain('tmp_orders');
  });
});
