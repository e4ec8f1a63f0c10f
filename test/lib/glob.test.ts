import * as fc from 'fast-check';
import { matchesGlob as nodes } from 'node:path';
import { describe, expect, test } from 'vitest';
import { globSchema, matchesGlob } from '../../src/lib/patterns/glob.ts';

const parts = ['a', 'b', '*', '?', '/', '.', '{a,b}', '[ab]', '[!a]', '[a-c]', '/**/', 'A', 'ä'];
const glob = fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 6 });
const names = fc.array(fc.constantFrom('a', 'b', 'c', '/', '.', 'A', 'ä'), { maxLength: 8 });
/** What no path has, and what the two read differently. */
const isOdd = (text: string) =>
  text === '' || /\/\/|^\/|\/$|(?:^|\/)\.{1,2}(?:\/|$)|\*\*[^/]|[^/]\*\*/.test(text);

describe('a glob', () => {
  test('matches what the matcher of Node matches', () => {
    const tried = { yes: 0, no: 0 };
    fc.assert(
      fc.property(glob, names, (pattern, name) => {
        const [written, path] = [pattern.join(''), name.join('')];
        if (isOdd(written) || isOdd(path)) return;
        const expected = nodes(path, written);
        tried[expected ? 'yes' : 'no'] += 1;
        expect(matchesGlob(path, written), `${written} and ${path}`).toBe(expected);
      }),
      { numRuns: 20_000, seed: 7 },
    );
    expect(Math.min(tried.yes, tried.no)).toBeGreaterThan(300);
  });

  test.for([
    ['guides/**', 'guides/a/b.md', true],
    ['guides/**', 'guides', false],
    ['**/*.md', 'a.md', true],
    ['**/*.md', '.git/a.md', false],
    ['{finance,sales}/*', 'sales/x', true],
  ] as const)('%s and %s: %s', ([pattern, path, isMatch]) => {
    expect(matchesGlob(path, pattern)).toBe(isMatch);
  });

  test.for([
    ['stars', '*a'.repeat(400) + 'b', 'a'.repeat(250)],
    ['folders', '**/'.repeat(300) + 'x', `${'a/'.repeat(500)}y`],
    ['braces', '{a,b}'.repeat(200), 'a'.repeat(200)],
  ] as const)('with many %s takes no time', ([, pattern, path]) => {
    const start = process.cpuUsage();
    expect(matchesGlob(path, pattern)).toBe(false);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(15_000);
  });

  test.for(['{a,b}'.repeat(7), '{1..1000000}', '+(+(a))b', '!(a)', 'x'.repeat(1001)])(
    '%s is refused in ktx.yaml',
    (pattern) => {
      expect(globSchema.safeParse(pattern).success).toBe(false);
    },
  );
});
