import { expect, test } from 'vitest';
import { read, run, write } from '../store/git-project.ts';
import { ingestedShop, ingestHere, sql } from './ingest-project.ts';

const orders = 'semantic-layer/shop/orders.yaml';
const committed = (dir: string) => run(dir, 'show', `HEAD:${orders}`);

test('a metric that a person broke in their file stays as it is committed', async () => {
  const dir = await ingestedShop();
  const before = committed(dir);
  expect(before).toMatch(/name: total_amount.*of: amount/);
  write(dir, orders, read(dir, orders).replace('of: amount', 'of: amout'));
  // Something else is new, so that there is a commit.
  sql(dir, 'ALTER TABLE orders ADD COLUMN note TEXT');
  const report = await ingestHere(dir);
  expect(report.quarantined).toMatchObject([{ subject: 'metric:shop.orders.total_amount' }]);
  expect(committed(dir)).toMatch(/name: total_amount.*of: amount/);
  expect(committed(dir)).toContain('note');
  expect(read(dir, orders)).toContain('of: amout');

  run(dir, 'checkout', '--', 'semantic-layer');
  const next = await ingestHere(dir);
  expect(next).toMatchObject({ exitCode: 0, keptEdits: [], quarantined: [] });
  expect(read(dir, orders)).toMatch(/name: total_amount.*of: amount/);
});
