import type { Mutant } from './mutant.ts';

const tests = ['semantic/golden.test.ts', 'semantic/errors.test.ts'];

/** What a query computes over its result. */
export const secondStageMutants: readonly Mutant[] = [
  {
    name: 'stage-share-of-group',
    file: 'semantic/plan/stage/add-comparisons.ts',
    find: 'options: { total: by }',
    replace: 'options: { total: [] }',
    why: 'A share of a group is one of the total.',
    tests,
  },
  {
    name: 'stage-others-of-all',
    file: 'semantic/plan/stage/plan-coarser.ts',
    find: "parts: ['NOT ', exists]",
    replace: "parts: ['1 = 1 OR NOT ', exists]",
    why: 'The others count the rows of the shown groups too.',
    tests,
  },
  {
    name: 'stage-others-totals',
    file: 'semantic/plan/fact-query.ts',
    find: 'filter(({ sparesTotals }) => sparesTotals !== true)',
    replace: 'filter(() => true)',
    why: 'The others are all of themselves: their share is 1.',
    tests,
  },
  {
    name: 'stage-running-sum',
    file: 'semantic/plan/stage/row-windows.ts',
    find: 'if (lost.length === 0) return;',
    replace: 'if (lost.length >= 0) return;',
    why: 'Distinct counts of months are summed up.',
    tests,
  },
];
