import type { Mutant } from './mutant.ts';

/** Faults in metrics over the time spine. */
export const timeSpineMutants: readonly Mutant[] = [
  {
    name: 'spine-window',
    file: 'semantic/plan/spine/join-spine.ts',
    find: "parts: [time, ' > ', start]",
    replace: "parts: [time, ' >= ', start]",
    why: 'A window over the time spine counts one day too many.',
    tests: ['semantic/time-spine.test.ts'],
  },
  {
    name: 'spine-start',
    file: 'semantic/plan/spine/join-spine.ts',
    find: "isCoarser && use.offsets.some(({ kind }) => kind === 'to')",
    replace: 'false',
    why: 'Every day of a month counts the rows of its first day.',
    tests: ['semantic/time-spine.test.ts'],
  },
  {
    name: 'spine-drop',
    file: 'semantic/plan/spine/fill-spine.ts',
    find: "kind: dropsAddedPeriods(scope, fill) ? 'inner' : 'left'",
    replace: "kind: 'left'",
    why: 'Periods are added that do not meet a condition on a dimension of the result.',
    tests: ['semantic/time-spine.test.ts'],
  },
  {
    name: 'spine-order',
    file: 'semantic/plan/spine/join-spine.ts',
    find: 'if (!isCoarser || rules < 2) return;',
    replace: 'return;',
    why: 'An offset of a cumulative metric adds up totals of days.',
    tests: ['semantic/time-spine.test.ts'],
  },
];
