import { type Fragment, parseFragment } from '../../sql/fragment.ts';
import type { Period } from '../../sql/dialect.ts';
import { arithmeticExpr, isLinear } from './arithmetic.ts';
import { type Aggregate, aggregateFunctions } from '../../sql/aggregates.ts';
import { ambiguousError, notSupportedError, queryError } from '../query/errors.ts';
import { type Expr, quotient, replaceResults } from '../relational/query-tree.ts';
import { type SqlPiece, wholePiece } from '../relational/sql-piece.ts';
import {
  type Balance,
  type ConversionRule,
  metricAddress,
  type ModelMetric,
  type Running,
  type SemanticModel,
} from '../model/model.ts';
import {
  factQueryKey,
  isPlainAggregate,
  type AggregateNode,
  emptyTrace,
  type MetricTrace,
} from './aggregate-node.ts';
import { factTableOf } from './fact-table.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { RowSql } from './row-expr.ts';
import { unknownMetricError } from './unknown-metric.ts';

/** Resolves metrics to arithmetic over leaves; equal leaves are one. */
export interface MetricResolver {
  readonly model: SemanticModel;
  /** `{name, expr}` metrics of the query. */
  readonly queryMetrics: ReadonlyMap<string, QueryFormula>;
  /** By what they compute. */
  readonly aggregates: Map<string, AggregateNode>;
  /** Addresses of the metrics of the model that were met, however deep. */
  readonly usedMetrics: Set<string>;
}

/** Arithmetic, or the aggregate of what it says for each value of a field: `avg(sum(orders.amount)) per customers.id`. */
interface QueryFormula {
  readonly fragment: Fragment;
  readonly around: { readonly function: Aggregate; readonly per: string } | undefined;
}

/** Where an expression stands: its dataset (undefined in a query), the filters around it, the metrics that led to it. */
interface MetricContext {
  readonly home: string | undefined;
  readonly where: readonly RowSql[];
  readonly balance: Balance | undefined;
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  readonly total: readonly string[] | undefined;
  readonly stack: readonly string[];
  readonly trace: MetricTrace;
}

export function createResolver(
  model: SemanticModel,
  metrics: SemanticQuery['metrics'],
  used = new Set<string>(),
): MetricResolver {
  const own = metrics.filter((metric) => typeof metric !== 'string');
  const names = new Set(own.map((metric) => metric.name));
  return {
    model,
    queryMetrics: new Map(own.map(({ name, expr }) => [name, parseFormula(model, expr, names)])),
    aggregates: new Map(),
    usedMetrics: used,
  };
}

const perPattern = /^\s*(sum|count|avg|min|max|median)\s*\((.+)\)\s+per\s+([A-Za-z_][\w.]*)\s*$/is;

function parseFormula(
  model: SemanticModel,
  text: string,
  names: ReadonlySet<string>,
): QueryFormula {
  const [, name = '', inner, per = ''] = perPattern.exec(text) ?? [];
  const outer = aggregateFunctions.find((one) => one === name.toLowerCase());
  const use = { dialect: model.dialect, origin: 'query' as const, names };
  if (inner === undefined || outer === undefined)
    return { fragment: parseFragment(text, use), around: undefined };
  return { fragment: parseFragment(inner, use), around: { function: outer, per } };
}

/** Of an expression that is used as it is: arithmetic across blocks counts a sum without rows as 0. */
export function withZeroForMissingSums(
  build: (trace: MetricTrace) => Expr,
  trace: MetricTrace = emptyTrace(),
): Expr {
  const expr = build(trace);
  if (new Set([...trace.aggregates].map(factQueryKey)).size < 2) return expr;
  const sums = new Set(
    [...trace.aggregates].flatMap((leaf) => (leaf.function === 'sum' ? [leaf.column] : [])),
  );
  return replaceResults(expr, (result) =>
    sums.has(result.column) ? { kind: 'call', parts: ['COALESCE(', result, ', 0)'] } : result,
  );
}

export function parseQueryFragment(
  { model, queryMetrics: named }: MetricResolver,
  text: string,
): Fragment {
  return parseFragment(text, {
    dialect: model.dialect,
    origin: 'query',
    names: new Set(named.keys()),
  });
}

/** A metric of a query: a name, the query's own names first, or arithmetic over aggregates and names. */
export function resolveQueryMetric(
  resolver: MetricResolver,
  text: string,
  trace: MetricTrace,
): Expr {
  const { model, queryMetrics: named } = resolver;
  const formula = named.get(text) ?? parseFormula(model, text, new Set(named.keys()));
  if (formula.around === undefined)
    return resolveQueryExpression(resolver, wholePiece(formula.fragment), trace);
  return resolveFormula(resolver, formula, { ...top, trace });
}

const top = {
  home: undefined,
  where: [],
  balance: undefined,
  shift: [],
  running: undefined,
  total: undefined,
  stack: [],
};

function resolveFormula(
  resolver: MetricResolver,
  { fragment, around }: QueryFormula,
  context: MetricContext,
): Expr {
  if (around === undefined) return resolveArithmetic(resolver, wholePiece(fragment), context);
  return addNestedAggregate(resolver, { ...around, of: fragment, fraction: undefined }, context);
}

export function resolveQueryExpression(
  resolver: MetricResolver,
  piece: SqlPiece,
  trace: MetricTrace,
): Expr {
  const only = piece.fragment.references[0];
  const isName = only?.start === piece.span.start && only.end === piece.span.end;
  if (isName && !resolver.queryMetrics.has(only.parts.join('.')))
    trace.metric = findMetric(resolver.model, only.parts);
  return resolveArithmetic(resolver, piece, { ...top, trace });
}

/** A metric of the model, on its own. */
export function resolveMetric(resolver: MetricResolver, metric: ModelMetric): Expr {
  return expandMetric(resolver, metric, { ...top, home: metric.dataset, trace: emptyTrace() });
}

/** The metric that a name means; undefined where it means none. Model text, which has a home, may use hidden metrics, a query may not. */
export function findMetric(
  model: SemanticModel,
  parts: readonly string[],
  home?: string,
): ModelMetric | undefined {
  const [first = '', second] = parts;
  const named = (dataset: string, name: string): ModelMetric | undefined => {
    const metric = model.datasets.get(dataset)?.metrics.get(name);
    return metric?.hidden === true && home === undefined ? undefined : metric;
  };
  if (second !== undefined) return parts.length === 2 ? named(first, second) : undefined;
  const own = home === undefined ? undefined : named(home, first);
  if (own !== undefined) return own;
  const found = [...model.datasets.keys()].flatMap((dataset) => named(dataset, first) ?? []);
  if (found.length <= 1) return found[0];
  throw ambiguousError(
    'ambiguous_name',
    `The metric ${first} is ambiguous`,
    found.map(metricAddress),
  );
}

function resolveArithmetic(
  resolver: MetricResolver,
  piece: SqlPiece,
  context: MetricContext,
): Expr {
  const { fragment } = piece;
  if (!isLinear(fragment)) context.trace.isLinear = false;
  return arithmeticExpr(piece, {
    aggregate: ({ function: name, argument, fraction }) =>
      addAggregate(
        resolver,
        {
          function: name,
          of: argument && { fragment, span: argument, home: context.home },
          fraction,
        },
        context,
      ),
    reference: ({ parts }) => resolveMetricName(resolver, parts, context),
  });
}

function resolveMetricName(
  resolver: MetricResolver,
  parts: readonly string[],
  context: MetricContext,
): Expr {
  const name = parts.join('.');
  const named = context.home === undefined ? resolver.queryMetrics.get(name) : undefined;
  if (named !== undefined)
    return resolveFormula(resolver, named, { ...context, stack: enterMetric(context.stack, name) });
  const metric = findMetric(resolver.model, parts, context.home);
  if (metric === undefined) throw unknownMetricError(resolver, parts);
  return expandMetric(resolver, metric, context);
}

function expandMetric(
  resolver: MetricResolver,
  metric: ModelMetric,
  { where, stack, ...rest }: MetricContext,
): Expr {
  const { definition, dataset: home } = metric;
  const address = metricAddress(metric);
  const own = metric.where === undefined ? [] : [{ ...wholePiece(metric.where), home }];
  const inner: MetricContext = {
    ...rest,
    home,
    where: [...where, ...own],
    balance: metric.balance ?? rest.balance,
    stack: enterMetric(stack, address),
  };
  const { trace, shift } = rest;
  resolver.usedMetrics.add(address);
  trace.files.add(metric.file);
  switch (definition.kind) {
    case 'aggregate':
      return addAggregate(
        resolver,
        { ...definition, of: definition.of && { ...wholePiece(definition.of), home } },
        inner,
      );
    case 'expression':
      return resolveArithmetic(resolver, wholePiece(definition.fragment), inner);
    case 'nested':
      return addNestedAggregate(resolver, definition, inner);
    case 'ratio':
      trace.isLinear = false;
      return quotient(
        resolveMetricName(resolver, definition.numerator.split('.'), inner),
        resolveMetricName(resolver, definition.denominator.split('.'), inner),
      );
    case 'total':
      trace.isLinear = false;
      if (rest.total !== undefined)
        throw queryError(
          'nested',
          `${address} is a total of totals`,
          'Take the total of the metric itself.',
        );
      return resolveMetricName(resolver, definition.of.split('.'), {
        ...inner,
        total: definition.by,
      });
    case 'offset':
      return resolveMetricName(resolver, definition.of.split('.'), {
        ...inner,
        shift: [...shift, definition.by],
      });
    case 'running':
      if (rest.running !== undefined)
        throw queryError(
          'nested',
          `${address} runs over a running metric`,
          'Accumulate the metric itself.',
        );
      return resolveMetricName(resolver, definition.of.split('.'), {
        ...inner,
        running: definition.running,
      });
    case 'conversion':
      return addConversion(resolver, definition, inner);
  }
  return definition satisfies never;
}

function enterMetric(stack: readonly string[], name: string): readonly string[] {
  if (!stack.includes(name)) return [...stack, name];
  throw queryError(
    'circular',
    `Circular metrics: ${[...stack, name].join(' → ')}`,
    'A metric cannot be made of itself.',
  );
}

function addAggregate(
  resolver: MetricResolver,
  aggregate: Pick<AggregateNode, 'function' | 'of' | 'fraction'>,
  context: MetricContext,
): Expr {
  const { home, where: around, balance, shift, running, total } = context;
  const { function: name, fraction } = aggregate;
  const owned = factTableOf(resolver.model, aggregate.of, { home, where: around });
  if (balance !== undefined && running !== undefined) {
    throw notSupportedError(
      'a running semi-additive metric',
      'Its values must not be added up over time',
    );
  }
  if (balance !== undefined) checkBalance(resolver.model, balance, { owner: owned.owner, home });
  return internAggregate(
    resolver,
    { ...owned, function: name, fraction, balance, shift, running, nested: undefined, total },
    context.trace,
  );
}

/** Equal leaves are one. */
function internAggregate(
  { aggregates: leaves }: MetricResolver,
  leaf: Omit<AggregateNode, 'column'>,
  trace: MetricTrace,
): Expr {
  const textOf = (row: RowSql) => [row.home, row.fragment.text.slice(row.span.start, row.span.end)];
  const {
    owner,
    function: name,
    fraction,
    of,
    where,
    balance,
    shift,
    running,
    nested,
    total,
    conversion,
  } = leaf;
  const key = JSON.stringify([
    owner,
    name,
    fraction,
    of && textOf(of),
    where.map(textOf),
    balance,
    shift,
    running,
    nested && [
      nested.per,
      nested.of,
      [...nested.aggregates].map((it) => [
        it.function,
        it.of && textOf(it.of),
        it.where.map(textOf),
        it.balance,
        it.shift,
      ]),
    ],
    total,
    conversion && [
      conversion.base,
      conversion.to,
      conversion.on,
      conversion.window,
      conversion.baseAggregate.where.map(textOf),
    ],
  ]);
  const kept = leaves.get(key) ?? { ...leaf, column: `m${leaves.size + 1}` };
  leaves.set(key, kept);
  trace.aggregates.add(kept);
  return { kind: 'result', column: kept.column };
}

/** What is inside is resolved for itself: its leaves are no columns of the result. */
function addNestedAggregate(
  resolver: MetricResolver,
  nested: { function: Aggregate; fraction: number | undefined; of: Fragment; per: string },
  context: MetricContext,
): Expr {
  const inner: MetricResolver = { ...resolver, aggregates: new Map() };
  const trace = emptyTrace();
  const of = resolveArithmetic(inner, wholePiece(nested.of), {
    ...context,
    total: undefined,
    trace,
  });
  const leaves = [...inner.aggregates.values()];
  const [first, ...others] = new Set(leaves.map(factQueryKey));
  for (const file of trace.files) context.trace.files.add(file);
  context.trace.isLinear = false;
  const owner = leaves[0]?.owner ?? '';
  if (first === undefined || others.length > 0) {
    const why = first === undefined ? 'aggregates nothing' : 'needs rows of several datasets';
    throw queryError(
      'nested',
      `What is inside ${nested.of.text} per ${nested.per} ${why}`,
      'Aggregate one dataset inside, like avg(sum(orders.amount)) per orders.customer_id.',
    );
  }
  if (leaves.some(({ running, total }) => running !== undefined || total !== undefined)) {
    throw notSupportedError(
      'a running or other total inside another aggregate',
      `${nested.of.text} per ${nested.per} is one`,
    );
  }
  const per =
    nested.per.includes('.') || context.home === undefined
      ? nested.per
      : `${context.home}.${nested.per}`;
  const { function: name, fraction } = nested;
  return internAggregate(
    resolver,
    {
      owner,
      function: name,
      fraction,
      of: undefined,
      where: [],
      balance: undefined,
      shift: [],
      running: undefined,
      nested: { of, aggregates: leaves, per },
      total: context.total,
    },
    context.trace,
  );
}

/** Conditions around it are about the first events. */
function addConversion(
  resolver: MetricResolver,
  rule: ConversionRule,
  context: MetricContext,
): Expr {
  const single = (name: string, where: readonly RowSql[]): AggregateNode => {
    const inner: MetricResolver = { ...resolver, aggregates: new Map() };
    const trace = emptyTrace();
    const expr = resolveMetricName(inner, name.split('.'), { ...context, where, shift: [], trace });
    for (const file of trace.files) context.trace.files.add(file);
    const [leaf, ...others] = inner.aggregates.values();
    if (
      leaf !== undefined &&
      others.length === 0 &&
      expr.kind === 'result' &&
      isPlainAggregate(leaf)
    )
      return leaf;
    throw queryError(
      'conversion',
      `${name} is no aggregate of the rows of one dataset`,
      'A conversion is made of metrics with agg: count, sum…',
    );
  };
  if (context.running !== undefined)
    throw notSupportedError('a running total of a conversion', 'Accumulate what it is made of');
  const [from, next] = [single(rule.base, context.where), single(rule.to, [])];
  const { shift, trace, total } = context;
  const { function: name, fraction } = next;
  const none = {
    of: undefined,
    where: [],
    balance: undefined,
    running: undefined,
    nested: undefined,
  };
  const leaf = {
    ...none,
    owner: from.owner,
    function: name,
    fraction,
    shift,
    total,
    conversion: { ...rule, baseAggregate: from, toAggregate: next },
  };
  const conversions = internAggregate(resolver, leaf, trace);
  if (rule.calculation === 'conversions') return conversions;
  trace.isLinear = false;
  return quotient(conversions, resolveMetricName(resolver, rule.base.split('.'), context));
}

function checkBalance(
  model: SemanticModel,
  { over, per }: Balance,
  { owner, home }: { owner: string; home: string | undefined },
): void {
  const dataset = model.datasets.get(owner);
  const unknown = `needs per: the primary key does not contain ${over}, so it is not known whose values they are`;
  const [fault] = [
    ...(owner === home ? [] : [`aggregates rows of ${owner}, not of ${home}`]),
    ...(per === undefined ? [unknown] : []),
    ...[over, ...(per ?? [])].flatMap((name) =>
      dataset?.fields.has(name) === true ? [] : [`names ${name}, which is no field of ${owner}`],
    ),
  ];
  if (fault === undefined) return;
  throw queryError(
    'semi_additive',
    `A semi-additive metric ${fault}`,
    'For example semi_additive: {over: day, take: last, per: [account_id]}.',
  );
}
