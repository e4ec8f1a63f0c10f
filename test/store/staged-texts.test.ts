import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stageTexts } from '../../src/store/files.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'ktx-staged-'));
  await writeFile(join(dir, 'a'), 'old');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test('texts change nothing until they are put into place, and what was not put there goes', async () => {
  const texts = ['a', 'b'].map((name) => ({ path: join(dir, name), text: `new ${name}` }));
  {
    using staged = await stageTexts(texts, dir);
    expect(await readFile(join(dir, 'a'), 'utf8')).toBe('old');
    expect(await readdir(dir)).toHaveLength(3);
    expect(await staged.replace(0, () => true)).toBe(true);
  }
  expect(await readdir(dir)).toEqual(['a']);
  expect(await readFile(join(dir, 'a'), 'utf8')).toBe('new a');
});

test('one text that cannot be written leaves nothing of the others', async () => {
  const texts = [
    { path: join(dir, 'b'), text: 'new' },
    { path: join(dir, 'a', 'c'), text: 'below a file' },
  ];
  await expect(stageTexts(texts, dir)).rejects.toThrow();
  expect(await readdir(dir)).toEqual(['a']);
});
