import type { Mutant } from './mutant.ts';

/** Several servers and workers with one database. */
export const scaleMutants: readonly Mutant[] = [
  {
    name: 'shared-audit-head',
    file: 'mcp/audit/verify-audit.ts',
    find: 'const own = seq === 0 ? [] : [{ seq, hash }];',
    replace: 'const own = seq >= 0 ? [] : [{ seq, hash }];',
    why: 'The end of the audit is cut, and nobody notices.',
    tests: ['mcp/shared-servers.test.ts'],
  },
  {
    name: 'shared-audit-noted',
    file: 'mcp/audit/shared-audit-log.ts',
    find: 'if (last !== undefined && isThere) noteLine(head, last);',
    replace: 'if (last !== undefined) noteLine(head, last);',
    why: 'The end of the audit is cut, and nobody notices once the servers have written on.',
    tests: ['mcp/shared-servers.test.ts'],
  },
  {
    name: 'shared-audit-order',
    file: 'store/shared/shared-chain.ts',
    find: 'if (!db.isConflict(error) || tries >= mostTries) throw error;',
    replace: 'if (tries > 0) throw error;',
    why: 'Of two servers that write at the same time, one answers nothing.',
    tests: ['store/shared-state.test.ts'],
  },
  {
    name: 'shared-budget-covered',
    file: 'store/shared/shared-budgets.ts',
    find: 'return held.length === 0 || spent + reserved + amount <= most;',
    replace: 'return held.length === 0 || spent + amount <= most;',
    why: 'Ten workers spend ten times what is left.',
    tests: ['store/shared-state.test.ts'],
  },
  {
    name: 'shared-budget-lost',
    file: 'store/shared/shared-budgets.ts',
    find: 'spent: state.spent + lost.reduce((sum, [, { amount }]) => sum + amount, 0),',
    replace: 'spent: state.spent,',
    why: 'What a killed worker was asking costs nothing.',
    tests: ['store/shared-state.test.ts'],
  },
  {
    name: 'warehouse-wait-untold',
    file: 'mcp/note-waits.ts',
    find: 'progress?.reportWait(waiting);',
    replace: 'progress?.reportWait(undefined);',
    why: 'Who waits for a place at the warehouse is told that the query runs.',
    tests: ['mcp/warehouse-waits.test.ts'],
  },
  {
    name: 'broker-names-row-security',
    file: 'mcp/broker/open-broker.ts',
    find: 'const who = { id: accountId, name: person.name, person: undefined };',
    replace: 'const who = { id: accountId, name: person.name, person: person.name };',
    why: 'A login of the broker decides whose rows the warehouse shows.',
    tests: ['mcp/broker/login.test.ts'],
  },
];
