import { chmodSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSealedAnswers } from '../../src/store/ownership/sealed-answers.ts';
import { openState } from '../../src/store/state.ts';
import { temporaryFolder } from './git-project.ts';

function cacheOf(dir: string): string {
  openState(dir).close();
  return join(dir, '.ktx/cache');
}

test('an answer is kept for its question, and nothing for another', async () => {
  const cache = cacheOf(temporaryFolder());
  const answers = openSealedAnswers(cache, 'sums');
  expect(answers.read('1 + 1')).toBeUndefined();
  await answers.write('1 + 1', { sum: 2 });
  expect(openSealedAnswers(cache, 'sums').read('1 + 1')).toEqual({ sum: 2 });
  expect(answers.read('1 + 2')).toBeUndefined();
  expect(openSealedAnswers(cache, 'products').read('1 + 1')).toBeUndefined();
});

test('an answer that somebody wrote or moved there is as if it was not there', async () => {
  const cache = cacheOf(temporaryFolder());
  const answers = openSealedAnswers(cache, 'sums');
  await answers.write('1 + 1', { sum: 2 });
  await answers.write('2 + 2', { sum: 4 });
  const [one = '', two = ''] = globSync('sums/*.json', { cwd: cache }).map((name) =>
    join(cache, name),
  );
  const [first, second] = [readFileSync(one, 'utf8'), readFileSync(two, 'utf8')];
  writeFileSync(one, second);
  writeFileSync(two, first.replace(/sum\\":\d/, 'sum\\":5'));
  expect([answers.read('1 + 1'), answers.read('2 + 2')]).toEqual([undefined, undefined]);
  writeFileSync(one, 'null');
  expect(answers.read('1 + 1')).toBeUndefined();
});

test('without a state nothing is kept, and nothing fails', async () => {
  const answers = openSealedAnswers(join(temporaryFolder(), '.ktx/cache'), 'sums');
  await answers.write('1 + 1', { sum: 2 });
  expect(answers.read('1 + 1')).toBeUndefined();
});

test('a folder that is no state is left as it is', async () => {
  const dir = temporaryFolder();
  chmodSync(dir, 0o755);
  const answers = openSealedAnswers(join(dir, 'cache'), 'sums');
  await answers.write('1 + 1', { sum: 2 });
  expect(answers.read('1 + 1')).toBeUndefined();
  expect([statSync(dir).mode & 0o777, readdirSync(dir)]).toEqual([0o755, []]);
});
