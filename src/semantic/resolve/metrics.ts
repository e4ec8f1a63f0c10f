import { type Fragment, parseFragment } from '../../sql/expression.ts';
import type { Period } from '../../sql/dialect.ts';
import { algebraOf, isLinear } from './algebra.ts';
import { type Aggregate, aggregates } from '../model/dataset.ts';
import { ambiguous, notSupported, refused } from '../query/errors.ts';
import { type Expr, type Piece, quotient, wholeOf, withResults } from '../sql/expr.ts';
import {
  type Balance,
  type ConversionRule,
  metricAddress,
  type ModelMetric,
  type Running,
  type SemanticModel,
} from '../model/model.ts';
import { blockKey, isPlain, type AggregateNode, newTrace, type Trace } from './aggregate-node.ts';
import { ownedBy } from './fact-table.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { RowText } from './scope.ts';
import { unknownMetric } from '../query/unknown-metric.ts';

/** Resolves metrics to arithmetic over leaves; equal leaves are one. */
export interface Resolver {
  readonly model: SemanticModel;
  /** `{name, expr}` metrics of the query. */
  readonly named: ReadonlyMap<string, Formula>;
  /** By what they compute. */
  readonly leaves: Map<string, AggregateNode>;
  /** Addresses of the metrics of the model that were met, however deep. */
  readonly used: Set<string>;
}

/** Arithmetic, or the aggregate of what it says for each value of a field: `avg(sum(orders.amount)) per customers.id`. */
interface Formula {
  readonly fragment: Fragment;
  readonly around: { readonly function: Aggregate; readonly per: string } | undefined;
}

/** Where an expression stands: its dataset (undefined in a query), the filters around it, the metrics that led to it. */
interface Context {
  readonly home: string | undefined;
  readonly where: readonly RowText[];
  readonly balance: Balance | undefined;
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  readonly total: readonly string[] | undefined;
  readonly stack: readonly string[];
  readonly trace: Trace;
}

export function openResolver(
  model: SemanticModel,
  metrics: SemanticQuery['metrics'],
  used = new Set<string>(),
): Resolver {
  const own = metrics.filter((metric) => typeof metric !== 'string');
  const names = new Set(own.map((metric) => metric.name));
  return {
    model,
    named: new Map(own.map(({ name, expr }) => [name, formulaOf(model, expr, names)])),
    leaves: new Map(),
    used,
  };
}

const perPattern = /^\s*(sum|count|avg|min|max|median)\s*\((.+)\)\s+per\s+([A-Za-z_][\w.]*)\s*$/is;

function formulaOf(model: SemanticModel, text: string, names: ReadonlySet<string>): Formula {
  const [, name = '', inner, per = ''] = perPattern.exec(text) ?? [];
  const outer = aggregates.find((one) => one === name.toLowerCase());
  const use = { dialect: model.dialect, origin: 'query' as const, names };
  if (inner === undefined || outer === undefined)
    return { fragment: parseFragment(text, use), around: undefined };
  return { fragment: parseFragment(inner, use), around: { function: outer, per } };
}

/** Of an expression that is used as it is: arithmetic across blocks counts a sum without rows as 0. */
export function completed(build: (trace: Trace) => Expr, trace: Trace = newTrace()): Expr {
  const expr = build(trace);
  if (new Set([...trace.leaves].map(blockKey)).size < 2) return expr;
  const sums = new Set(
    [...trace.leaves].flatMap((leaf) => (leaf.function === 'sum' ? [leaf.column] : [])),
  );
  return withResults(expr, (result) =>
    sums.has(result.column) ? { kind: 'call', parts: ['COALESCE(', result, ', 0)'] } : result,
  );
}

export function queryFragment({ model, named }: Resolver, text: string): Fragment {
  return parseFragment(text, {
    dialect: model.dialect,
    origin: 'query',
    names: new Set(named.keys()),
  });
}

/** A metric of a query: a name, the query's own names first, or arithmetic over aggregates and names. */
export function queryMetric(resolver: Resolver, text: string, trace: Trace): Expr {
  const { model, named } = resolver;
  const formula = named.get(text) ?? formulaOf(model, text, new Set(named.keys()));
  if (formula.around === undefined) return queryAlgebra(resolver, wholeOf(formula.fragment), trace);
  return formulaExpr(resolver, formula, { ...top, trace });
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

function formulaExpr(resolver: Resolver, { fragment, around }: Formula, context: Context): Expr {
  if (around === undefined) return algebra(resolver, wholeOf(fragment), context);
  return addNested(resolver, { ...around, of: fragment, fraction: undefined }, context);
}

export function queryAlgebra(resolver: Resolver, piece: Piece, trace: Trace): Expr {
  const only = piece.fragment.references[0];
  const isName = only?.start === piece.span.start && only.end === piece.span.end;
  if (isName && !resolver.named.has(only.parts.join('.')))
    trace.metric = findMetric(resolver.model, only.parts);
  return algebra(resolver, piece, { ...top, trace });
}

/** A metric of the model, on its own. */
export function resolveMetric(resolver: Resolver, metric: ModelMetric): Expr {
  return metricExpr(resolver, metric, { ...top, home: metric.dataset, trace: newTrace() });
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
  throw ambiguous('ambiguous_name', `The metric ${first} is ambiguous`, found.map(metricAddress));
}

function algebra(resolver: Resolver, piece: Piece, context: Context): Expr {
  const { fragment } = piece;
  if (!isLinear(fragment)) context.trace.linear = false;
  return algebraOf(piece, {
    aggregate: ({ function: name, argument, fraction }) =>
      addLeaf(
        resolver,
        {
          function: name,
          of: argument && { fragment, span: argument, home: context.home },
          fraction,
        },
        context,
      ),
    reference: ({ parts }) => referenceExpr(resolver, parts, context),
  });
}

function referenceExpr(resolver: Resolver, parts: readonly string[], context: Context): Expr {
  const name = parts.join('.');
  const named = context.home === undefined ? resolver.named.get(name) : undefined;
  if (named !== undefined)
    return formulaExpr(resolver, named, { ...context, stack: entered(context.stack, name) });
  const metric = findMetric(resolver.model, parts, context.home);
  if (metric === undefined) throw unknownMetric(resolver, parts);
  return metricExpr(resolver, metric, context);
}

function metricExpr(
  resolver: Resolver,
  metric: ModelMetric,
  { where, stack, ...rest }: Context,
): Expr {
  const { definition, dataset: home } = metric;
  const address = metricAddress(metric);
  const own = metric.where === undefined ? [] : [{ ...wholeOf(metric.where), home }];
  const inner: Context = {
    ...rest,
    home,
    where: [...where, ...own],
    balance: metric.balance ?? rest.balance,
    stack: entered(stack, address),
  };
  const { trace, shift } = rest;
  resolver.used.add(address);
  trace.files.add(metric.file);
  switch (definition.kind) {
    case 'aggregate':
      return addLeaf(
        resolver,
        { ...definition, of: definition.of && { ...wholeOf(definition.of), home } },
        inner,
      );
    case 'expression':
      return algebra(resolver, wholeOf(definition.fragment), inner);
    case 'nested':
      return addNested(resolver, definition, inner);
    case 'ratio':
      trace.linear = false;
      return quotient(
        referenceExpr(resolver, definition.numerator.split('.'), inner),
        referenceExpr(resolver, definition.denominator.split('.'), inner),
      );
    case 'total':
      trace.linear = false;
      if (rest.total !== undefined)
        throw refused(
          'nested',
          `${address} is a total of totals`,
          'Take the total of the metric itself.',
        );
      return referenceExpr(resolver, definition.of.split('.'), { ...inner, total: definition.by });
    case 'offset':
      return referenceExpr(resolver, definition.of.split('.'), {
        ...inner,
        shift: [...shift, definition.by],
      });
    case 'running':
      if (rest.running !== undefined)
        throw refused(
          'nested',
          `${address} runs over a running metric`,
          'Accumulate the metric itself.',
        );
      return referenceExpr(resolver, definition.of.split('.'), {
        ...inner,
        running: definition.running,
      });
    case 'conversion':
      return addConversion(resolver, definition, inner);
  }
  return definition satisfies never;
}

function entered(stack: readonly string[], name: string): readonly string[] {
  if (!stack.includes(name)) return [...stack, name];
  throw refused(
    'circular',
    `Circular metrics: ${[...stack, name].join(' → ')}`,
    'A metric cannot be made of itself.',
  );
}

function addLeaf(
  resolver: Resolver,
  aggregate: Pick<AggregateNode, 'function' | 'of' | 'fraction'>,
  context: Context,
): Expr {
  const { home, where: around, balance, shift, running, total } = context;
  const { function: name, fraction } = aggregate;
  const owned = ownedBy(resolver.model, aggregate.of, { home, where: around });
  if (balance !== undefined && running !== undefined) {
    throw notSupported(
      'a running semi-additive metric',
      'Its values must not be added up over time',
    );
  }
  if (balance !== undefined) checkBalance(resolver.model, balance, { owner: owned.owner, home });
  return keptLeaf(
    resolver,
    { ...owned, function: name, fraction, balance, shift, running, nested: undefined, total },
    context.trace,
  );
}

/** Equal leaves are one. */
function keptLeaf({ leaves }: Resolver, leaf: Omit<AggregateNode, 'column'>, trace: Trace): Expr {
  const textOf = (row: RowText) => [
    row.home,
    row.fragment.text.slice(row.span.start, row.span.end),
  ];
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
      [...nested.leaves].map((it) => [
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
      conversion.from.where.map(textOf),
    ],
  ]);
  const kept = leaves.get(key) ?? { ...leaf, column: `m${leaves.size + 1}` };
  leaves.set(key, kept);
  trace.leaves.add(kept);
  return { kind: 'result', column: kept.column };
}

/** What is inside is resolved for itself: its leaves are no columns of the result. */
function addNested(
  resolver: Resolver,
  nested: { function: Aggregate; fraction: number | undefined; of: Fragment; per: string },
  context: Context,
): Expr {
  const inner: Resolver = { ...resolver, leaves: new Map() };
  const trace = newTrace();
  const of = algebra(inner, wholeOf(nested.of), { ...context, total: undefined, trace });
  const leaves = [...inner.leaves.values()];
  const [first, ...others] = new Set(leaves.map(blockKey));
  for (const file of trace.files) context.trace.files.add(file);
  context.trace.linear = false;
  const owner = leaves[0]?.owner ?? '';
  if (first === undefined || others.length > 0) {
    const why = first === undefined ? 'aggregates nothing' : 'needs rows of several datasets';
    throw refused(
      'nested',
      `What is inside ${nested.of.text} per ${nested.per} ${why}`,
      'Aggregate one dataset inside, like avg(sum(orders.amount)) per orders.customer_id.',
    );
  }
  if (leaves.some(({ running, total }) => running !== undefined || total !== undefined)) {
    throw notSupported(
      'a running or other total inside another aggregate',
      `${nested.of.text} per ${nested.per} is one`,
    );
  }
  const per =
    nested.per.includes('.') || context.home === undefined
      ? nested.per
      : `${context.home}.${nested.per}`;
  const { function: name, fraction } = nested;
  return keptLeaf(
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
      nested: { of, leaves, per },
      total: context.total,
    },
    context.trace,
  );
}

/** Conditions around it are about the first events. */
function addConversion(resolver: Resolver, rule: ConversionRule, context: Context): Expr {
  const single = (name: string, where: readonly RowText[]): AggregateNode => {
    const inner: Resolver = { ...resolver, leaves: new Map() };
    const trace = newTrace();
    const expr = referenceExpr(inner, name.split('.'), { ...context, where, shift: [], trace });
    for (const file of trace.files) context.trace.files.add(file);
    const [leaf, ...others] = inner.leaves.values();
    if (leaf !== undefined && others.length === 0 && expr.kind === 'result' && isPlain(leaf))
      return leaf;
    throw refused(
      'conversion',
      `${name} is no aggregate of the rows of one dataset`,
      'A conversion is made of metrics with agg: count, sum…',
    );
  };
  if (context.running !== undefined)
    throw notSupported('a running total of a conversion', 'Accumulate what it is made of');
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
    conversion: { ...rule, from, next },
  };
  const conversions = keptLeaf(resolver, leaf, trace);
  if (rule.calculation === 'conversions') return conversions;
  trace.linear = false;
  return quotient(conversions, referenceExpr(resolver, rule.base.split('.'), context));
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
  throw refused(
    'semi_additive',
    `A semi-additive metric ${fault}`,
    'For example semi_additive: {over: day, take: last, per: [account_id]}.',
  );
}
