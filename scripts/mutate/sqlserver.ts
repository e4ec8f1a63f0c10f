import type { Mutant } from './mutant.ts';

const gate = ['warehouse/sqlserver-gate.test.ts'];
const login = ['warehouse/sqlserver-login.test.ts'];
const driver = ['warehouse/sqlserver.test.ts'];
const folder = 'warehouse/drivers/sqlserver';

/** What stands in place of a read-only session. */
export const sqlserverMutants: readonly Mutant[] = [
  {
    name: 'sqlserver-writable-login',
    file: `${folder}/driver.ts`,
    find: 'if (config.allow_writable_role !== true)',
    replace: 'if (config.allow_writable_role === false)',
    why: 'A login that may write is let in without a word.',
    tests: login,
  },
  {
    name: 'sqlserver-schema-owner',
    file: `${folder}/privileges.ts`,
    find: 't.principal_id = s.principal_id',
    replace: 't.principal_id = s.principal_id AND 1 = 0',
    why: 'The owner of a schema counts as a login that only reads.',
    tests: login,
  },
  {
    name: 'sqlserver-plan',
    file: `${folder}/driver.ts`,
    find: 'if (mayAskForPlans) readPlan(',
    replace: 'if (mayAskForPlans) void (',
    why: 'A statement whose plan writes runs with a login that may write.',
    tests: gate,
  },
  {
    name: 'sqlserver-second-statement',
    file: `${folder}/plan.ts`,
    find: 'types.length === 1 && reading',
    replace: 'types.length > 0 && reading',
    why: 'SELECT 1 DELETE FROM t is two statements, of which the first only reads.',
    tests: gate,
  },
  {
    name: 'sqlserver-statement-words',
    file: `${folder}/statement-text.ts`,
    find: 'if (word !== undefined)',
    replace: "if (word === 'SHUTDOWN')",
    why: 'The parser takes the beginning of a second statement for a name.',
    tests: gate,
  },
  {
    name: 'sqlserver-own-functions',
    file: `${folder}/policy.ts`,
    find: '[...facts.functions, ...misread.map(',
    replace: '[...facts.functions, ...[].map(',
    why: 'A function of somebody passes by a name that only the analyzer gives.',
    tests: gate,
  },
  {
    name: 'sqlserver-rollback',
    file: `${folder}/connection/connections.ts`,
    find: 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION',
    replace: 'IF @@TRANCOUNT > 0 COMMIT TRANSACTION',
    why: 'What a statement wrote stays.',
    tests: driver,
  },
  {
    name: 'sqlserver-plain-password',
    file: `${folder}/settings.ts`,
    find: "ssl === 'off' && !isThisMachine(host)",
    replace: "ssl === 'off' && host === ''",
    why: 'A password travels as plain text.',
    tests: login,
  },
  {
    name: 'sqlserver-certificate',
    file: `${folder}/connection/open-client.ts`,
    find: 'trustServerCertificate: !isVerified',
    replace: 'trustServerCertificate: isVerified',
    why: 'Whoever answers gets the password.',
    tests: login,
  },
  {
    name: 'sqlserver-decimals',
    file: `${folder}/connection/exact-numbers.ts`,
    find: 'if (exact !== undefined) result.value = exact;',
    replace: 'if (exact === undefined) result.value = exact;',
    why: 'A decimal of 38 digits comes as the nearest double.',
    tests: driver,
  },
];
