import type { Mutant } from './mutant.ts';

/** What two people did on two branches, after the merge. */
export const branchMutants: readonly Mutant[] = [
  {
    name: 'rewritten-branches',
    file: 'ingest/fetch/rewritten-lines.ts',
    find: '...(isRewritten ? [...last, ...(await runsBesideHead(repository))] : [])',
    replace: '',
    why: 'After a squash or a rebase ktx takes its own values for a person’s.',
    tests: ['ingest/rewritten-lines.test.ts'],
  },
  {
    name: 'returned-page',
    file: 'ingest/fetch/rewritten-lines.ts',
    find: 'present.some((path) => removed.has(path))',
    replace: 'present.every((path) => removed.has(path))',
    why: 'A page that a squash brings back stays as it is for ever.',
    tests: ['ingest/rewritten-lines.test.ts'],
  },
  {
    name: 'merged-branches',
    file: 'ingest/fetch/merged-claims.ts',
    find: 'if (others.length === 0) return file;',
    replace: 'if (others.length >= 0) return file;',
    why: 'After a merge ktx takes its own values for a person’s.',
    tests: ['ingest/branches.test.ts'],
  },
  {
    name: 'pins-one-line',
    file: 'context/claims/pins.ts',
    find: 'createNode(pin, { flow: true })',
    replace: 'createNode(pin)',
    why: 'What two people decided on two branches is a file that nobody can read after the merge.',
    tests: ['context/pins.test.ts'],
  },
  {
    name: 'page-taken-out',
    file: 'context/wiki/merge-page.ts',
    find: 'some((hashes) => !hashes.includes(null))',
    replace: 'every((hashes) => !hashes.includes(null)) && base.size > 0',
    why: 'A page that a person took out on a branch comes back when the other branch had a new term.',
    tests: ['context/wiki.test.ts'],
  },
  {
    name: 'dataset-moved',
    file: 'ingest/render/render-connection.ts',
    find: '.filter(({ dataset }) => !moved.has(dataset))',
    replace: '.filter(() => true)',
    why: 'The joins to a dataset are gone once a person gives its file another name.',
    tests: ['ingest/decided-links.test.ts'],
  },
  {
    name: 'dataset-taken-out',
    file: 'context/merge/merge-dataset.ts',
    find: 'text === undefined && (isRecorded || ',
    replace: 'text === undefined && (false || ',
    why: 'A dataset that a person took out comes back when another branch never had its file.',
    tests: ['context/merge.test.ts'],
  },
  {
    name: 'dataset-of-branch',
    file: 'ingest/render/render-connection.ts',
    find: 'return [...new Set([...recorded, ...others])];',
    replace: 'return [...recorded, ...others.slice(0, 0)];',
    why: 'After a merge without claims, a dataset file joins one that a person took out.',
    tests: ['ingest/branches.test.ts'],
  },
];
