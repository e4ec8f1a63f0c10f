import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { slowCases, slowParts, slowSuites } from './slow-suites.ts';

const files = [...Object.keys(slowSuites), ...Object.keys(slowCases)].sort();

test('the parts of each day have every slow suite once, and each part has its day', () => {
  const first = slowParts(0).map(([file]) => file);
  for (const day of first.keys()) {
    const parts = slowParts(20_000 * first.length + day);
    expect(parts.flat().toSorted()).toEqual(files);
    expect(parts[0]?.[0]).toBe(first[day]);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(10);
  }
});

test('every slow suite is a file', () => {
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
});
