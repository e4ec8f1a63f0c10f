import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createDatasetFileLister } from '../../src/project/open/model-files.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-test-model-files-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('who asks again gets the same files, but for what was edited, added, removed and put back since', async () => {
  const folder = join(dir, 'semantic-layer/shop');
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const files = createDatasetFileLister(dir);
  const paths = async () => (await files('shop')).map(({ path }) => path.split('/').at(-1));
  write('orders.yaml', 'dataset: orders\n');
  write('tags.yaml', 'dataset: tags\n');
  const before = await files('shop');
  expect(await files('shop')).toBe(before);
  write('orders.yaml', 'dataset: orders\nsource: orders\n');
  const [orders, tags] = await files('shop');
  expect(orders).not.toEqual(before[0]);
  expect(tags).toBe(before[1]);
  write('notes.yaml', 'dataset: notes\n');
  writeFileSync(join(dir, 'semantic-layer/shop.yaml'), 'metrics: []\n');
  expect(await paths()).toEqual(['notes.yaml', 'orders.yaml', 'tags.yaml', 'shop.yaml']);
  rmSync(join(folder, 'orders.yaml'));
  expect(await paths()).toEqual(['notes.yaml', 'tags.yaml', 'shop.yaml']);
  write('orders.yaml', 'dataset: orders\n');
  expect(await paths()).toEqual(['notes.yaml', 'orders.yaml', 'tags.yaml', 'shop.yaml']);
});
