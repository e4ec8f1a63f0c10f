import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, ktx, ktxJson, shopDatabase } from './run-cli.ts';

const page = (formula: string) =>
  `| Metric | Meaning | Formula |\n|---|---|---|\n| Revenue | ${formula}, in words. | \`${formula}\` |\n`;

test('a version is chosen by the source that alone states it', async () => {
  const cwd = folder();
  shopDatabase(join(cwd, 'shop.db'));
  await ktx(['setup', '--driver', 'sqlite', '--path', 'shop.db'], { cwd });
  for (const [name, formula] of [
    ['handbook', 'sum(orders.amount)'],
    ['finance', "sum(orders.amount) where status = 'paid'"],
  ] as const) {
    mkdirSync(join(cwd, name));
    writeFileSync(join(cwd, name, 'page.md'), page(formula));
    await ktx(['connection', 'add', name, '--driver', 'docs', '--path', name], { cwd });
  }
  expect(await ktx(['ingest'], { cwd })).toMatchObject({ code: 0 });
  const subject = 'metric:warehouse.orders.revenue';
  const unknown = await ktxJson(['review', 'choose', subject, 'sales'], { cwd });
  expect(unknown.envelope.error?.hint).toMatch(/^one of \w{12} \(\w+\), \w{12} \(\w+\)$/);
  const chosen = await ktxJson(['review', 'choose', subject, 'finance'], { cwd });
  expect(chosen.envelope.data).toMatchObject({
    pin: { source: { connection: 'finance' }, said: { where: "status = 'paid'" } },
  });
});
