import type { Mutant } from './mutant.ts';

const tests = ['semantic/fast-sql.test.ts'];

/** SQL that reads rows once and asks for no more than it needs. */
export const fastSqlMutants: readonly Mutant[] = [
  {
    name: 'skipped-hour',
    file: 'semantic/plan/calendar.ts',
    find: "isClockTime && isInstant && timezone !== 'UTC' ? timezone : undefined",
    replace: 'undefined',
    why: 'fill_time shows an hour that no clock showed.',
    tests: ['semantic/shifted-instants.test.ts'],
  },
  {
    name: 'median-of-one',
    file: 'semantic/plan/values/ranked-percentiles.ts',
    find: "' AND ', count, ' + 2'",
    replace: "' AND ', count, ' + 1'",
    why: 'The median of four values is the second instead of the middle of two.',
    tests: [
      'semantic/engines.test.ts',
      'conformance/semantic-layer.test.ts',
      'semantic/golden.test.ts',
    ],
  },
  {
    name: 'zone-before-1970',
    file: 'lib/time/time-zone.ts',
    find: 'if (offset !== clockOffset((quarter + 1) * quarterMs - 1, timezone))',
    replace: 'if (offset !== offset)',
    why: 'Times near a change of the clocks within a quarter of an hour are wrong.',
    tests: ['lib/time-zone.test.ts'],
  },
  {
    name: 'running-parts',
    file: 'semantic/plan/running.ts',
    find: "count: 'sum',",
    replace: "count: 'count',",
    why: 'A running count counts periods instead of rows.',
    tests,
  },
  {
    name: 'shifted-shared',
    file: 'semantic/plan/share-shifted.ts',
    find: 'if (stepMonths !== undefined) return months !== undefined &&',
    replace: 'if (stepMonths !== undefined) return months === undefined ||',
    why: 'Eight days before is read from whole months moved by eight days.',
    tests,
  },
  {
    name: 'semi-join-correlated',
    file: 'semantic/resolve/row-expr.ts',
    find: 'const rest = [where, ...others.map(({ on }) => on)];',
    replace: 'const rest: Expr[] = [];',
    why: 'A semi-join becomes IN although its subquery reads rows of the outer query.',
    tests,
  },
];
