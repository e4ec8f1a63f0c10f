import type { Mutant } from './mutant.ts';

const joinRules = ['scan/join-rules.test.ts'];

/** What a scan says before it costs money, and what columns of one name mean. */
export const bytesAndNamesakesMutants: readonly Mutant[] = [
  {
    name: 'databricks-unknown-size',
    file: 'warehouse/drivers/databricks/cost.ts',
    find: 'return power === -1 ? NaN',
    replace: 'return power === -1 ? 0',
    why: 'A table of unknown size counts as empty, and a limit of bytes lets it through.',
    tests: ['warehouse/databricks-cost.test.ts'],
  },
  {
    name: 'scan-plan-after-reading',
    file: 'scan/profile/profile-tables.ts',
    find: '  context.onDue(pending.map(({ schema }) => schema));\n',
    replace: '',
    why: 'A scan that costs money reads without saying so.',
    tests: ['contract/cost-guards.test.ts'],
  },
  {
    name: 'links-agree-with-namesakes',
    file: 'scan/links/find-links.ts',
    find: 'agreeWithTwins(agreeWithNamesakes(chosen))',
    replace: 'agreeWithTwins(chosen)',
    why: 'The sellers of thirty remarks are no people, though those of all other tables are.',
    tests: joinRules,
  },
  {
    name: 'links-namesake-in-parent',
    file: 'scan/links/choose/reasons-to-doubt.ts',
    find: 'return parentHasNamesake && names.best < 0.6',
    replace: 'return parentHasNamesake && names.best < -1',
    why: 'The shop of a visit is an order, whose own column names its shop.',
    tests: joinRules,
  },
];
