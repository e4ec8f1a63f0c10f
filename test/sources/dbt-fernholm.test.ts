import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeWarehouseFile } from '../../src/cli/demo/warehouse-file.ts';
import { ktxJson } from '../cli/run-cli.ts';
import { run } from '../store/git-project.ts';

const company = new URL('../../src/cli/demo', import.meta.url).pathname;

test('the sample company, its dbt project and its handbook: all is read, and one metric is contested', async () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'ktx-fernholm-')));
  for (const name of ['dbt', 'handbook'])
    cpSync(join(company, name), join(dir, name), { recursive: true });
  await writeWarehouseFile(join(dir, 'warehouse.duckdb'));
  const connections = [
    'shop: {driver: duckdb, path: warehouse.duckdb}',
    'models: {driver: dbt, path: dbt, target_schema: main}',
    'handbook: {driver: docs, path: handbook}',
  ];
  writeFileSync(
    join(dir, 'ktx.yaml'),
    `connections:\n${connections.map((one) => `  ${one}\n`).join('')}`,
  );
  writeFileSync(join(dir, '.gitignore'), '*.duckdb\n');
  run(dir, 'init', '-q');
  const { code, envelope } = await ktxJson(['ingest'], { cwd: dir });
  const { quarantined, conflicts } = envelope.data as {
    quarantined: unknown;
    conflicts: readonly {
      readonly subject: string;
      readonly variants: readonly { readonly says: unknown }[];
    }[];
  };
  expect(quarantined).toEqual([]);
  expect(conflicts.map(({ subject }) => subject)).toEqual(['metric:shop.orders.revenue']);
  expect(conflicts[0]?.variants.map(({ says }) => says)).toEqual(
    expect.arrayContaining([
      { agg: 'sum', of: 'amount', where: "status = 'paid'" },
      { agg: 'sum', of: 'amount', where: "status <> 'cancelled'" },
    ]),
  );
  expect(code).toBe(0);
  const orders = readFileSync(join(dir, 'semantic-layer/shop/orders.yaml'), 'utf8');
  expect(orders).toContain(
    'One row per order in the shop, the app or a store. Orders without a buyer are guest orders.',
  );
  expect(orders).toContain('values: [paid, refunded, cancelled]');
  expect(orders).toContain('role: recipient');
  expect(orders).toContain(
    'name: average_order, ratio: {numerator: revenue, denominator: orders_placed}',
  );
  expect(readFileSync(join(dir, 'wiki/exposures.md'), 'utf8')).toContain(
    '## Board report (dashboard)',
  );
  const { envelope: listed } = await ktxJson(['review', 'list'], { cwd: dir });
  expect(JSON.stringify(listed.data)).toMatch(/metric:shop.orders.revenue/);
  rmSync(dir, { recursive: true });
});
