import type { Mutant } from './mutant.ts';

const tests = ['mcp/warehouse-sign-in.test.ts'];

/** Faults of signing in at a warehouse. */
export const signInMutants: readonly Mutant[] = [
  {
    name: 'sign-in-of-another',
    file: 'mcp/sign-in/warehouse-sign-ins.ts',
    find: 'if (given.username?.toLowerCase() !== person.toLowerCase()) return answers.other;',
    replace: '',
    why: 'Who gets somebody else to open an address sees the rows of that person.',
    tests,
  },
  {
    name: 'sign-in-replayed',
    file: 'mcp/sign-in/pending-sign-ins.ts',
    find: '      pending.delete(state);\n      return asked;',
    replace: '      return asked;',
    why: 'An address stays good after it was used.',
    tests,
  },
  {
    name: 'sign-in-of-all',
    file: 'mcp/sign-in/warehouse-sign-ins.ts',
    find: 'JSON.stringify([person, url, clientId, scope])',
    replace: 'JSON.stringify([url, clientId, scope])',
    why: 'Everyone asks with the token of whoever signed in first.',
    tests,
  },
  {
    name: 'sign-in-unasked',
    file: 'mcp/ask-choice.ts',
    find: "if (how === 'url') return elicitation?.url !== undefined;",
    replace: "if (how === 'url') return elicitation !== undefined;",
    why: 'A client that opens no addresses gets one as a question, and its person no answer.',
    tests,
  },
  {
    name: 'sign-in-unproven',
    file: 'mcp/sign-in/warehouse-sign-ins.ts',
    find: 'code_verifier: verifier',
    replace: "code_verifier: ''",
    why: 'A code is good without the secret of whoever asked for it.',
    tests,
  },
];
