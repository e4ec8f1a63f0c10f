import type { Aggregate } from '../../sql/aggregates.ts';
import type { Fragment } from '../../sql/fragment.ts';
import {
  type ConversionRule,
  metricAddress,
  type MetricRule,
  type ModelMetric,
} from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import { type Expr, quotient, replaceOutputColumns } from '../relational/query-tree.ts';
import { type SqlPiece, wholePiece } from '../relational/sql-piece.ts';
import {
  type AggregateNode,
  emptyTrace,
  factQueryKey,
  isPlainAggregate,
  type MetricTrace,
  type SpineUse,
} from './aggregate-node.ts';
import { arithmeticExpr, isLinear } from './arithmetic.ts';
import {
  addAggregate,
  enterMetric,
  findMetric,
  internAggregate,
  type MetricContext,
  type MetricResolver,
  parseFormula,
  queryContext,
  type QueryFormula,
} from './metric-resolver.ts';
import { unknownMetricError } from './unknown-metric.ts';

/**
 * Resolves a metric of the query to arithmetic over result columns. The text is a name (those of
 * the query come first) or arithmetic over aggregates and names. Throws a `UserError` if a name is
 * unknown, ambiguous or circular.
 */
export function resolveQueryMetric(
  resolver: MetricResolver,
  text: string,
  trace: MetricTrace,
): Expr {
  const { model, queryMetrics } = resolver;
  const formula = queryMetrics.get(text) ?? parseFormula(model, text, new Set(queryMetrics.keys()));
  if (formula.outer !== undefined)
    return resolveFormula(resolver, formula, { ...queryContext, ...resolver.options, trace });
  return resolveQueryExpression(resolver, wholePiece(formula.fragment), trace);
}

/**
 * Resolves arithmetic that stands in the query. If it is just the name of a model metric,
 * `trace.metric` is set.
 */
export function resolveQueryExpression(
  resolver: MetricResolver,
  piece: SqlPiece,
  trace: MetricTrace,
): Expr {
  const [first] = piece.fragment.references;
  const isOneName = first?.start === piece.span.start && first.end === piece.span.end;
  if (isOneName && !resolver.queryMetrics.has(first.parts.join('.')))
    trace.metric = findMetric(resolver.model, first.parts);
  return resolveArithmetic(resolver, piece, { ...queryContext, ...resolver.options, trace });
}

/** Resolves a metric of the model on its own. */
export function resolveMetric(resolver: MetricResolver, metric: ModelMetric): Expr {
  const context = { ...queryContext, home: metric.dataset, trace: emptyTrace() };
  return expandMetric(resolver, metric, context);
}

/**
 * Resolves a complete expression. If it combines several fact queries, a sum without rows counts as
 * 0 in it.
 */
export function withZeroForMissingSums(
  resolve: (trace: MetricTrace) => Expr,
  trace: MetricTrace = emptyTrace(),
): Expr {
  const expr = resolve(trace);
  const aggregates = [...trace.aggregates];
  if (new Set(aggregates.map(factQueryKey)).size < 2) return expr;
  const sums = new Set(
    aggregates
      .filter((node) => node.function === 'sum' && node.keepsNull !== true)
      .map(({ column }) => column),
  );
  return replaceOutputColumns(expr, (result) =>
    sums.has(result.column) ? { kind: 'call', parts: ['COALESCE(', result, ', 0)'] } : result,
  );
}

function resolveFormula(
  resolver: MetricResolver,
  { fragment, outer }: QueryFormula,
  context: MetricContext,
): Expr {
  if (outer === undefined) return resolveArithmetic(resolver, wholePiece(fragment), context);
  return addNestedAggregate(resolver, { ...outer, of: fragment, fraction: undefined }, context);
}

function resolveArithmetic(
  resolver: MetricResolver,
  piece: SqlPiece,
  context: MetricContext,
): Expr {
  const { fragment } = piece;
  if (!isLinear(fragment)) context.trace.isLinear = false;
  return arithmeticExpr(piece, {
    aggregate: ({ function: name, argument, fraction }) => {
      const of = argument && { fragment, span: argument, home: context.home };
      return addAggregate(resolver, { function: name, of, fraction }, context);
    },
    reference: ({ parts }) => resolveMetricName(resolver, parts, context),
  });
}

function resolveMetricName(
  resolver: MetricResolver,
  parts: readonly string[],
  context: MetricContext,
): Expr {
  const name = parts.join('.');
  const formula = context.home === undefined ? resolver.queryMetrics.get(name) : undefined;
  if (formula !== undefined)
    return resolveFormula(resolver, formula, {
      ...context,
      stack: enterMetric(context.stack, name),
    });
  const metric =
    ownUnreviewed(resolver, parts, context) ?? findMetric(resolver.model, parts, context.home);
  if (metric === undefined) throw unknownMetricError(resolver, parts);
  return expandMetric(resolver, metric, context);
}

/** What a model read means the metrics that it read beside it. */
function ownUnreviewed(
  { model }: MetricResolver,
  [name = '', ...more]: readonly string[],
  { home, isUnreviewed }: MetricContext,
): ModelMetric | undefined {
  if (isUnreviewed !== true || home === undefined || more.length > 0) return undefined;
  return model.datasets.get(home)?.metrics.get(name);
}

/** Replaces a model metric by its definition, and NULL by its default. */
function expandMetric(resolver: MetricResolver, metric: ModelMetric, context: MetricContext): Expr {
  if (metric.unreviewed === true) context.trace.unreviewed.add(metricAddress(metric));
  return withDefault(expandRule(resolver, metric, context), metric.default);
}

function withDefault(expr: Expr, value: number | undefined): Expr {
  if (value === undefined) return expr;
  return { kind: 'call', parts: ['COALESCE(', expr, ', ', { kind: 'literal', value }, ')'] };
}

function expandRule(resolver: MetricResolver, metric: ModelMetric, context: MetricContext): Expr {
  const { definition, dataset: home } = metric;
  const address = metricAddress(metric);
  const inner = contextWithin(metric, context);
  resolver.usedMetrics.add(address);
  context.trace.files.add(metric.file);
  const resolveName = (name: string, options: Partial<MetricContext> = {}): Expr =>
    resolveMetricName(resolver, name.split('.'), { ...inner, ...options });
  switch (definition.kind) {
    case 'aggregate': {
      const of = definition.of && { ...wholePiece(definition.of), home };
      return addAggregate(resolver, { ...definition, of }, inner);
    }
    case 'expression':
      return resolveArithmetic(resolver, wholePiece(definition.fragment), inner);
    case 'nested':
      return addNestedAggregate(resolver, definition, inner);
    case 'ratio':
      context.trace.isLinear = false;
      return quotient(resolveName(definition.numerator), resolveName(definition.denominator));
    case 'total':
      context.trace.isLinear = false;
      if (context.total !== undefined) throw nestedTotalError(address);
      return resolveName(definition.of, { total: definition.by });
    case 'offset':
      return resolveName(definition.of, { shift: [...context.shift, definition.by] });
    case 'running':
      if (context.running !== undefined) throw nestedRunningError(address);
      return resolveName(definition.of, { running: definition.running });
    case 'spine_offset':
    case 'spine_running':
      return resolveName(definition.of, { spine: addSpineRule(context, definition, address) });
    case 'conversion':
      return addConversion(resolver, definition, inner);
  }
  return definition satisfies never;
}

/** What surrounds the definition of a metric: its own options beside those of the context. */
function contextWithin(metric: ModelMetric, context: MetricContext): MetricContext {
  const { dataset: home, where, balance, time, keepsNull, joinsTimeSpine } = metric;
  const filter = where === undefined ? [] : [{ ...wholePiece(where), home }];
  const spine: SpineUse = { offsets: [], running: undefined, ...context.spine, fills: true };
  return {
    ...context,
    home,
    where: [...context.where, ...filter],
    balance: balance ?? context.balance,
    time: time ?? context.time,
    keepsNull,
    spine: joinsTimeSpine ? spine : context.spine,
    stack: enterMetric(context.stack, metricAddress(metric)),
    isUnreviewed: metric.unreviewed,
  };
}

/** The rule inside those of the context. Throws if their order has no meaning. */
function addSpineRule(
  { spine }: MetricContext,
  rule: Extract<MetricRule, { kind: 'spine_offset' | 'spine_running' }>,
  address: string,
): SpineUse {
  const { offsets = [], running, fills = false } = spine ?? {};
  if (running !== undefined) throw nestedRunningError(address);
  return rule.kind === 'spine_running'
    ? { offsets, running: rule.running, fills }
    : { offsets: [...offsets, rule.offset], running, fills };
}

function nestedTotalError(address: string) {
  return queryError(
    'nested',
    `${address} is a total of totals`,
    'Take the total of the metric itself.',
  );
}

function nestedRunningError(address: string) {
  return queryError(
    'nested',
    `${address} accumulates a metric that already accumulates`,
    'Accumulate the metric itself.',
  );
}

/**
 * Adds an aggregate over the values of an inner query. The inner aggregates are columns of that
 * query, not of the result.
 */
function addNestedAggregate(
  resolver: MetricResolver,
  nested: { function: Aggregate; fraction: number | undefined; of: Fragment; per: string },
  context: MetricContext,
): Expr {
  const inner: MetricResolver = { ...resolver, aggregates: new Map() };
  const innerTrace = emptyTrace();
  const of = resolveArithmetic(inner, wholePiece(nested.of), {
    ...context,
    total: undefined,
    trace: innerTrace,
  });
  for (const file of innerTrace.files) context.trace.files.add(file);
  context.trace.isLinear = false;
  const aggregates = [...inner.aggregates.values()];
  checkNestedAggregates(`${nested.of.text} per ${nested.per}`, aggregates);
  const isBareName = !nested.per.includes('.') && context.home !== undefined;
  const per = isBareName ? `${context.home}.${nested.per}` : nested.per;
  return internAggregate(
    resolver,
    {
      label: context.stack.at(-1) ?? nested.function,
      owner: aggregates[0]?.owner ?? '',
      function: nested.function,
      fraction: nested.fraction,
      of: undefined,
      where: [],
      balance: undefined,
      shift: [],
      running: undefined,
      nested: { of, aggregates, per },
      total: context.total,
    },
    context.trace,
  );
}

/** Throws unless one fact query computes all of the inner aggregates. */
function checkNestedAggregates(text: string, aggregates: readonly AggregateNode[]): void {
  const factQueries = new Set(aggregates.map(factQueryKey)).size;
  if (factQueries !== 1) {
    const fault = factQueries === 0 ? 'aggregates nothing' : 'needs rows of several datasets';
    throw queryError(
      'nested',
      `The inner part of ${text} ${fault}`,
      'Aggregate one dataset inside, like avg(sum(orders.amount)) per orders.customer_id.',
    );
  }
  const isOverTime = ({ running, total, spine }: AggregateNode) =>
    running !== undefined || total !== undefined || spine !== undefined;
  if (aggregates.some(isOverTime)) {
    throw notSupportedError('a running or other total inside another aggregate', `${text} is one`);
  }
}

/** Adds the aggregate of a conversion. The filters of the context apply to the base events. */
function addConversion(
  resolver: MetricResolver,
  rule: ConversionRule,
  context: MetricContext,
): Expr {
  if (context.running !== undefined) {
    throw notSupportedError(
      'a running total of a conversion',
      'Accumulate the metrics that it is made of',
    );
  }
  const baseAggregate = resolveSingleAggregate(resolver, rule.base, context);
  const toAggregate = resolveSingleAggregate(resolver, rule.to, { ...context, where: [] });
  const { shift, trace, total } = context;
  const conversions = internAggregate(
    resolver,
    {
      label: context.stack.at(-1) ?? rule.to,
      owner: baseAggregate.owner,
      time: baseAggregate.time,
      keepsNull: toAggregate.keepsNull,
      function: toAggregate.function,
      fraction: toAggregate.fraction,
      of: undefined,
      where: [],
      balance: undefined,
      shift,
      running: undefined,
      nested: undefined,
      total,
      conversion: { ...rule, baseAggregate, toAggregate },
    },
    trace,
  );
  const fill = findMetric(resolver.model, rule.to.split('.'), context.home)?.default;
  const counted = withDefault(conversions, fill);
  if (rule.calculation === 'conversions') return counted;
  trace.isLinear = false;
  return quotient(counted, resolveMetricName(resolver, rule.base.split('.'), context));
}

/** Resolves a metric that has to be one plain aggregate of rows. Throws `conversion` otherwise. */
function resolveSingleAggregate(
  resolver: MetricResolver,
  name: string,
  context: MetricContext,
): AggregateNode {
  const inner: MetricResolver = { ...resolver, aggregates: new Map() };
  const trace = emptyTrace();
  const own = { ...context, shift: [], trace };
  const metric = findMetric(resolver.model, name.split('.'), context.home);
  const expr =
    metric === undefined
      ? resolveMetricName(inner, name.split('.'), own)
      : expandRule(inner, metric, own);
  for (const file of trace.files) context.trace.files.add(file);
  const [node, ...more] = inner.aggregates.values();
  const isSingle = more.length === 0 && expr.kind === 'output_column';
  if (node !== undefined && isSingle && isPlainAggregate(node)) return node;
  throw queryError(
    'conversion',
    `${name} is not a plain aggregate of the rows of one dataset`,
    'A conversion is made of metrics with agg: count, sum…',
  );
}
