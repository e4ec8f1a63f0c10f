import { type Expr, quotient } from '../../relational/query-tree.ts';
import { emptyTrace, type MetricTrace } from '../../resolve/aggregate-node.ts';
import type { MetricResolver } from '../../resolve/metric-resolver.ts';
import { resolveQueryMetric, withZeroForMissingSums } from '../../resolve/metrics.ts';
import type { PlannedMetric } from '../plan-facts.ts';
import type { comparisons, Stage } from './read-stage.ts';

/** A column that is computed of a metric at another grain or in another period. */
export interface AddedMetric extends PlannedMetric {
  /** The name of that metric. */
  readonly metric: string;
  /** What it is, for the receipt. */
  readonly is: string;
}

/**
 * The share of each metric in a whole, and its value a period before. Both compute the metric
 * itself again, for the coarser groups or the earlier rows; nothing is summed up.
 */
export function addComparisons(
  resolver: MetricResolver,
  names: readonly string[],
  { shareOf, compareTo }: Pick<Stage, 'shareOf' | 'compareTo'>,
): readonly AddedMetric[] {
  return names.flatMap((name) => [
    ...(shareOf === undefined ? [] : [addShare(resolver, name, shareOf)]),
    ...(compareTo === undefined ? [] : addComparison(resolver, name, compareTo)),
  ]);
}

function addShare(resolver: MetricResolver, name: string, by: readonly string[]): AddedMetric {
  const ofWhole: MetricResolver = { ...resolver, options: { total: by } };
  const whole = by.length === 0 ? 'the total' : `the value for each ${by.join(' and ')}`;
  return added(name, 'share', {
    is: `${name} divided by ${whole}, which is computed from the rows that meet where`,
    resolve: (trace) =>
      quotient(resolveQueryMetric(resolver, name, trace), resolveQueryMetric(ofWhole, name, trace)),
  });
}

function addComparison(
  resolver: MetricResolver,
  name: string,
  { text, period }: NonNullable<Stage['compareTo']>,
): readonly AddedMetric[] {
  const earlier: MetricResolver = { ...resolver, options: { shift: [period] } };
  const now = (trace: MetricTrace) => resolveQueryMetric(resolver, name, trace);
  const before = (trace: MetricTrace) => resolveQueryMetric(earlier, name, trace);
  const difference = (trace: MetricTrace): Expr => ({
    kind: 'text',
    parts: [now(trace), ' - ', before(trace)],
  });
  return [
    added(name, 'previous', { is: `${name} ${text} before`, resolve: before }),
    added(name, 'difference', {
      is: `${name} minus its value ${text} before`,
      resolve: difference,
    }),
    added(name, 'growth', {
      is: `the difference divided by the value ${text} before`,
      resolve: (trace) => quotient(difference(trace), before(trace)),
    }),
  ];
}

function added(
  metric: string,
  word: 'share' | (typeof comparisons)[number],
  { is, resolve }: { is: string; resolve: (trace: MetricTrace) => Expr },
): AddedMetric {
  const trace = emptyTrace();
  const expr = withZeroForMissingSums(() => resolve(trace), trace);
  trace.isLinear = false;
  trace.metric = undefined;
  return { name: `${metric}.${word}`, metric, is, expr, trace };
}
