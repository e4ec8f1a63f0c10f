import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseMergedClaims, readMergedClaims } from '../../src/ingest/fetch/merged-claims.ts';
import { run, temporaryFolder, write } from '../store/git-project.ts';

const path = 'claims/shop/orders.jsonl';

test('what both branches of a merge had is known until the next commit of claims', async () => {
  const dir = temporaryFolder();
  const claims = async (project = dir) =>
    (await readMergedClaims(project)).branches.flatMap((files) => files.get(path) ?? []);
  const commit = (text: string) => {
    write(dir, path, text);
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', text);
  };
  expect(await claims()).toEqual([]);
  run(dir, 'init', '-q', '-b', 'main');
  expect(await claims()).toEqual([]);
  commit('base\n');
  run(dir, 'checkout', '-qb', 'theirs');
  commit('theirs\n');
  run(dir, 'checkout', '-q', 'main');
  commit('ours\n');
  expect(await claims()).toEqual([]);

  // In the middle of the merge, however the conflict stands in the file.
  expect(() => run(dir, 'merge', 'theirs')).toThrow();
  expect(await claims()).toEqual(['ours\n', 'theirs\n']);
  const inner = join(dir, 'inner');
  mkdirSync(inner);
  expect(await claims(inner)).toEqual([]);

  // Once it is committed.
  run(dir, 'checkout', '--ours', '--', path);
  run(dir, 'commit', '-qam', 'merged');
  expect(await claims()).toEqual(['ours\n', 'theirs\n']);
  commit('after\n');
  expect(await claims()).toEqual([]);
});

test('a value that ktx left on another line is known; what was not there is not taken for its doing', () => {
  const line = (base: object) => `${JSON.stringify({ base })}\n`;
  const own = line({ description: 'aa', owner: 'bb' });
  const copy = line({ description: 'cc', layer: 'dd', owner: [null, 'bb'] });
  const merged = { branches: [], copies: [new Map([[path, copy]])] };
  const { base } = parseMergedClaims(path, own, merged);
  expect(Object.fromEntries(base)).toEqual({
    description: ['aa', 'cc'],
    layer: [null, 'dd'],
    // A person may have taken the owner out here: that it was missing there says nothing.
    owner: ['bb'],
  });
  const whole = { branches: merged.copies, copies: [] };
  expect(parseMergedClaims(path, own, whole).base.get('owner')).toEqual([null, 'bb']);
});
