import type { Mutant } from './mutant.ts';

const postgresGate = ['warehouse/postgres-gate.test.ts'];

/** Which functions of Postgres extensions the gate lets pass. */
export const extensionMutants: readonly Mutant[] = [
  {
    name: 'extension-shared-name',
    file: 'warehouse/drivers/postgres/extension-functions.ts',
    find: 'GROUP BY name HAVING bool_and(',
    replace: 'GROUP BY name HAVING bool_or(',
    why: 'A function of a user runs under the name of a safe one of an extension.',
    tests: postgresGate,
  },
  {
    name: 'extension-effect',
    file: 'warehouse/drivers/postgres/extension-functions.ts',
    find: "(p.provolatile = 'i' OR",
    replace: '(true OR',
    why: 'Functions of extensions that change settings run.',
    tests: postgresGate,
  },
  {
    name: 'extension-listed',
    file: 'warehouse/drivers/postgres/extension-functions.ts',
    find: 'AND e.extname IN (${list(computing)}) AND',
    replace: 'AND',
    why: 'Functions of any extension run if it says that they are immutable.',
    tests: postgresGate,
  },
  {
    name: 'extension-calling',
    file: 'warehouse/drivers/postgres/extension-functions.ts',
    find: 'AND p.proname NOT IN (${list(calling)})',
    replace: '',
    why: 'A function of an extension makes rows, and so runs the checks of a user.',
    tests: postgresGate,
  },
  {
    name: 'extension-language',
    file: 'warehouse/drivers/postgres/extension-functions.ts',
    find: "AND (l.lanname IN ('c', 'internal') OR l.lanname = 'sql' AND to_jsonb(p) ->> 'prosqlbody' IS NOT NULL)",
    replace: '',
    why: 'A function that a user added to an extension runs, in any language.',
    tests: postgresGate,
  },
  {
    name: 'extension-owner',
    file: 'warehouse/drivers/postgres/database-objects.ts',
    find: ' AND ${owner} IN (SELECT super.oid FROM pg_roles super WHERE super.rolsuper)',
    replace: '',
    why: 'Whoever owns an extension adds a function of their own, and it counts as trusted.',
    tests: postgresGate,
  },
];
