import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { writeWarehouseFile } from '../src/cli/demo/warehouse-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-demo-data-'));
let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  const path = join(dir, 'warehouse.duckdb');
  await writeWarehouseFile(path);
  instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  connection = await instance.connect();
});

afterAll(() => {
  connection.closeSync();
  instance.closeSync();
  rmSync(dir, { recursive: true });
});

/** Of every table its rows and a hash over them, in their order. */
async function contents(
  from: DuckDBConnection,
): Promise<{ table: string; rows: number; hash: string }[]> {
  const tables = await from.runAndReadAll(
    `SELECT table_schema || '.' || table_name FROM information_schema.tables ORDER BY 1`,
  );
  const found = [];
  for (const [table] of z.array(z.tuple([z.string()])).parse(tables.getRowsJson())) {
    const hashed = await from.runAndReadAll(
      `SELECT count(*)::INTEGER, md5(string_agg(t::VARCHAR, '|' ORDER BY rowid)) FROM ${table} AS t`,
    );
    const [[size, hash]] = z.tuple([z.tuple([z.number(), z.string()])]).parse(hashed.getRowsJson());
    found.push({ table, rows: size, hash });
  }
  return found;
}

async function contentsOf(seed: number): Promise<unknown> {
  const path = join(dir, `${seed}.duckdb`);
  await writeWarehouseFile(path, seed);
  const other = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  try {
    const opened = await other.connect();
    const found = await contents(opened);
    opened.closeSync();
    return found;
  } finally {
    other.closeSync();
  }
}

async function rows(sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRowsJson();
}

async function count(sql: string): Promise<number> {
  return Number((await rows(`SELECT count(*) FROM ${sql}`))[0]?.[0]);
}

/** `table.key` as the query of its keys. */
function keys(target: string): string {
  const dot = target.indexOf('.');
  return `SELECT ${target.slice(dot + 1)} FROM ${target.slice(0, dot)}`;
}

describe('the demo company', () => {
  it('is the same rows for the same seed, and others for another', async () => {
    const expected = await contents(connection);
    expect(expected).toHaveLength(16);
    expect(await contentsOf(7)).toEqual(expected);
    expect(await contentsOf(8)).not.toEqual(expected);
  });

  it('is the company that the documentation shows numbers of', async () => {
    const paid = `SELECT sum(amount), count(*) FROM orders WHERE status = 'paid'`;
    expect(await rows(paid)).toEqual([['1767173.36', '4077']]);
  });

  it('has some ten thousand rows', async () => {
    const tables = await contents(connection);
    expect(tables.reduce((sum, table) => sum + table.rows, 0)).toBeGreaterThan(20_000);
  });

  it('declares no key and no constraint', async () => {
    expect(await count('duckdb_constraints()')).toBe(0);
    expect(await count('duckdb_indexes()')).toBe(0);
  });

  it.each([
    ['regions', 'rgn_cd'],
    ['warehouses', 'whs_cd'],
    ['employees', 'emp_no'],
    ['customers', 'id'],
    ['customer_profile', 'customer_id'],
    ['categories', 'cat_id'],
    ['products', 'prod_cd'],
    ['tags', 'tag_id'],
    ['product_tags', 'prod_cd, tag_id'],
    ['orders', 'id'],
    ['order_lines', 'order_id, line_no'],
    ['inventory', 'whs_cd, prod_cd'],
    ['stock_moves', 'move_id'],
    ['tickets', 'ticket_id'],
    ['notes', 'note_id'],
    ['legacy.orders', 'order_no'],
  ])('%s is identified by (%s)', async (table, key) => {
    expect(await count(`(SELECT ${key} FROM ${table} GROUP BY ALL HAVING count(*) > 1)`)).toBe(0);
    expect(await count(`${table} WHERE (${key}) IS NULL`)).toBe(0);
  });

  it.each([
    ['orders', 'buyer_id', 'customers.id'],
    ['orders', 'recipient_id', 'customers.id'],
    ['tickets', 'cust_id', 'customers.id'],
    ['legacy.orders', 'customer_id', 'customers.id'],
  ])(
    '%s.%s refers to %s, with orphans in a few of a hundred rows',
    async (from, column, target) => {
      const filled = await count(`${from} WHERE ${column} IS NOT NULL`);
      const orphans = await count(
        `${from} WHERE ${column} IS NOT NULL AND ${column} NOT IN (${keys(target)})`,
      );
      expect(orphans / filled).toBeGreaterThan(0.01);
      expect(orphans / filled).toBeLessThan(0.06);
    },
  );

  it.each([
    ['customers', 'cust_rgn', 'regions.rgn_cd'],
    ['customers', 'acct_mgr', 'employees.emp_no'],
    ['customer_profile', 'customer_id', 'customers.id'],
    ['employees', 'manager_id', 'employees.emp_no'],
    ['categories', 'parent_cat', 'categories.cat_id'],
    ['products', 'cat_id', 'categories.cat_id'],
    ['product_tags', 'prod_cd', 'products.prod_cd'],
    ['product_tags', 'tag_id', 'tags.tag_id'],
    ['orders', 'ship_whs', 'warehouses.whs_cd'],
    ['order_lines', 'order_id', 'orders.id'],
    ['order_lines', 'prod_cd', 'products.prod_cd'],
    ['inventory', 'whs_cd', 'warehouses.whs_cd'],
    ['inventory', 'prod_cd', 'products.prod_cd'],
    ['stock_moves', '(whs_cd, prod_cd)', 'inventory.(whs_cd, prod_cd)'],
    ['tickets', 'order_id', 'orders.id'],
    ['tickets', 'agent_no', 'employees.emp_no'],
    ['notes', 'written_by', 'employees.emp_no'],
  ])('every %s.%s that is not NULL exists in %s', async (from, column, target) => {
    expect(await count(`${from} WHERE ${column} IS NOT NULL`)).toBeGreaterThan(0);
    expect(
      await count(`${from} WHERE ${column} IS NOT NULL AND ${column} NOT IN (${keys(target)})`),
    ).toBe(0);
  });

  it('has orders without a buyer, and every note refers to what its type says', async () => {
    expect(await count('orders WHERE buyer_id IS NULL')).toBeGreaterThan(200);
    const targets = {
      order: 'SELECT id FROM orders',
      customer: 'SELECT id FROM customers',
      ticket: 'SELECT ticket_id FROM tickets',
    };
    for (const [type, ids] of Object.entries(targets)) {
      const own = `notes WHERE entity_type = '${type}'`;
      expect(await count(own)).toBeGreaterThan(300);
      expect(
        await count(`${own} AND entity_id NOT IN (SELECT id::VARCHAR FROM (${ids}) AS t(id))`),
      ).toBe(0);
    }
  });

  it('has amounts that are the sum of the lines', async () => {
    const sums =
      'SELECT order_id AS id, sum(qty * unit_price) AS total FROM order_lines GROUP BY order_id';
    expect(await count(`orders JOIN (${sums}) USING (id) WHERE amount <> total`)).toBe(0);
    expect(await count('orders WHERE id NOT IN (SELECT order_id FROM order_lines)')).toBe(0);
  });

  it('sells twice as much in December as in February', async () => {
    const months = await rows(
      `SELECT sum(amount) FROM orders WHERE date_trunc('month', placed_at) IN ('2025-02-01', '2025-12-01') GROUP BY date_trunc('month', placed_at) ORDER BY 1`,
    );
    expect(Number(months[1]?.[0])).toBeGreaterThan(2 * Number(months[0]?.[0]));
  });

  it('makes the two naive questions wrong', async () => {
    const paid = `FROM orders o %s WHERE o.status = 'paid'`;
    const total = async (joins: string): Promise<number> =>
      Number((await rows(`SELECT sum(o.amount) ${paid.replace('%s', joins)}`))[0]?.[0]);
    const all = await total('');
    const inner = await total(
      'JOIN customers c ON c.id = o.buyer_id JOIN regions r ON r.rgn_cd = c.cust_rgn',
    );
    expect(1 - inner / all).toBeGreaterThan(0.08);
    const byRole = async (role: string): Promise<number> =>
      total(`JOIN customers c ON c.id = o.${role} AND c.cust_rgn = 'NRD'`);
    expect(await byRole('buyer_id')).toBeGreaterThan(1.2 * (await byRole('recipient_id')));
  });
});
