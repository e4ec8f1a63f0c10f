import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMergedClaims } from '../../src/ingest/fetch/merged-claims.ts';
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
