import type { Mutant } from './mutant.ts';

const nameRules = ['scan/name-rules.test.ts'];

/** Which joins and keys a scan proposes: a wrong one answers with a wrong number. */
export const linkMutants: readonly Mutant[] = [
  {
    name: 'links-tightest',
    file: 'scan/links/choose/prefer-tightest.ts',
    find: 'tightness(best, candidate) >= 1',
    replace: 'tightness(best, candidate) >= 2',
    why: 'Leave of an employee is joined to the table of all parties.',
    tests: nameRules,
  },
  {
    name: 'links-other-key',
    file: 'scan/links/choose/reasons-to-reject.ts',
    find: 'return isOtherKeyOfRow(candidate) ?',
    replace: 'return candidate.seen < 0 ?',
    why: 'Two keys of one row join the table to itself.',
    tests: nameRules,
  },
  {
    name: 'links-row-number',
    file: 'scan/links/choose/reasons-to-doubt.ts',
    find: 'if (isRowNumber(candidate))',
    replace: 'if (false)',
    why: 'Tables whose rows are counted alike are joined by their counts.',
    tests: nameRules,
  },
  {
    name: 'links-namesakes',
    file: 'scan/links/namesakes.ts',
    find: 'const leastReach = 0.6;',
    replace: 'const leastReach = 2;',
    why: 'What eight tables call movie_id is not found where the table is called title.',
    tests: nameRules,
  },
  {
    name: 'links-last-word',
    file: 'scan/names/name-match.ts',
    find: 'head * 0.7',
    replace: 'head * 0.45',
    why: 'order_id means the notes about orders as much as the sales order.',
    tests: nameRules,
  },
  {
    name: 'links-short-form',
    file: 'scan/names/name-match.ts',
    find: 'full: shortFormMatch(child, parent)',
    replace: 'full: 0',
    why: 'cdemo_key means any table whose keys it fits, not customer_demographics.',
    tests: nameRules,
  },
  {
    name: 'links-own-table',
    file: 'scan/links/link-candidate.ts',
    find: 'withOwnTable.full * 0.95',
    replace: '0',
    why: 'The type of an artist is joined to the types of places.',
    tests: nameRules,
  },
  {
    name: 'links-measure',
    file: 'scan/links/choose/reasons-to-doubt.ts',
    find: 'if (isMeasure(child.parts)) return names.best < 0.75;',
    replace: '',
    why: 'A price that lies among the keys of products is joined to them.',
    tests: ['scan/history/history.test.ts'],
  },
  {
    name: 'keys-of-pairs',
    file: 'scan/keys/find-keys.ts',
    find: 'isNamedByColumns(set, table) || isUniqueByChance(column)',
    replace: 'isUniqueByChance(column)',
    why: 'A table of pairs gets the key of one side, and its joins lose rows later.',
    tests: nameRules,
  },
];
