import type { Mutant } from './mutant.ts';

/** What the next run knows of one that was killed while it published. */
export const recordedBaseMutants: readonly Mutant[] = [
  {
    name: 'bases-not-read',
    file: 'ingest/publish/recorded-bases.ts',
    find: 'if (!hasRecord(dir)) return new Map();',
    replace: "if (dir !== '') return new Map();",
    why: 'What a killed run wrote counts as a person’s, for ever.',
    tests: ['ingest/recorded-bases.test.ts'],
  },
  {
    name: 'bases-of-finished-files',
    file: 'ingest/publish/recorded-bases.ts',
    find: 'if (hashOf(current) === final) return undefined;',
    replace: '',
    why: 'A file that a killed run finished is written again with what was there before.',
    tests: ['ingest/recorded-bases.test.ts'],
  },
  {
    name: 'broken-edit-blames-claim',
    file: 'ingest/render/validate.ts',
    find: '.filter((fault) => !isPersonsFormula(fault, rendering))',
    replace: '',
    why: 'A typo in a file that is not committed removes the metric from what is committed.',
    tests: ['ingest/broken-edits.test.ts'],
  },
];
