import type { Mutant } from './mutant.ts';

/** What a dbt project says, and how its warehouse is found. */
export const dbtMutants: readonly Mutant[] = [
  {
    name: 'saved-query-returns',
    file: 'context/merge/merge-whole-file.ts',
    find: 'const isDeleted = isRemoved || !isUnedited(base, key, null);',
    replace: 'const isDeleted = false;',
    why: 'A saved query that a person deleted comes back with the next ingest.',
    tests: ['context/merge-whole-file.test.ts'],
  },
  {
    name: 'saved-query-claims-reach-files',
    file: 'ingest/render/render-saved-queries.ts',
    find: '.filter((path) => queryFile.test(path))',
    replace: '',
    why: 'A line of a claims file makes an ingest delete any page of the wiki.',
    tests: ['e2e/layers.test.ts'],
  },
  {
    name: 'step-with-metric-unlisted',
    file: 'context/catalog/find-steps.ts',
    find: '!dataset.hasOwnMetric &&',
    replace: '',
    why: 'A staging model on which somebody defined a metric is in no list.',
    tests: ['context/find-steps.test.ts'],
  },
  {
    name: 'dbt-version-exclude',
    file: 'sources/dbt/files/models/model-versions.ts',
    find: '&& !excluded.has(name)',
    replace: '',
    why: 'A version of a model has the columns that it leaves out.',
    tests: ['sources/dbt-versions.test.ts'],
  },
  {
    name: 'dbt-code-owners-order',
    file: 'sources/dbt/files/code-owners.ts',
    find: '?? []).toReversed();',
    replace: '?? []);',
    why: 'The first rule of CODEOWNERS counts, not the last.',
    tests: ['sources/dbt-owners.test.ts'],
  },
  {
    name: 'dbt-profile-password',
    file: 'sources/dbt/profile/read-profile.ts',
    find: 'reference: `env:${passwordVariable}`',
    replace: 'reference: template',
    why: 'The password of profiles.yml is written into ktx.yaml.',
    tests: ['sources/dbt-profile.test.ts'],
  },
  {
    name: 'dbt-profile-secret-name',
    file: 'sources/dbt/profile/read-profile.ts',
    find: 'if (secretName.test(name))',
    replace: "if (name === '')",
    why: 'A profile of others writes a secret of the environment into ktx.yaml as a host.',
    tests: ['sources/dbt-profile.test.ts'],
  },
];
