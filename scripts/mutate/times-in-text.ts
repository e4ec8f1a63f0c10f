import type { Mutant } from './mutant.ts';

export const timesInTextMutants: readonly Mutant[] = [
  {
    name: 'times-with-and-without-zone',
    file: 'scan/profile/column-profile.ts',
    find: 'return isTime(least) && isTime(greatest)',
    replace: 'return isTime(least)',
    why: 'A column of times with and without a zone, or of any texts, becomes a time field.',
    tests: ['scan/times-in-text.test.ts'],
  },
  {
    name: 'values-of-quoted-columns',
    file: 'project/answer/values.ts',
    find: 'foldText(columnIdentity(modeled, name)) === foldText(column)',
    replace: 'foldText(name) === foldText(column)',
    why: 'A search does not find the values of a column whose name needs quotes.',
    tests: ['scan/times-in-text.test.ts'],
  },
  {
    name: 'text-in-columns-of-numbers',
    file: 'semantic/resolve/aggregate-type.ts',
    find: "return isCall ? takesNumbers.has(token.text) : token.text !== '|' && !readsText.has(token.text);",
    replace: 'return isCall;',
    why: 'A sum on SQLite takes the digits at the start of a text.',
    tests: ['semantic/text-in-numbers.test.ts'],
  },
];
