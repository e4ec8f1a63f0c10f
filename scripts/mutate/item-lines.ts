import type { Mutant } from './mutant.ts';

/** The short lines of what code found in an item. */
export const itemLineMutants: readonly Mutant[] = [
  {
    name: 'item-lines-of-one-hash',
    file: 'context/claims/item-lines.ts',
    find: 'ids.set(key, isTaken ? undefined : id);',
    replace: 'ids.set(key, id);',
    why: 'Where two items have one hash, a fact is said to stand in the other.',
    tests: ['context/item-lines.test.ts'],
  },
  {
    name: 'item-lines-of-models',
    file: 'context/claims/item-lines.ts',
    find: "origin !== 'code' || item",
    replace: 'item',
    why: 'What a model read counts as found by code.',
    tests: ['context/item-lines.test.ts'],
  },
  {
    name: 'left-lines-of-another-value',
    file: 'context/claims/left-lines.ts',
    find: 'line && isOnly(base.get(basePath(line)), hashValue(body)) ? line : undefined',
    replace: 'line',
    why: 'A value that a person wrote counts as what ktx left.',
    tests: ['context/item-lines.test.ts'],
  },
  {
    name: 'item-lines-set-aside',
    file: 'ingest/publish/publish.ts',
    find: '!hasForeignClaims(current, others)',
    replace: 'false',
    why: 'Claims that ktx only writes otherwise are copied aside as if a person had written them.',
    tests: ['ingest/upgrade.test.ts'],
  },
];
