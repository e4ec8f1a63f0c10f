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
  {
    name: 'metric-by-zero',
    file: 'semantic/plan/values/group-values.ts',
    find: "return counts.has(column) ? { kind: 'call'",
    replace: "return counts.has('') ? { kind: 'call'",
    why: 'A count by a field is NULL without rows, and a condition on 0 finds none.',
    tests: ['semantic/derived-periods.test.ts'],
  },
  {
    name: 'conversion-same-time',
    file: 'semantic/plan/conversion.ts',
    find: 'isEqual(columnOf(owner.name, firstColumn), one),',
    replace: 'isEqual(one, one),',
    why: 'A conversion counts for each of two base events at one time.',
    tests: ['semantic/derived-periods.test.ts'],
  },
  {
    name: 'lint-other-values',
    file: 'semantic/lint/lint.ts',
    find: 'given.values.every((value) => allowed.values.includes(value))',
    replace: 'given.values.some((value) => allowed.values.includes(value))',
    why: 'A filter that also lets other values through counts as the filter of the metric.',
    tests: ['semantic/lint/recall.test.ts', 'semantic/lint.test.ts'],
  },
];
