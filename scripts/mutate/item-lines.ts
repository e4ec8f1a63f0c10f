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
  {
    name: 'copied-values-of-people',
    file: 'ingest/fetch/merged-claims.ts',
    find: 'return addCopies(addBranches(file, others(merged?.branches)), others(merged?.copies));',
    replace: 'return addBranches(file, others(merged?.branches));',
    why: 'A value of ktx that a squash brought in counts as a person’s for ever.',
    tests: ['ingest/branches.test.ts'],
  },
  {
    name: 'moved-file-back',
    file: 'context/merge/merge-dataset.ts',
    find: 'isFileBack && input.isMoved === true && !hasPersonsPart(text, merged)',
    replace: 'false',
    why: 'A file that a squash brought back is a duplicate in every run.',
    tests: ['ingest/branches.test.ts'],
  },
  {
    name: 'item-lines-taken-id',
    file: 'context/claims/item-lines.ts',
    find: 'if (id !== itemId(',
    replace: "if (id === '' && id !== itemId(",
    why: 'A line under the id of another item takes its claims over.',
    tests: ['context/item-lines.test.ts'],
  },
  {
    name: 'words-decide',
    file: 'ingest/render/person-edits.ts',
    find: '!describingKeys.has(key)',
    replace: "key !== ''",
    why: 'A unit beside a contested metric decides the conflict.',
    tests: ['cli/review-words.test.ts'],
  },
];
