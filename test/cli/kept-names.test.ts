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
