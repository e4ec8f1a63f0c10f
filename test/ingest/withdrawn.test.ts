import { expect, test } from 'vitest';
import { openSource } from '../../src/sources/registry.ts';
import { read, write } from '../store/git-project.ts';
import { ingestedShop, ingestHere, sql } from './ingest-project.ts';

const at = 'semantic-layer/shop/orders.yaml';

test('proposed metrics that give way to those of a source are named', async () => {
  const dir = await ingestedShop();
  expect(read(dir, at)).toMatch(/name: total_amount.*unreviewed: true/);
  write(
    dir,
    'docs/m.md',
    '| Metric | Formula | Table |\n|---|---|---|\n| Paid | sum(amount) where id > 1 | orders |\n',
  );
  const open = () => openSource({ driver: 'docs', path: 'docs' });
  const sources = [{ name: 'docs', open, secrets: () => '', isAsked: true }];
  const report = await ingestHere(dir, { sources });
  expect(read(dir, at)).not.toContain('total_amount');
  const why = 'nobody had accepted it, and a source defines metrics now';
  expect(report.withdrawn).toEqual([{ metric: 'orders.total_amount', at, why }]);
  expect((await ingestHere(dir, { sources })).withdrawn).toEqual([]);
});

test('so are those whose column is gone', async () => {
  const dir = await ingestedShop();
  sql(dir, 'ALTER TABLE orders DROP COLUMN amount');
  expect((await ingestHere(dir)).withdrawn).toEqual([
    { metric: 'orders.total_amount', at, why: 'amount is gone' },
  ]);
});
