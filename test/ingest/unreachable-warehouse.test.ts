import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSource } from '../../src/sources/registry.ts';
import { read, run, write } from '../store/git-project.ts';
import { ingestedShop, ingestHere } from './ingest-project.ts';

const orders = 'semantic-layer/shop/orders.yaml';
const open = () => openSource({ driver: 'docs', path: 'docs' });
const sources = [{ name: 'docs', open, secrets: () => '', isAsked: true }];
const table = (...rows: readonly string[]) =>
  `| Metric | Formula | Table |\n|---|---|---|\n${rows.map((row) => `| ${row} | orders |\n`).join('')}`;

test('formulas that nobody could try wait until a run reaches the warehouse', async () => {
  const dir = await ingestedShop();
  write(dir, 'docs/metrics.md', table('Gross | sum(amount)'));
  expect((await ingestHere(dir, { sources })).exitCode).toBe(0);
  expect(read(dir, orders)).toContain('{name: gross, agg: sum, of: amount}');

  const away = join(dir, 'away.sqlite');
  renameSync(join(dir, 'shop.sqlite'), away);
  const changed = table(
    'Gross | sum(amount * 2)',
    'Paid | sum(amount + 1)',
    'Broken | sum(amont + 1)',
  );
  write(dir, 'docs/metrics.md', changed);
  for (const attempt of ['first', 'second']) {
    const report = await ingestHere(dir, { sources });
    expect(report.exitCode, attempt).toBe(3);
    const waiting = report.quarantined.map(({ subject, location, reason }) => [
      subject,
      location,
      /nobody has tried it: shop could not be opened/.test(reason),
    ]);
    expect(waiting).toEqual([
      ['metric:shop.orders.gross', 'sources/docs/metrics.md line 3', true],
      ['metric:shop.orders.broken', 'sources/docs/metrics.md line 5', true],
      ['metric:shop.orders.paid', 'sources/docs/metrics.md line 4', true],
    ]);
    const committed = run(dir, 'show', `HEAD:${orders}`);
    expect(committed).toContain('{name: gross, agg: sum, of: amount}');
    expect(committed).not.toMatch(/name: (paid|broken)/);
  }

  renameSync(away, join(dir, 'shop.sqlite'));
  const reached = await ingestHere(dir, { sources });
  expect(reached.quarantined.map(({ subject }) => subject)).toEqual(['metric:shop.orders.broken']);
  const committed = run(dir, 'show', `HEAD:${orders}`);
  expect(committed).toContain('{name: gross, agg: sum, of: amount * 2}');
  expect(committed).toContain('{name: paid, agg: sum, of: amount + 1}');
  expect(committed).not.toContain('name: broken');
});
