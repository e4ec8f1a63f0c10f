import { copyFileSync, existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortId } from '../../src/context/claims/claim.ts';
import { setPin } from '../../src/context/claims/pins.ts';
import { read, write } from '../store/git-project.ts';
import { ingestHere, shopProject, sql } from './ingest-project.ts';

const orders = 'semantic-layer/shop/orders.yaml';

test('a relationship that a person removed stays out, and one that they wrote stays in, whatever later scans measure', async () => {
  const dir = shopProject();
  await ingestHere(dir);
  const found = read(dir, orders);
  expect(found).toMatch(/relationships:\n\s+- \{to: customers, on: \{customer_id: id\}/);
  const own = 'relationships:\n  - {to: coupons, on: {status: code}}\n';
  write(dir, orders, found.replace(/relationships:\n(?:\s+- .*\n)+/, own));
  // New rows make the removed link no less likely, and the written one no truer.
  sql(
    dir,
    "INSERT INTO orders SELECT id + 1000, customer_id, amount, status FROM orders; INSERT INTO customers VALUES (9999, 'late', 'north')",
  );
  for (const round of [1, 2]) {
    const report = await ingestHere(dir);
    expect(report.exitCode, `round ${round}`).toBe(0);
    expect(read(dir, orders)).toContain(own);
    expect(read(dir, orders)).not.toContain('customer_id: id');
  }
});

test('a join that a person accepted is one of its warehouse, and of no other with the same tables', async () => {
  const dir = shopProject();
  copyFileSync(join(dir, 'shop.sqlite'), join(dir, 'second.sqlite'));
  const says = { to: 'coupons', on: { status: 'code' } };
  const subject = 'relationship:shop.orders(status)';
  const id = shortId({ subject, kind: 'relationship', body: says });
  const pin = { subject, kind: 'relationship', choose: id, seen: [id], says, by: 'Ada' };
  write(dir, 'pins.yaml', setPin(undefined, pin));
  const report = await ingestHere(dir, { names: ['shop', 'second'] });
  expect(report.exitCode).toBe(0);
  expect(read(dir, orders)).toContain('{to: coupons, on: {status: code}}');
  expect(read(dir, 'semantic-layer/second/orders.yaml')).not.toContain('coupons');
  expect(read(dir, 'claims/second/orders.jsonl')).not.toContain('coupons');
  expect(readdirSync(join(dir, 'claims/second')).sort()).toEqual(
    readdirSync(join(dir, 'claims/shop')).sort(),
  );
});

test('a dataset whose file a person renamed is written once, and keeps the joins to it', async () => {
  const dir = shopProject();
  await ingestHere(dir);
  const joined = read(dir, orders);
  const [own, moved] = ['customers', 'people'].map((name) => `semantic-layer/shop/${name}.yaml`);
  renameSync(join(dir, own ?? ''), join(dir, moved ?? ''));
  const text = read(dir, moved ?? '');
  for (const round of [1, 2]) {
    const report = await ingestHere(dir);
    expect(report.exitCode, `round ${round}`).toBe(0);
    expect(existsSync(join(dir, own ?? ''))).toBe(false);
    expect(read(dir, moved ?? '')).toBe(text);
    expect(read(dir, orders)).toBe(joined);
  }
});
