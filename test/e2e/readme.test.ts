import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readmeFiles, runDemo } from '../../scripts/generate-readme.ts';

const root = join(import.meta.dirname, '../..');

describe('the README', () => {
  const demo = runDemo();

  test('shows the figures and the joins of the demo (`npm run generate:readme` writes them)', () => {
    for (const [path, text] of Object.entries(readmeFiles(demo)))
      expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  });

  test('has a demo in which naive SQL is wrong and two sources disagree', () => {
    const { semantic_layer: right, inner_join: inner, wrong_role: role } = demo.comparison;
    expect(inner.total).toBeLessThan(right.total);
    expect(role.by_region).not.toEqual(right.by_region);
    expect(new Set(demo.contested.versions.map(({ gives }) => gives)).size).toBe(2);
  });

  test('starts with the two commands', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const commands = [...readme.matchAll(/^npm \S+(?: \S+)?/gm)].map(([line]) => line.trim());
    expect(commands.slice(0, 2)).toEqual(['npm run demo', 'npm test']);
  });
});
