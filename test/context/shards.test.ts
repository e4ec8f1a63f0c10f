import {
  array,
  assert,
  integer,
  property,
  shuffledSubarray,
  string,
  uniqueArray,
} from 'fast-check';
import { expect, test } from 'vitest';
import { findShards, shardLines, shardPath } from '../../src/context/catalog/shards.ts';

const limit = 1000;
const linesOf = (keys: readonly string[]) =>
  keys.map((key) => ({ key, line: `${key} ${'x'.repeat(90)}` }));
const keysOf = (count: number) => Array.from({ length: count }, (_, at) => `key${at}`);
const shards = (keys: readonly string[], existing: Iterable<string> = []) =>
  shardLines(linesOf(keys), { existing: new Set(existing), limit });

/** The prefixes of the shards that differ. */
function changed(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const prefixes = new Set([...before.keys(), ...after.keys()]);
  return [...prefixes].filter((prefix) => before.get(prefix) !== after.get(prefix)).sort();
}

test('what is small is one file; nothing is none', () => {
  expect([...shards(keysOf(9)).keys()]).toEqual(['']);
  expect([...shards([]).keys()]).toEqual([]);
});

test('every line is in one shard, none above the limit, whatever there was before', () => {
  const prefixes = array(string({ unit: 'binary', maxLength: 2 }));
  assert(
    property(uniqueArray(string(), { maxLength: 300 }), prefixes, (keys, existing) => {
      const found = shards(keys, existing);
      const text = [...found.values()].join('');
      const sort = (all: string) => all.split('\n').toSorted();
      const all = linesOf(keys).map(({ line }) => `${line}\n`);
      expect(sort(text)).toEqual(sort(all.join('')));
      for (const own of found.values())
        expect(own.length < limit || own.split('\n').length === 2).toBe(true);
      // What was written is written again.
      expect([...shards(keys, found.keys())]).toEqual([...found]);
    }),
  );
});

test('one line more or less changes its own shard only', () => {
  const keys = keysOf(400);
  const before = shards(keys);
  expect(before.size).toBeGreaterThan(16);
  assert(
    property(integer({ min: 0, max: 399 }), (at) => {
      const less = shards(keys.toSpliced(at, 1), before.keys());
      expect(changed(before, less)).toHaveLength(1);
    }),
  );
});

test('growth moves only the lines of the shard that is full, and a little less moves nothing', () => {
  let known = shards(keysOf(1));
  for (let count = 2; count <= 600; count += 1) {
    const next = shards(keysOf(count), known.keys());
    const roots = new Set(changed(known, next));
    const full = [...known.keys()].find((prefix) => !next.has(prefix));
    if (full === undefined) expect(roots.size).toBe(1);
    else expect([...roots].every((prefix) => prefix.startsWith(full))).toBe(true);
    // One line less again joins nothing.
    if (full !== undefined) expect(shards(keysOf(count - 1), next.keys()).has(full)).toBe(false);
    known = next;
  }
  expect(shards(keysOf(3), known.keys()).size).toBe(1);
});

test('the order of lines decides the order in a shard, not the shard', () => {
  const keys = keysOf(200);
  const names = [...shards(keys).keys()].sort();
  assert(
    property(shuffledSubarray(keys, { minLength: 200 }), (shuffled) => {
      expect([...shards(shuffled).keys()].sort()).toEqual(names);
    }),
  );
});

test('the shards of a file are in the folder of its name', () => {
  expect(shardPath('claims/wiki.jsonl', '')).toBe('claims/wiki.jsonl');
  expect(shardPath('claims/wiki.jsonl', '3f')).toBe('claims/wiki/3f.jsonl');
  const paths = [
    'claims/wiki/3f.jsonl',
    'claims/wiki/orders.jsonl',
    'claims/wiki/0/a.jsonl',
    'claims/wikis/0.jsonl',
    'claims/wiki.jsonl',
  ];
  expect(Object.fromEntries(findShards('claims/wiki.jsonl', paths))).toEqual({
    'claims/wiki.jsonl': '',
    'claims/wiki/3f.jsonl': '3f',
  });
});
