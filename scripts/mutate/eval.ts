import type { Mutant } from './mutant.ts';

const graders = ['eval/graders.test.ts'];

/** The graders of `ktx eval`. */
export const evalMutants: readonly Mutant[] = [
  {
    name: 'grade-row-count',
    file: 'eval/grade/row-difference.ts',
    find: 'golden.rows.length !== actual.rows.length',
    replace: 'golden.rows.length > actual.rows.length',
    why: 'An answer with too many rows passes.',
    tests: graders,
  },
  {
    name: 'grade-order',
    file: 'eval/grade/row-difference.ts',
    find: "keepsOrder: rule.order === 'keep'",
    replace: 'keepsOrder: false',
    why: 'A ranking in the wrong order passes.',
    tests: graders,
  },
  {
    name: 'grade-exact-ids',
    file: 'eval/grade/result-table.ts',
    find: 'isDefault && Number.isInteger(a) && Number.isInteger(b)',
    replace: 'false',
    why: 'A wrong id that is near the right one passes.',
    tests: graders,
  },
  {
    name: 'grade-truncated',
    file: 'eval/grade/grade-turn.ts',
    find: "if (expected.truncated) return rowsFinding('inconclusive', 'the golden result is cut off');",
    replace: '',
    why: 'The first rows of a long result are taken for all of it.',
    tests: graders,
  },
  {
    name: 'grade-cited',
    file: 'eval/grade/grade-turn.ts',
    find: 'ids.size > 0 ? evidence.filter(',
    replace: 'false ? evidence.filter(',
    why: 'An answer that cites the wrong query passes by its last one.',
    tests: graders,
  },
  {
    name: 'grade-cost-unknown',
    file: 'eval/grade/grade-limits.ts',
    find: 'maxCost !== undefined && result.costUsd === null',
    replace: 'false',
    why: 'A call of unknown cost passes every limit in money.',
    tests: graders,
  },
  {
    name: 'grade-tool-failed',
    file: 'eval/grade/grade-tools.ts',
    find: 'name === rule.name && ok && argumentsMatch',
    replace: 'name === rule.name && argumentsMatch',
    why: 'A call that failed counts as one that was made.',
    tests: graders,
  },
  {
    name: 'grade-tool-not',
    file: 'eval/grade/grade-tools.ts',
    find: 'return forbidden.length === 0',
    replace: 'return forbidden.length < 2',
    why: 'A forbidden tool may be called once.',
    tests: graders,
  },
  {
    name: 'grade-negative',
    file: 'eval/grade/numbers-in-text.ts',
    find: "sign === '-' ? -value",
    replace: "sign === '+' ? -value",
    why: 'A loss reported as a gain passes.',
    tests: graders,
  },
  {
    name: 'grade-refusal-cited',
    file: 'eval/grade/grade-text.ts',
    find: 'isRefusal && cited.length === 0',
    replace: 'isRefusal',
    why: 'An answer with a number passes as a refusal.',
    tests: graders,
  },
];
