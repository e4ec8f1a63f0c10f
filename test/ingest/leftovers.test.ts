import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { filesIn, readProjectFiles } from '../../src/ingest/publish/project-files.ts';
import { openSource } from '../../src/sources/registry.ts';
import { run, write } from '../store/git-project.ts';
import { copyOf, ingestHere, shopProject } from './ingest-project.ts';

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

test('a page that is gone leaves nothing behind, whichever of its last steps ends the run', async () => {
  const scanned = shopProject();
  await ingestHere(scanned);
  write(scanned, 'docs/terms.md', '| Term | Definition |\n|---|---|\n| Margin | What is left. |\n');
  write(scanned, 'docs/gone.md', '| Term | Definition |\n|---|---|\n| Cost | What is paid. |\n');
  run(scanned, 'add', 'docs');
  run(scanned, 'commit', '-qm', 'docs');
  const ingest = async (dir: string, lastStep = Infinity) => {
    let steps = 0;
    const open = () => openSource({ driver: 'docs', path: 'docs' });
    await ingestHere(dir, {
      names: [],
      otherWarehouses: ['shop'],
      sources: [{ name: 'handbook', open, secrets: () => '', isAsked: true }],
      onEvent: ({ type }) => {
        if (type === 'publish_step' && ++steps === lastStep) throw new Error('the end');
      },
    });
    return steps;
  };
  await ingest(scanned);
  run(scanned, 'rm', '-q', 'docs/gone.md');
  run(scanned, 'commit', '-qm', 'one page less');
  const whole = copyOf(scanned);
  const steps = await ingest(whole);
  expect(steps).toBeGreaterThan(4);
  // Before them, claims are written: test/e2e/publish-crash.test.ts ends a run there.
  for (let step = steps - 4; step <= steps; step += 1) {
    const dir = copyOf(scanned);
    await expect(ingest(dir, step)).rejects.toThrow('the end');
    await ingest(dir);
    expect(existsSync(join(dir, 'sources/handbook/gone.md')), `step ${step}`).toBe(false);
    expect(run(dir, 'ls-files'), `step ${step}`).toBe(run(whole, 'ls-files'));
    expect(run(dir, 'status', '--porcelain'), `step ${step}`).toBe('');
  }
});
