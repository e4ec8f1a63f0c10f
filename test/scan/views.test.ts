import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { scanConfigSchema } from '../../src/scan/config.ts';
import { scanReport } from '../../src/scan/report.ts';
import { scan } from '../../src/scan/scan.ts';
import { engines, isThere, makeDatabase, never } from '../support/warehouses.ts';

/** Rows as a list of values: what each engine can insert without a generator of its own. */
function rows(count: number, row: (at: number) => string): string {
  return `VALUES ${Array.from({ length: count }, (_, at) => `(${row(at)})`).join(', ')}`;
}

const raw = `
  CREATE TABLE raw_customers (id INTEGER, name VARCHAR(20));
  INSERT INTO raw_customers ${rows(60, (at) => `${at * 7 + 3}, 'name ${at}'`)};
  CREATE TABLE raw_stores (id INTEGER, name VARCHAR(20));
  INSERT INTO raw_stores ${rows(6, (at) => `${at + 1}, 'store ${at}'`)};
  CREATE TABLE raw_orders (id INTEGER, customer INTEGER, store_id INTEGER, subtotal INTEGER);
  INSERT INTO raw_orders ${rows(400, (at) => `${at + 5000}, ${((at * 17) % 58) * 7 + 3}, ${(at % 6) + 1}, ${at * 13}`)};
  CREATE TABLE raw_items (id INTEGER, order_id INTEGER);
  INSERT INTO raw_items ${rows(700, (at) => `${at + 20_000}, ${((at * 7) % 390) + 5000}`)};`;

/** Staging views over the raw tables, and marts over those: dbt's default materialization. */
const staging = `
  CREATE VIEW stg_customers AS SELECT id AS customer_id, name AS customer_name FROM raw_customers;
  CREATE VIEW stg_orders AS SELECT id AS order_id, customer AS customer_id, store_id AS location_id, subtotal FROM raw_orders;
  CREATE VIEW stg_items AS SELECT id AS item_id, order_id FROM raw_items;
  CREATE VIEW stg_locations AS SELECT id AS location_id, name AS location_name FROM raw_stores;`;
const marts = ['customers', 'orders', 'items', 'locations'];
const martsAs = (kind: 'VIEW' | 'TABLE') =>
  marts.map((name) => `CREATE ${kind} ${name} AS SELECT * FROM stg_${name};`).join('\n');

async function joinsOf(engine: (typeof engines)[number], script: string, settings = {}) {
  const database = await makeDatabase(engine, script);
  const warehouse = await database.open();
  const db = new DatabaseSync(':memory:');
  try {
    const config = scanConfigSchema.parse(settings);
    const found = await scan({ warehouse, scope: {}, state: { db }, config, signal: never });
    const shown = (status: string) =>
      scanReport(found)
        .links.filter((link) => link.status === status)
        .map(({ from, to }) => `${from.table}.${from.columns.join()} → ${to.table}`)
        .toSorted();
    return { accepted: shown('accepted'), review: shown('review'), found };
  } finally {
    db.close();
    await warehouse.close();
    await database.remove();
  }
}

const ofEachLayer = [
  'items.order_id → orders',
  'orders.customer_id → customers',
  'orders.location_id → locations',
  'raw_items.order_id → raw_orders',
  'raw_orders.customer → raw_customers',
  'raw_orders.store_id → raw_stores',
  'stg_items.order_id → stg_orders',
  'stg_orders.customer_id → stg_customers',
  'stg_orders.location_id → stg_locations',
];

describe.each(engines.filter(isThere))('on %s', (engine) => {
  test.each(['VIEW', 'TABLE'] as const)(
    'raw tables, staging views and marts as a %s are joined each within their layer',
    async (kind) => {
      const { accepted, review } = await joinsOf(engine, raw + staging + martsAs(kind));
      expect(accepted).toEqual(ofEachLayer);
      expect(review).toEqual([]);
    },
  );
});

test('a table refers to the table, not to a view that repeats its keys', async () => {
  const report = `CREATE VIEW customer AS SELECT id, name FROM raw_customers;`;
  const { accepted } = await joinsOf('sqlite', raw + report);
  expect(accepted).toContain('raw_orders.customer → raw_customers');
  expect(accepted.join()).not.toContain('→ customer,');
});

test('a view of some rows of a table is a join for a person to decide', async () => {
  const orders = raw.replaceAll('raw_', '');
  const some =
    'CREATE VIEW recent_orders AS SELECT id AS order_id, subtotal FROM orders WHERE id < 5200;';
  const { review } = await joinsOf('sqlite', orders + some);
  expect(review).toEqual(['recent_orders.order_id → orders']);
});

test('scan.views: false leaves views out; a broken view does not stop the scan', async () => {
  const broken =
    'CREATE VIEW gone AS SELECT * FROM raw_stores; ALTER TABLE raw_stores RENAME TO s;';
  const without = await joinsOf('sqlite', raw + staging, { views: false });
  expect(without.accepted.join()).not.toContain('stg_');
  const { accepted } = await joinsOf('duckdb', raw + staging + broken);
  expect(accepted).toContain('stg_orders.customer_id → stg_customers');
});

test('large tables of two layers, whose values are not counted exactly, are not joined to each other', async () => {
  const sizes = { visit: 2300, order: 3000, refund: 3700, order_item: 6000 };
  const script = Object.entries(sizes).map(
    ([name, count]) => `
      CREATE TABLE raw_${name}s AS SELECT md5('${name}' || n) AS id, n / 7.0 AS amount FROM range(${count}) AS r(n);
      CREATE TABLE ${name}s AS SELECT id AS ${name}_id, amount, amount * 3 AS share FROM raw_${name}s;`,
  );
  const { accepted, review } = await joinsOf('duckdb', script.join(''));
  expect([accepted, review]).toEqual([[], []]);
});

test('a mart that holds most of the raw rows, and some that are gone, is no table to refer to', async () => {
  const script = (name: string, of: string): string => `
    CREATE TABLE ${name} (order_id INTEGER, amount INTEGER);
    INSERT INTO ${name} ${of};`;
  const rawRows = rows(400, (at) => `${at * 3 + 11}, ${at * 13}`);
  // Orders of the last hours are not in the mart yet, and it keeps some that the source deleted.
  const ofMart = rows(390, (at) => `${at * 3 - 4}, ${at * 13}`);
  const completed = rows(260, (at) => `${at * 3 + 11}, ${at * 13}`);
  for (const [one, other] of [
    ['raw_orders', 'fct_orders'],
    ['raw_shop_orders', 'mart_orders'],
  ] as const) {
    const found = await joinsOf('sqlite', script(one, rawRows) + script(other, ofMart));
    expect([found.accepted, found.review]).toEqual([[], []]);
  }
  const filtered = await joinsOf(
    'sqlite',
    script('raw_orders', rawRows) + script('fct_orders', completed),
  );
  expect([filtered.accepted, filtered.review]).toEqual([[], []]);
});

test('a raw table refers to the raw table, though a mart has the keys that it uses', async () => {
  const mart = `CREATE TABLE dim_customer (customer_id INTEGER, label VARCHAR(20));
    INSERT INTO dim_customer ${rows(58, (at) => `${at * 7 + 3}, 'label ${at}'`)};`;
  const { accepted } = await joinsOf('sqlite', raw + mart);
  expect(accepted).toContain('raw_orders.customer → raw_customers');
  expect(accepted.join()).not.toContain('dim_customer');
});

test('a column refers to the table, and not to a materialized view that repeats its keys', async () => {
  const script = `
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20), country VARCHAR(2));
    INSERT INTO customers ${rows(80, (at) => `${at + 1}, 'name ${at}', '${['DE', 'FR', 'US'][at % 3]}'`)};
    CREATE TABLE orders (id INTEGER, buyer_id INTEGER, amount INTEGER);
    INSERT INTO orders ${rows(300, (at) => `${at + 1000}, ${((at * 17) % 78) + 1}, ${at * 13}`)};
    CREATE MATERIALIZED VIEW buyer_totals AS SELECT c.id, c.name, count(o.id) AS orders FROM customers c LEFT JOIN orders o ON o.buyer_id = c.id GROUP BY 1, 2;`;
  const { accepted } = await joinsOf('postgres', script);
  expect(accepted.filter((link) => link.startsWith('orders.'))).toEqual([
    'orders.buyer_id → customers',
  ]);
});
