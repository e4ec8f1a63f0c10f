import type { Mutant } from './mutant.ts';

/** What is prepared for the next command is taken only while it holds, and only from ktx itself. */
export const preparedMutants: readonly Mutant[] = [
  {
    name: 'prepared-unsigned',
    file: 'store/ownership/sealed-answers.ts',
    find: 'return isOwn ? parseJson(answer) : undefined;',
    replace: 'return parseJson(answer);',
    why: 'A file in .ktx tells the gate that a statement reads nothing.',
    tests: ['store/sealed-answers.test.ts'],
  },
  {
    name: 'prepared-stale',
    file: 'project/prepared/prepared-answer.ts',
    find: "return stamp === kept['stamp'] ? kept['answer'] : undefined;",
    replace: "return stamp === '' ? undefined : kept['answer'];",
    why: 'The list of datasets stays as it was when their files change.',
    tests: ['cli/prepared-list.test.ts'],
  },
];
