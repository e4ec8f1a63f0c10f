import { isPercentile } from '../../sql/aggregates.ts';
import type { MetricDefinition } from '../model/metric-definition.ts';
import { parsePeriod, parsePeriodGrain } from '../model/grains.ts';
import type { MetricRule, ModelMetric } from '../model/model.ts';
import { type BuildContext, parseExpression, parseRowFragment } from './fragments.ts';
import type { YamlPath } from './dataset-check.ts';

interface OwnedMetric extends MetricDefinition {
  readonly dataset: string;
  /** The primary key of the dataset. */
  readonly key: readonly string[];
  readonly keepsNull: boolean;
}

/** A metric with its expressions parsed; what is wrong is reported. */
export function buildMetric(
  context: BuildContext,
  { key, ...metric }: OwnedMetric,
  path: YamlPath,
): ModelMetric {
  return {
    ...metric,
    file: context.file,
    where: parseRowFragment(context, metric.where, [...path, 'where']),
    definition: buildRule(context, metric, path),
    balance: buildBalance(metric, key),
    joinsTimeSpine: metric.join_to_timespine === true,
  };
}

/** By default, each combination of the primary key without `over` has a balance. */
function buildBalance(
  { semi_additive: rule }: MetricDefinition,
  key: readonly string[],
): ModelMetric['balance'] {
  if (rule === undefined) return undefined;
  const { over, take } = rule;
  const keyWithoutTime = key.includes(over) ? key.filter((name) => name !== over) : undefined;
  return { over, take, per: rule.per ?? keyWithoutTime };
}

function buildRule(
  context: BuildContext,
  metric: MetricDefinition & { readonly keepsNull: boolean },
  path: YamlPath,
): MetricRule {
  for (const { message, hint } of ruleFaults(metric))
    context.fail(path, 'metric', { message: `The metric ${metric.name} has ${message}`, hint });
  const { conversion, cumulative, offset, total, ratio } = metric;
  if (conversion !== undefined) return conversionRule(conversion);
  if (cumulative !== undefined) return runningRule(context, { ...metric, cumulative }, path);
  if (offset !== undefined) return offsetRule(offset);
  if (total !== undefined) return { kind: 'total', of: total.of, by: total.by ?? [] };
  if (ratio !== undefined) return { kind: 'ratio', ...ratio };
  return aggregateRule(context, metric, path);
}

interface RuleFault {
  readonly message: string;
  readonly hint: string;
}

const ruleKeys = ['agg', 'expr', 'ratio', 'cumulative', 'offset', 'total', 'conversion'] as const;

function ruleFaults(metric: MetricDefinition): readonly RuleFault[] {
  const { agg, of, fraction, per } = metric;
  const keys = ruleKeys.filter((key) => metric[key] !== undefined);
  const faults: readonly (RuleFault & { readonly isFault: boolean })[] = [
    {
      isFault: keys.length !== 1,
      message: keys.join(' and ') || 'nothing to compute',
      hint: 'Give exactly one of agg, expr, ratio, cumulative, offset, total, conversion.',
    },
    {
      isFault: agg !== undefined && agg !== 'count' && of === undefined,
      message: `${agg} of nothing`,
      hint: 'Add of: with a field or an expression.',
    },
    {
      isFault: agg === undefined && of !== undefined,
      message: 'of but no agg',
      hint: 'Add agg: sum, count, avg…',
    },
    {
      isFault: agg === undefined && per !== undefined,
      message: 'per but no agg',
      hint: 'Add agg: avg… and of: with a metric or aggregates.',
    },
    {
      isFault: isPercentile(agg) !== (fraction !== undefined),
      message: isPercentile(agg) ? 'no fraction' : 'a fraction but is not a percentile',
      hint: 'A percentile needs fraction: 0.9.',
    },
  ];
  return [...faults, ...timeSpineFaults(metric)].filter(({ isFault }) => isFault);
}

/** What is wrong with the options that read the time spine. */
function timeSpineFaults(
  metric: MetricDefinition,
): readonly (RuleFault & { readonly isFault: boolean })[] {
  const { agg, per } = metric;
  return [
    {
      isFault:
        metric.offset !== undefined &&
        (metric.offset.by === undefined) === (metric.offset.to_grain === undefined),
      message: 'an offset that needs exactly one of by and to_grain',
      hint: 'Write by: 1 year, or to_grain: month with over_time_spine: true.',
    },
    {
      isFault:
        (metric.offset?.to_grain !== undefined && metric.offset.over_time_spine !== true) ||
        (metric.cumulative?.period_agg !== undefined && metric.cumulative.over_time_spine !== true),
      message: 'to_grain or period_agg without the time spine',
      hint: 'Add over_time_spine: true.',
    },
    {
      isFault: metric.time_granularity !== undefined && metric.cumulative?.over_time_spine !== true,
      message: 'time_granularity but is not cumulative over the time spine',
      hint: 'Remove it: only a metric with cumulative: {over_time_spine: true} is computed for a period of its own.',
    },
    {
      isFault: metric.join_to_timespine === true && (agg === undefined || per !== undefined),
      message: 'join_to_timespine but is no plain aggregate',
      hint: 'Write join_to_timespine at the metrics with agg that this one is made of.',
    },
  ];
}

/** A count that is NULL without rows is a sum of ones. */
function countAsSum(metric: MetricDefinition & { readonly keepsNull: boolean }): MetricDefinition {
  const { agg, of, keepsNull, per } = metric;
  if (agg !== 'count' || !keepsNull || per !== undefined) return metric;
  const countOf = (text: string) => `case when (${text}) is not null then 1 else 0 end`;
  if (of === undefined) return { ...metric, agg: 'sum', of: '1' };
  if (typeof of === 'string') return { ...metric, agg: 'sum', of: countOf(of) };
  const byDialect = Object.entries(of).map(([dialect, text]) => [dialect, countOf(text)]);
  return { ...metric, agg: 'sum', of: Object.fromEntries(byDialect) };
}

function aggregateRule(
  context: BuildContext,
  metric: MetricDefinition & { readonly keepsNull: boolean },
  path: YamlPath,
): MetricRule {
  const { agg, of, expr, per, fraction } = countAsSum(metric);
  const fragment =
    agg === undefined ? parseExpression(context, expr, [...path, 'expr']) : undefined;
  if (fragment !== undefined) return { kind: 'expression', fragment };
  const name = agg ?? 'count';
  const inner = per === undefined ? undefined : parseExpression(context, of, [...path, 'of']);
  if (inner !== undefined && per !== undefined)
    return { kind: 'nested', function: name, fraction, of: inner, per };
  const argument = parseRowFragment(context, of, [...path, 'of']);
  return { kind: 'aggregate', function: name, of: argument, fraction };
}

function conversionRule({
  on,
  window,
  ...rule
}: NonNullable<MetricDefinition['conversion']>): MetricRule {
  const pairs = Object.entries(on).map(([base, to]) => ({ base, to }));
  return { kind: 'conversion', ...rule, on: pairs, window: parseWindow(window) };
}

function runningRule(
  context: BuildContext,
  {
    cumulative,
    time_granularity: grain = 'day',
  }: Pick<MetricDefinition, 'time_granularity'> & {
    readonly cumulative: NonNullable<MetricDefinition['cumulative']>;
  },
  path: YamlPath,
): MetricRule {
  const { of, window, grain_to_date: since, period_agg: periodAgg = 'first' } = cumulative;
  if (window !== undefined && since !== undefined) {
    context.fail([...path, 'cumulative'], 'metric', {
      message: 'window and grain_to_date exclude each other',
      hint: 'Keep one of them.',
    });
  }
  const running = { window: parseWindow(window), since };
  return cumulative.over_time_spine === true
    ? { kind: 'spine_running', of, running: { ...running, grain, periodAgg } }
    : { kind: 'running', of, running };
}

function offsetRule({
  of,
  by = '',
  to_grain: grain,
  over_time_spine: isOverSpine,
}: NonNullable<MetricDefinition['offset']>): MetricRule {
  if (grain !== undefined) return { kind: 'spine_offset', of, offset: { kind: 'to', grain } };
  if (isOverSpine !== true) return { kind: 'offset', of, by: parsePeriod(by) };
  const offset = { kind: 'by', period: parsePeriod(by), grain: parsePeriodGrain(by) } as const;
  return { kind: 'spine_offset', of, offset };
}

function parseWindow(text: string | undefined) {
  return text === undefined
    ? undefined
    : { period: parsePeriod(text), grain: parsePeriodGrain(text) };
}
