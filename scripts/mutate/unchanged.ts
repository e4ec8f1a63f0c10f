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
  {
    name: 'passed-catalog',
    file: 'ingest/render/passed-probes.ts',
    find: 'JSON.stringify([readPackageStamp(), configuration, catalog])',
    replace: 'JSON.stringify([readPackageStamp(), configuration])',
    why: 'A statement that no longer works with the tables as they are now counts as checked.',
    tests: ['ingest/passed-probes.test.ts'],
  },
  {
    name: 'passed-configuration',
    file: 'ingest/render/passed-probes.ts',
    find: 'JSON.stringify([readPackageStamp(), configuration, catalog])',
    replace: 'JSON.stringify([readPackageStamp(), catalog])',
    why: 'What passed with another configuration of the warehouse counts as checked.',
    tests: ['ingest/passed-probes.test.ts'],
  },
  {
    name: 'passed-statement',
    file: 'ingest/render/passed-probes.ts',
    find: '${text}`, 32',
    replace: '`, 32',
    why: 'Once one statement has passed, all count as checked.',
    tests: ['ingest/passed-probes.test.ts'],
  },
  {
    name: 'passed-views',
    file: 'ingest/render/passed-probes.ts',
    find: 'isLasting(sql) && passed.add(keyOf(sql))',
    replace: 'passed.add(keyOf(sql))',
    why: 'A metric on a view counts as checked although a table behind the view is gone.',
    tests: ['ingest/passed-probes.test.ts'],
  },
  {
    name: 'passed-sealed',
    file: 'ingest/render/passed-probes.ts',
    find: "openSealedText(db, row['record'])",
    replace: "String(row['record'])",
    why: 'A cloned project brings its own list of what passed the check.',
    tests: ['ingest/passed-probes.test.ts'],
  },
];
