import type { Mutant } from './mutant.ts';

const tests = ['warehouse/bigquery-gate.test.ts'];
const driver = 'warehouse/drivers/bigquery/driver.ts';

/** The walls in front of a login of BigQuery that may write. */
export const bigqueryMutants: readonly Mutant[] = [
  {
    name: 'bigquery-select',
    file: driver,
    find: 'requireSelect(said);',
    replace: '',
    why: 'A statement that BigQuery itself says is no SELECT is run.',
    tests,
  },
  {
    name: 'bigquery-writable-login',
    file: driver,
    find: 'if (config.allow_writable_role !== true) requireReadOnly(privileges);',
    replace: '',
    why: 'A login that may write is let in, although nobody allowed it.',
    tests,
  },
];
