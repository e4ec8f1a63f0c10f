import type { Mutant } from './mutant.ts';

const callers = ['mcp/http-identity.test.ts'];
const postgres = ['warehouse/identity/postgres.test.ts'];
const mariadb = ['warehouse/identity/mariadb.test.ts'];
const snowflake = ['warehouse/identity/snowflake.test.ts'];
const trino = ['warehouse/identity/trino.test.ts'];
const spending = ['mcp/http-day-spending.test.ts'];
const exchange = ['mcp/token-exchange.test.ts'];

/** As whom the statements of a caller run in the warehouse, and what they may spend there. */
export const identityMutants: readonly Mutant[] = [
  {
    name: 'identity-view',
    file: 'project/open/open.ts',
    find: 'warehouse: async (name, signal) => (await project.loginWarehouse(name, signal)).as(caller),',
    replace: 'warehouse: project.warehouse,',
    why: 'Everyone asks as whoever started the server.',
    tests: callers,
  },
  {
    name: 'identity-fallback',
    file: 'warehouse/identity/statement-identity.ts',
    find: 'throw noRole(connection, role);',
    replace: 'return undefined;',
    why: 'A caller whom the warehouse does not know asks as the login.',
    tests: postgres,
  },
  {
    name: 'identity-postgres-session',
    file: 'warehouse/postgres-wire/transactions.ts',
    find: 'if (setting !== undefined) await applySetting',
    replace: "if (setting?.name === 'role') await applySetting",
    why: 'Row security is not told who asks.',
    tests: postgres,
  },
  {
    name: 'identity-postgres-bypass',
    file: 'warehouse/drivers/postgres/identity.ts',
    find: 'if (why === null) return;',
    replace: 'if (why !== undefined) return;',
    why: 'Row security is trusted for a login that it does not bind.',
    tests: postgres,
  },
  {
    name: 'identity-mysql-pool',
    file: 'warehouse/drivers/mysql/transactions.ts',
    find: 'pools.of(limits.role)',
    replace: 'pools.of(undefined)',
    why: 'A connection of MySQL keeps the role of the last caller for the login.',
    tests: mariadb,
  },
  {
    name: 'identity-mysql-own-rights',
    file: 'warehouse/drivers/mysql/driver.ts',
    find: "if (config.identity?.mode === 'role')",
    replace: "if (config.identity?.mode === 'shared')",
    why: 'Each role of a caller has the rights of the login too.',
    tests: mariadb,
  },
  {
    name: 'identity-snowflake-plan',
    file: 'warehouse/drivers/snowflake/driver.ts',
    find: 'loginKey(login) + sql',
    replace: 'sql',
    why: 'A statement runs with a plan that was checked for another role.',
    tests: snowflake,
  },
  {
    name: 'identity-snowflake-secondary',
    file: 'warehouse/drivers/snowflake/identity.ts',
    find: 'if (secondary.length === 0) return;',
    replace: 'if (secondary.length >= 0) return;',
    why: 'Secondary roles give each caller what others may see.',
    tests: snowflake,
  },
  {
    name: 'identity-trino-plan',
    file: 'warehouse/drivers/trino/connection.ts',
    find: '      ...this.#identity,\n',
    replace: '',
    why: 'Trino runs the statements of everyone as the login.',
    tests: trino,
  },
  {
    name: 'identity-passthrough',
    file: 'mcp/exchange/token-exchange.ts',
    find: 'if (data.access_token === subject)',
    replace: 'if (data.access_token === clientSecret)',
    why: 'The token of a person is passed on to the warehouse.',
    tests: exchange,
  },
  {
    name: 'identity-renewed-token',
    file: 'mcp/http/callers.ts',
    find: 'caller.renew(identity);',
    replace: '',
    why: 'A person asks with a token that has ended.',
    tests: exchange,
  },
  {
    name: 'identity-key-proofs',
    file: 'project/keys/key-proofs.ts',
    find: 'shortHash(sql + identity, 16)',
    replace: 'shortHash(sql, 16)',
    why: 'A key counts as proven because another caller sees fewer rows.',
    tests: callers,
  },
  {
    name: 'spending-reserved',
    file: 'warehouse/open.ts',
    find: 'account.reserve(estimate?.bytesBilled ?? estimate?.bytes, usdPerTib)',
    replace: 'account.reserve(undefined, usdPerTib)',
    why: 'Statements at the same time each spend all that is left of the day.',
    tests: spending,
  },
  {
    name: 'spending-by-caller',
    file: 'mcp/http/callers.ts',
    find: "accountOf(identity?.id ?? '')",
    replace: "accountOf('')",
    why: 'One person uses up the day of all.',
    tests: spending,
  },
  {
    name: 'asked-cost-of-this-call',
    file: 'mcp/ask-cost.ts',
    find: 'const isAllowed = answer.success && call === hashCall(asked);',
    replace: 'const isAllowed = answer.success && call !== "";',
    why: 'Who agrees to one query has agreed to any.',
    tests: ['mcp/ask-cost.test.ts'],
  },
  {
    name: 'day-spending-left',
    file: 'warehouse/open.ts',
    find: 'Math.min(most ?? Infinity, reserved.mostBytes)',
    replace: 'most ?? Infinity',
    why: 'A statement whose estimate was too low reads more than is left of the day.',
    tests: spending,
  },
  {
    name: 'postgres-busy-is-away',
    file: 'warehouse/postgres-wire/transactions.ts',
    find: 'inTurn(queue, limits.signal, () => runAtOnce(limits, work));',
    replace: 'runAtOnce(limits, work);',
    why: 'Who waits for a free connection is told that the server cannot be reached.',
    tests: ['warehouse/postgres-wire-queue.test.ts'],
  },
];
