import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson } from './run-cli.ts';

test('a metric of a person stays on its table when a newer table would take the name', async () => {
  const cwd = folder();
  const db = new DatabaseSync(join(cwd, 'shop.db'));
  db.exec(`CREATE TABLE "Order Items" (id INTEGER PRIMARY KEY, "Net Price" INTEGER);
    INSERT INTO "Order Items" VALUES (1, 2), (2, 3);`);
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db', '--ingest'], { cwd });
  const file = join(cwd, 'semantic-layer/warehouse/order_items.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace('metrics:', 'metrics:\n  - {name: my_sum, agg: sum, of: net_price}'),
  );
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qam', 'mine'], {
    cwd,
  });
  const rows = async () => {
    const { envelope } = await ktxJson(['sl', 'query', 'order_items.my_sum'], { cwd });
    return (envelope.data as { rows: unknown }).rows;
  };
  expect(await rows()).toEqual([[5]]);

  db.exec(`CREATE TABLE order_items (id INTEGER PRIMARY KEY, net_price INTEGER);
    INSERT INTO order_items VALUES (1, 5000);
    ALTER TABLE "Order Items" ADD COLUMN net_price INTEGER DEFAULT 700;`);
  db.close();
  expect((await ktx(['ingest'], { cwd })).code).toBe(0);
  expect(await rows()).toEqual([[5]]);
  expect((await ktx(['sl', 'list'], { cwd })).stdout).toMatch(/^order_items_[0-9a-f]{6} /m);
  expect((await ktx(['ingest'], { cwd })).stdout).toContain('nothing changed');
});

/** A table with a key of customers under another spelling, of which each row has one. */
const lines = (table: string, column: string) =>
  `CREATE TABLE "${table}" (id INTEGER PRIMARY KEY, "${column}" INTEGER, price INTEGER);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
     INSERT INTO "${table}" SELECT i, (1 + i * 13 % 60) * 7, i FROM n;`;

test.for([
  { verdict: ['reject'], kept: '', isUsed: false },
  { verdict: ['accept', '--as', 'payer'], kept: 'role: payer', isUsed: true },
])(
  'the verdict of a person about a join stays with its table and column: $verdict',
  async ({ verdict: [verb = '', ...options], kept, isUsed }) => {
    const cwd = folder();
    const db = new DatabaseSync(join(cwd, 'shop.db'));
    db.exec(`CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
        INSERT INTO customers SELECT i * 7, 'customer ' || i FROM n;
      ${lines('Order Items', 'Customer Id')}`);
    await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db', '--ingest'], { cwd });
    const dataset = (name: string) =>
      readFileSync(join(cwd, `semantic-layer/warehouse/${name}.yaml`), 'utf8');
    const isJoined = (name: string) => /to: customers/.test(dataset(name));
    expect(isJoined('order_items')).toBe(true);
    const subject = 'relationship:warehouse.order_items(customer_id)';
    expect((await ktx(['review', verb, subject, ...options], { cwd })).code).toBe(0);
    const decided = dataset('order_items');
    expect([isJoined('order_items'), decided]).toEqual([isUsed, expect.stringContaining(kept)]);

    // A namesake of the table, and one of the column.
    db.exec(`${lines('order_items', 'customer_id')}
      ALTER TABLE "Order Items" ADD COLUMN customer_id INTEGER;
      UPDATE "Order Items" SET customer_id = NULL, price = price + 1;`);
    db.close();
    expect((await ktx(['ingest'], { cwd })).code).toBe(0);
    expect(dataset('order_items')).toContain('source: main.Order Items');
    expect([isJoined('order_items'), dataset('order_items')]).toEqual([
      isUsed,
      expect.stringContaining(kept),
    ]);
    const [, namesake = ''] =
      /^(order_items_[0-9a-f]{6}) /m.exec((await ktx(['sl', 'list'], { cwd })).stdout) ?? [];
    // Nobody has decided about the newcomer.
    expect(isJoined(namesake)).toBe(true);
    expect(dataset(namesake)).not.toContain('role:');
    expect((await ktx(['ingest'], { cwd })).stdout).toContain('nothing changed');
    const { envelope } = await ktxJson(['review', 'list'], { cwd });
    const { joins } = envelope.data as { readonly joins: readonly { readonly subject: string }[] };
    expect(joins.map((doubt) => doubt.subject)).not.toContain(subject);
  },
);
