import type { Mutant } from './mutant.ts';

/** Whether a run may end because nothing is new. */
export const unchangedMutants: readonly Mutant[] = [
  {
    name: 'settled-project',
    file: 'ingest/unchanged/settled-run.ts',
    find: 'markProject(run, { files, commit }) !== settled.project',
    replace: 'false',
    why: 'An ingest says that nothing changed although files, settings or the commit did.',
    tests: ['ingest/unchanged.test.ts'],
  },
  {
    name: 'settled-uncommitted',
    file: 'ingest/publish/publish.ts',
    find: "return isDone && target.ref === 'HEAD' && isSameTree(before, committed);",
    replace: "return isDone && target.ref === 'HEAD';",
    why: 'A file that is not committed yet stays so for ever.',
    tests: ['ingest/unchanged.test.ts'],
  },
  {
    name: 'settled-sources',
    file: 'ingest/unchanged/settled-run.ts',
    find: 'if (!fetched.every(hasNothingNew)) return',
    replace: 'if (fetched.length < 0) return',
    why: 'What is new in a source never arrives.',
    tests: ['ingest/unchanged.test.ts'],
  },
];
