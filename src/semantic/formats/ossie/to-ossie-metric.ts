import type { Dialect } from '../../../sql/dialect.ts';
import type { Fragment } from '../../../sql/fragment.ts';
import type { AggregateCall } from '../../../sql/aggregate-calls.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { ExpressionText } from '../../model/schema-parts.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import { isWithin } from '../../../sql/analyzer.ts';
import { omitKeys } from '../patch.ts';
import { qualifyColumns, replaceSpans, tryParseFragment } from '../sql-fragment.ts';
import { ownDialectKey, toAiContext } from './expression-conversion.ts';
import { descriptiveKeys } from './metric-entry.ts';
import { dialectTags, type OssieMetric } from './schema.ts';

/** The datasets that are written or read together, by name. */
export interface DatasetScope {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, Dataset>;
}

interface MetricScope extends DatasetScope {
  /** The dataset that has the metric. */
  readonly home: Dataset;
}

/**
 * Undefined for metrics that Ossie cannot express, and for those of which it would compute another
 * number: running totals, offsets, balances, paths of roles.
 */
export function toOssieMetric(
  metric: MetricDefinition,
  name: string,
  scope: MetricScope,
): OssieMetric | undefined {
  const dialects = dialectKeysOf(metric, scope.dialect).flatMap((dialectKey) => {
    const tag = dialectTags[dialectKey];
    const expression = metricSql(metric, { ...scope, dialectKey, filters: [], stack: [] });
    return tag === undefined || expression === undefined ? [] : [{ dialect: tag, expression }];
  });
  if (dialects.length === 0) return undefined;
  const { description, synonyms } = metric;
  return {
    name,
    expression: { dialects },
    ...omitKeys({ description, ai_context: toAiContext(synonyms) }),
  };
}

/** The dialects that the metric's expressions are written for. */
function dialectKeysOf({ of, expr, where }: MetricDefinition, dialect: Dialect): readonly string[] {
  const keys = [of, expr, where].flatMap((text) =>
    typeof text === 'object' ? Object.keys(text) : [],
  );
  return keys.length === 0 ? [ownDialectKey(dialect)] : [...new Set(keys)];
}

interface SqlContext extends MetricScope {
  /** The key of the expression maps to write. */
  readonly dialectKey: string;
  /** Row filters of the metrics that enclose this one. */
  readonly filters: readonly string[];
  /** Names of the enclosing metrics, to detect a cycle. */
  readonly stack: readonly string[];
}

/** The whole formula of a metric, with the metrics that it uses written out. */
function metricSql(metric: MetricDefinition, context: SqlContext): string | undefined {
  const { agg, of, fraction, expr, where, ratio, ...others } = metric;
  const isInexpressible = Object.keys(omitKeys(others, ...descriptiveKeys)).length > 0;
  if (isInexpressible || context.stack.includes(metric.name)) return undefined;
  const condition = where === undefined ? undefined : conditionSql(where, context);
  if (where !== undefined && condition === undefined) return undefined;
  const inner = {
    ...context,
    filters: condition === undefined ? context.filters : [...context.filters, condition],
    stack: [...context.stack, metric.name],
  };
  if (ratio !== undefined) return ratioSql(ratio, inner);
  if (agg !== undefined) {
    const argument = of === undefined ? undefined : rowSql(pickText(of, context), context);
    if (of !== undefined && argument === undefined) return undefined;
    return aggregateSql({ function: agg, argument, fraction }, inner);
  }
  const text = pickText(expr, context);
  const fragment = text === undefined ? undefined : tryParseFragment(text, context.dialect);
  return fragment && formulaSql(fragment, inner);
}

function pickText(
  text: ExpressionText | undefined,
  { dialectKey }: SqlContext,
): string | undefined {
  return typeof text === 'object' ? (text[dialectKey] ?? text['default']) : text;
}

function ratioSql(
  { numerator, denominator }: NonNullable<MetricDefinition['ratio']>,
  context: SqlContext,
): string | undefined {
  const above = inlineMetric(numerator, context);
  const below = inlineMetric(denominator, context);
  return above && below && `${above} / NULLIF(${below}, 0)`;
}

/** A formula with the names inside its aggregates qualified and the other metrics written out. */
function formulaSql(fragment: Fragment, context: SqlContext): string | undefined {
  const metricReferences = fragment.references.filter(
    (reference) => !fragment.aggregates.some((call) => isWithin(reference, call)),
  );
  const pieces = [
    ...fragment.aggregates.map((call) => [call, callSql(fragment, call, context)] as const),
    ...metricReferences.map(
      (reference) => [reference, inlineMetric(reference.parts.join('.'), context)] as const,
    ),
  ];
  const expressible = pieces.flatMap(([span, sql]) =>
    sql === undefined ? [] : [[span, sql] as const],
  );
  return expressible.length < pieces.length ? undefined : replaceSpans(fragment.text, expressible);
}

function callSql({ text }: Fragment, call: AggregateCall, context: SqlContext): string | undefined {
  const { argument: span, fraction } = call;
  const argument =
    span === undefined ? undefined : rowSql(text.slice(span.start, span.end), context);
  return span !== undefined && argument === undefined
    ? undefined
    : aggregateSql({ function: call.function, argument, fraction }, context);
}

interface AggregateParts {
  readonly function: AggregateCall['function'];
  readonly argument: string | undefined;
  readonly fraction: number | undefined;
}

function aggregateSql(
  { function: name, argument, fraction = 0.5 }: AggregateParts,
  { filters, home }: SqlContext,
): string | undefined {
  // count(*) names no dataset, so count the key instead: it is never NULL.
  const [key, ...more] = home.primary_key ?? [];
  const counted =
    argument ?? (key === undefined || more.length > 0 ? undefined : `${home.dataset}.${key}`);
  if (counted === undefined) return undefined;
  const condition = filters.map((filter) => `(${filter})`).join(' AND ');
  const value = filters.length === 0 ? counted : `CASE WHEN ${condition} THEN ${counted} END`;
  if (name === 'count_distinct') return `COUNT(DISTINCT ${value})`;
  if (name === 'median' || name === 'percentile')
    return `PERCENTILE_CONT(${fraction}) WITHIN GROUP (ORDER BY ${value})`;
  if (name === 'percentile_disc')
    return `PERCENTILE_DISC(${fraction}) WITHIN GROUP (ORDER BY ${value})`;
  return `${name.toUpperCase()}(${value})`;
}

function conditionSql(where: ExpressionText, context: SqlContext): string | undefined {
  return rowSql(pickText(where, context), context, [context.home.dataset]);
}

/**
 * Row-level SQL with qualified names. Undefined if it uses a dataset with many rows for one row of
 * `home`: another tool would then count that row several times. `alsoUsed` are datasets that the
 * SQL uses beside those that it names.
 */
function rowSql(
  text: string | undefined,
  { dialect, datasets, home }: SqlContext,
  alsoUsed: readonly string[] = [],
): string | undefined {
  const fragment = text === undefined ? undefined : tryParseFragment(text, dialect);
  if (fragment === undefined) return undefined;
  const named = fragment.references.map(({ parts }) =>
    parts.length === 1 ? home.dataset : (parts[0] ?? ''),
  );
  const used = new Set([...alsoUsed, ...named]);
  const isSafe = used.has(home.dataset) && used.isSubsetOf(datasetsToOneFrom(home, datasets));
  return used.size > 1 && !isSafe ? undefined : qualifyColumns(fragment, home.dataset, datasets);
}

/** The datasets that have at most one row for each row of `home`, itself included. */
function datasetsToOneFrom(
  { dataset: start }: Dataset,
  datasets: DatasetScope['datasets'],
): ReadonlySet<string> {
  const hops = [...datasets.values()].flatMap(({ dataset: from, relationships = [] }) =>
    relationships.flatMap(({ to, cardinality, within: range }) => {
      if (cardinality === 'many_to_many' || range !== undefined) return [];
      const forward = { from, to };
      return cardinality === 'one_to_one' ? [forward, { from: to, to: from }] : [forward];
    }),
  );
  const reached = new Set([start]);
  // A Set also iterates over what is added meanwhile.
  for (const dataset of reached)
    for (const { from, to } of hops) if (from === dataset) reached.add(to);
  return reached;
}

/** The formula of another metric, in parentheses. */
function inlineMetric(address: string, context: SqlContext): string | undefined {
  const parts = address.split('.');
  const home = parts.length === 1 ? context.home : context.datasets.get(parts[0] ?? '');
  const metric = home?.metrics?.find(({ name }) => name === parts.at(-1));
  if (home === undefined || metric === undefined || parts.length > 2) return undefined;
  const sql = metricSql(metric, { ...context, home });
  return sql && `(${sql})`;
}
