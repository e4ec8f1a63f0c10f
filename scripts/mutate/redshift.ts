import type { Mutant } from './mutant.ts';

const redshiftGate = ['warehouse/redshift-gate.test.ts'];
const redshift = ['warehouse/redshift.test.ts'];
const poolers = ['warehouse/postgres-poolers.test.ts'];

/** Redshift, and poolers before Postgres. */
export const redshiftMutants: readonly Mutant[] = [
  {
    name: 'redshift-writable-login',
    file: 'warehouse/drivers/redshift/driver.ts',
    find: 'powers.writes.length > 0',
    replace: 'powers.writes.length > 99',
    why: 'A login that may write connects, though nobody knows whether the transaction holds it.',
    tests: redshift,
  },
  {
    name: 'redshift-read-only',
    file: 'warehouse/drivers/redshift/driver.ts',
    find: 'BEGIN READ ONLY;',
    replace: 'BEGIN;',
    why: 'The engine no longer refuses writes by itself.',
    tests: redshift,
  },
  {
    name: 'redshift-user-function',
    file: 'warehouse/drivers/redshift/policy.ts',
    find: ', ...unlisted]',
    replace: ']',
    why: 'A function of a user runs under the name of a safe one.',
    tests: redshiftGate,
  },
  {
    name: 'redshift-escaped-quote',
    file: 'warehouse/drivers/redshift/statement-text.ts',
    find: 'if (escapedQuote.test(sql))',
    replace: 'if (sql === escapedQuote.source)',
    why: 'A text ends for the parser where it goes on for the server, or the other way round.',
    tests: redshiftGate,
  },
  {
    name: 'redshift-system-table',
    file: 'warehouse/drivers/redshift/policy.ts',
    find: '!isSystem && ',
    replace: '',
    why: 'A system table is read in place of a table of a user that has its name.',
    tests: redshiftGate,
  },
  {
    name: 'redshift-aggregated-bytes',
    file: 'sql/dialects/redshift.ts',
    find: '<= ${bytes} THEN',
    replace: '<= ${aggregatedBytes} THEN',
    why: 'A table with long texts cannot be profiled: LISTAGG fails.',
    tests: redshift,
  },
  {
    name: 'inherited-marker',
    file: 'warehouse/drivers/postgres/introspect.ts',
    find: ' AND NOT c.relhassubclass',
    replace: '',
    why: 'A hypertable is taken for unchanged for ever.',
    tests: ['warehouse/postgres-engines.test.ts'],
  },
  {
    name: 'pooler-session',
    file: 'warehouse/postgres-wire/transactions.ts',
    find: '!isPooled && sessionSql',
    replace: 'sessionSql',
    why: 'Others get a connection from the pooler that may not write.',
    tests: poolers,
  },
  {
    name: 'pooler-cancel',
    file: 'warehouse/postgres-wire/cancel.ts',
    find: 'isPooled ? requestCancel : cancelBackend',
    replace: 'cancelBackend',
    why: 'A cancel through a pooler ends nothing, or the statement of somebody else.',
    tests: poolers,
  },
];
