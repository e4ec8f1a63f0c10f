import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mutants } from '../scripts/mutate/mutants.ts';

const root = join(import.meta.dirname, '..');

describe('the mutants of `npm run mutate`', () => {
  test('are at least 120, each with a name of its own and a reason', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(120);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(mutants.filter(({ why }) => why.length < 20)).toEqual([]);
  });

  test('change exactly one place of the source as it is now', () => {
    const stale = mutants.filter(({ file, find, replace }) => {
      const path = join(root, 'src', file);
      if (!existsSync(path) || find === replace) return true;
      return readFileSync(path, 'utf8').split(find).length !== 2;
    });
    expect(stale.map(({ name, file, find }) => `${name}: ${file}: ${find}`)).toEqual([]);
  });

  test('name tests that exist', () => {
    const missing = mutants.flatMap(({ tests }) =>
      tests.filter((file) => !existsSync(join(root, 'test', file))),
    );
    expect(missing).toEqual([]);
  });
});
