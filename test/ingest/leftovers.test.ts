import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filesIn, readProjectFiles } from '../../src/ingest/publish/project-files.ts';

test('what a killed write left is removed, in folders and beside single files, and nothing else', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-leftovers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const left = [
    'semantic-layer/shop/.orders.yaml.0a1b2c3d.ktx-tmp',
    'claims/.wiki.jsonl.0a1b2c3d.ktx-tmp',
    '.conflicts.yaml.0a1b2c3d.ktx-tmp',
  ];
  const others = ['.conflicts.yaml.bak', '.notes.0a1b2c3d.ktx-tmp', 'claims/wiki.jsonl'];
  for (const path of [...left, ...others]) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), '');
  }
  const folders = ['semantic-layer/shop', 'claims/wiki.jsonl', 'conflicts.yaml', 'pins.yaml'];
  await readProjectFiles(dir, folders, { tidy: false });
  expect(left.filter((path) => existsSync(join(dir, path)))).toEqual(left);
  await readProjectFiles(dir, folders);
  expect(left.filter((path) => existsSync(join(dir, path)))).toEqual([]);
  expect(others.filter((path) => existsSync(join(dir, path)))).toEqual(others);
});

test('of files that were read already, those of some folders are the same as read again', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ktx-leftovers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const path of ['claims/shop/a.jsonl', 'claims/shop2/b.jsonl', 'claims/wiki.jsonl']) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), path);
  }
  const all = await readProjectFiles(dir, ['claims/shop', 'claims/shop2', 'claims/wiki.jsonl']);
  const folders = ['claims/shop', 'claims/wiki.jsonl'];
  expect([...filesIn(all, folders)]).toEqual([...(await readProjectFiles(dir, folders))]);
});
