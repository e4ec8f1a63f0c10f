import { expect, test } from 'vitest';
import { createNameIndex } from '../../src/scan/names/name-match.ts';

const numbered = Array.from({ length: 5000 }, (_, index) => ['entity', String(index)] as const);

test('of thousands of names with one word in common, those with a rarer word come first', () => {
  const search = createNameIndex(numbered.map((name) => [name, name.join(' ')]));
  const found = search(['entity', '4321']);
  expect(found[0]).toMatchObject({ item: 'entity 4321' });
  expect(found[0]?.similarity).toBeGreaterThan(0.9);
  expect(found.length).toBeLessThan(1000);
});

test('of thousands of names that begin with one word, that word alone is found', () => {
  const names = [...numbered, ['entity'], ['other', 'thing']];
  const search = createNameIndex(names.map((name) => [name, name.join(' ')]));
  expect(search(['entity'])[0]).toMatchObject({ item: 'entity' });
  expect(search(['billing', 'entity'])[0]).toMatchObject({ item: 'entity' });
  expect(search(['unknown'])).toEqual([]);
});

test('of few names all that are similar are found', () => {
  const names = [['customer'], ['customer', 'address'], ['invoice']];
  const found = createNameIndex(names.map((name) => [name, name.join(' ')]))(['cust']);
  expect(found.map(({ item }) => item).sort()).toEqual(['customer', 'customer address']);
});
