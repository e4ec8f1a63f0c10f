import type { Mutant } from './mutant.ts';

const gate = ['warehouse/trino-gate.test.ts'];
const driver = ['warehouse/trino.test.ts'];
const folder = 'warehouse/drivers/trino';

/** The walls around a Trino whose login may write. */
export const trinoMutants: readonly Mutant[] = [
  {
    name: 'trino-read-only',
    file: `${folder}/connection.ts`,
    find: "'START TRANSACTION READ ONLY'",
    replace: "'START TRANSACTION'",
    why: 'Trino itself does not refuse to write.',
    tests: gate,
  },
  {
    name: 'trino-no-transaction',
    file: `${folder}/connection.ts`,
    find: 'if (startedTransaction === undefined)',
    replace: "if (startedTransaction === 'none')",
    why: 'Statements run without a transaction on a server that starts none.',
    tests: driver,
  },
  {
    name: 'trino-plan',
    file: `${folder}/driver.ts`,
    find: 'await readPlan(statement, transaction);',
    replace: '',
    why: 'A statement that Trino says would write is sent.',
    tests: gate,
  },
  {
    name: 'trino-output-table',
    file: `${folder}/plan.ts`,
    find: 'plan.data.outputTable !== undefined &&',
    replace: 'plan.data.outputTable === undefined &&',
    why: 'A plan that writes into a table passes.',
    tests: driver,
  },
  {
    name: 'trino-line-end',
    file: `${folder}/statement-text.ts`,
    find: '--[^\\r\\n]*)|',
    replace: '--[^\\n]*)|',
    why: 'A carriage return ends a comment for Trino and not for the gate: code is hidden in it.',
    tests: gate,
  },
  {
    name: 'trino-text-content',
    file: `${folder}/statement-text.ts`,
    find: "text.slice(1, -1).replaceAll(/[^\\w\\s%:.,+-]/g, '_')",
    replace: 'text.slice(1, -1)',
    why: "E'…' hides a call from the gate: Trino knows no such text.",
    tests: gate,
  },
  {
    name: 'trino-plain-secret',
    file: `${folder}/settings.ts`,
    find: 'if (!isEncrypted && hasSecret)',
    replace: 'if (isEncrypted && !hasSecret)',
    why: 'A password travels as plain text.',
    tests: driver,
  },
  {
    name: 'trino-cancel',
    file: `${folder}/connection.ts`,
    find: 'if (next !== undefined) void this.#cancel(next);',
    replace: '',
    why: 'A statement that is given up goes on running.',
    tests: driver,
  },
  {
    name: 'trino-other-catalogs',
    file: 'warehouse/gate/resolve-in-catalog.ts',
    find: 'isSameName(catalog, table.catalog ?? ownCatalog) &&',
    replace: '',
    why: 'A table of a catalog that the connection does not have is read under the name of one that it has.',
    tests: ['warehouse/catalogs.test.ts'],
  },
];
