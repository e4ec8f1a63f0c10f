import { describe, expect, test } from 'vitest';
import { adoptEqualUnits, mergeUnits } from '../../src/context/merge/three-way.ts';

/** What a merge decides about one unit, and what the base records for it afterwards. */
function mergeOne(
  file: string | undefined,
  compiled: string | undefined,
  recorded?: readonly (string | null)[],
) {
  const unit = (value: string | undefined) => new Map(value === undefined ? [] : [['a', value]]);
  const { decisions, base } = mergeUnits({
    file: unit(file),
    compiled: unit(compiled),
    base: new Map(recorded === undefined ? [] : [['a', recorded]]),
    hash: (value) => value,
  });
  return [decisions.get('a'), base.get('a')];
}

describe('a unit that is as ktx left it', () => {
  test.each([
    ['one', 'one', ['one'], 'same', ['one']],
    ['one', 'two', ['one'], 'take', ['two']],
    ['one', undefined, ['one'], 'remove', undefined],
    [undefined, 'one', undefined, 'take', ['one']],
    [undefined, 'two', ['one', null], 'take', ['two']],
  ])('file %s, compiled %s, recorded %s: %s', (...[file, compiled, recorded, decision, base]) => {
    expect(mergeOne(file, compiled, recorded)).toEqual([decision, base]);
  });
});

describe('a unit that a person wrote or took out', () => {
  test.each([
    ['mine', 'two', ['one'], 'keep', ['one']],
    ['mine', 'two', undefined, 'keep', undefined],
    ['mine', undefined, undefined, 'keep', undefined],
    ['mine', undefined, ['one'], 'stale', ['one']],
    // Whoever wrote it, ktx would write the same: it is ktx's from now on.
    ['two', 'two', ['one'], 'agreed', ['two']],
    ['two', 'two', undefined, 'agreed', ['two']],
    [undefined, 'one', ['one'], 'omit', undefined],
    [undefined, undefined, ['one'], undefined, undefined],
  ])('file %s, compiled %s, recorded %s: %s', (...[file, compiled, recorded, decision, base]) => {
    expect(mergeOne(file, compiled, recorded)).toEqual([decision, base]);
  });
});

test('units come in the order of the file, then those that are only compiled', () => {
  const { decisions } = mergeUnits({
    file: new Map([
      ['b', 'x'],
      ['a', 'x'],
    ]),
    compiled: new Map([
      ['c', 'x'],
      ['a', 'x'],
    ]),
    base: new Map(),
    hash: (value) => value,
  });
  expect([...decisions]).toEqual([
    ['b', 'keep'],
    ['a', 'agreed'],
    ['c', 'take'],
  ]);
});

test('equal units can be adopted: they count as ktx’s from then on', () => {
  const sides = {
    file: new Map([
      ['a', 'x'],
      ['b', 'x'],
    ]),
    compiled: new Map([
      ['a', 'x'],
      ['b', 'x'],
    ]),
    base: new Map([['a', ['old']]]),
    hash: (value: string) => value,
    isAdopted: (path: string) => path === 'a',
  };
  const base = adoptEqualUnits(sides);
  expect([...base]).toEqual([['a', ['x']]]);
  expect([...mergeUnits({ ...sides, base }).decisions]).toEqual([
    ['a', 'same'],
    ['b', 'agreed'],
  ]);
});
