import { expect, test } from 'vitest';
import { otherNames } from '../../src/scan/names/other-names.ts';

function wordsOf(...entities: readonly (readonly string[])[]): readonly string[] {
  const tables = entities.map((entity) => ({ entity, columnNames: ['id'] }));
  return otherNames(tables).flatMap((names) =>
    names.filter(({ isShort }) => isShort !== true).map(({ words }) => words.join(' ')),
  );
}

test('three tables with one first word are a group', () => {
  expect(wordsOf(['auth', 'user'], ['auth', 'group'], ['auth', 'token'])).toEqual([
    'user',
    'group',
    'token',
  ]);
});

test('the name of a table is no group: what begins with it is of that table', () => {
  const film = [['film'], ['film', 'actor'], ['film', 'category'], ['film', 'text']];
  expect(wordsOf(...film)).toEqual([]);
});

test('a name without its group is that of a table only if no table is called so', () => {
  const names = [['auth', 'user'], ['auth', 'group'], ['auth', 'token'], ['user']];
  expect(wordsOf(...names)).toEqual(['group', 'token']);
});

test('every table has a type: that of a group is named so in the group only', () => {
  const tables = [
    ['media', 'type'],
    ['media', 'file'],
    ['media', 'user'],
  ].map((entity) => ({
    entity,
    columnNames: ['id'],
  }));
  const groups = otherNames(tables).map(([name]) => name?.group);
  expect(groups).toEqual(['media', undefined, undefined]);
});
