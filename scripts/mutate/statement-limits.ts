import type { Mutant } from './mutant.ts';

/** What holds a statement of any engine within what a person allows. */
export const statementLimitMutants: readonly Mutant[] = [
  {
    name: 'limits-ignored-quietly',
    file: 'warehouse/open.ts',
    find: 'estimate?.bytes !== undefined || session.limitsBytes === true',
    replace: 'estimate?.bytes !== undefined || most > 0',
    why: 'A limit of bytes has no effect, and nobody says so.',
    tests: ['warehouse/spending.test.ts'],
  },
];
