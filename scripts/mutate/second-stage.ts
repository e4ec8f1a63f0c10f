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
    name: 'stage-qualify-coarser',
    file: 'semantic/plan/stage/read-stage.ts',
    find: 'if (qualify.length > 0 && (others || rollup))',
    replace: 'if (qualify.length > 1 && (others || rollup))',
    why: 'Totals stand beside rows of which a condition left out some, and the condition is lost.',
    tests: ['semantic/qualify.test.ts'],
  },
  {
    name: 'stage-qualify-literal',
    file: 'semantic/plan/stage/qualify.ts',
    find: 'return arithmeticExpr(piece, resolver, literals);',
    replace: 'return arithmeticExpr(piece, resolver);',
    why: 'A month is compared with a text, which engines read differently.',
    tests: ['semantic/qualify.test.ts'],
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
