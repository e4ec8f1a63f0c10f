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
  if (cumulative !== undefined) return runningRule(context, cumulative, path);
  if (offset !== undefined) return { kind: 'offset', of: offset.of, by: parsePeriod(offset.by) };
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
  return faults.filter(({ isFault }) => isFault);
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
  { of, window, grain_to_date: since }: NonNullable<MetricDefinition['cumulative']>,
  path: YamlPath,
): MetricRule {
  if (window !== undefined && since !== undefined) {
    context.fail([...path, 'cumulative'], 'metric', {
      message: 'window and grain_to_date exclude each other',
      hint: 'Keep one of them.',
    });
  }
  return { kind: 'running', of, running: { window: parseWindow(window), since } };
}

function parseWindow(text: string | undefined) {
  return text === undefined
    ? undefined
    : { period: parsePeriod(text), grain: parsePeriodGrain(text) };
}
