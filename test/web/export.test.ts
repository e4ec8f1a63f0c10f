import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ktx, ktxJson } from '../cli/run-cli.ts';
import { contestedProject, removeFolder } from './page.ts';

let cwd: string;
let texts: ReadonlyMap<string, string>;

beforeAll(async () => {
  cwd = await contestedProject();
  const { code, stderr } = await ktx(['web', '--export', 'site'], { cwd });
  if (code !== 0) throw new Error(stderr);
  const dir = join(cwd, 'site');
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  texts = new Map(
    files
      .filter((path) => /\.(?:json|html)$/.test(path))
      .map((path) => [path, readFileSync(join(dir, path), 'utf8')]),
  );
});
afterAll(() => removeFolder(cwd));

test('the export has the pages, and what they ask for as files', () => {
  expect(texts.get('index.html')).toMatch(/<html data-export/);
  const names = [...texts.keys()];
  for (const name of ['about', 'status', 'review', 'datasets', 'graph'])
    expect(names).toContain(`data/${name}.json`);
  expect(names).toContain('data/dataset-dataset_3dorders_26connection_3dwarehouse.json');
  expect(names).toContain('data/explain-subject_3dmetric_253Awarehouse.orders.revenue.json');
  expect(names.every((name) => /^[\w./-]+$/.test(name))).toBe(true);
});

test('it has what both documents say, and no value: neither numbers nor folders', async () => {
  const review = texts.get('data/review.json') ?? '';
  expect(review).toContain("status = 'paid'");
  const { envelope } = await ktxJson(['review', 'list'], { cwd });
  const numbers = JSON.stringify(envelope.data).match(/"number":\{"value":(\d+)/g) ?? [];
  expect(numbers.length).toBeGreaterThan(1);
  const all = [...texts.values()].join('\n');
  expect(all).not.toContain('"number":');
  for (const found of numbers) expect(all).not.toContain(found.replace(/\D/g, ''));
  expect(all).not.toContain(cwd);
});

test('a folder that has something stays as it is', async () => {
  writeFileSync(join(cwd, 'site/mine.txt'), 'mine');
  const again = await ktxJson(['web', '--export', 'site'], { cwd });
  expect(again.envelope.error).toMatchObject({ code: 'folder_not_empty' });
  expect(readFileSync(join(cwd, 'site/mine.txt'), 'utf8')).toBe('mine');
});
