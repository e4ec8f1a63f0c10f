import { UserError } from '../lib/error.ts';
import type { Span } from '../sql/analyzer.ts';
import { type AggregateCall, type Fragment, parseFragment, type Reference } from '../sql/expression.ts';
import { algebraOf } from './algebra.ts';
import type { Aggregate } from './dataset.ts';
import { notSupported, unknownName } from './errors.ts';
import { type Expr, wholeSpan } from './expr.ts';
import { metricAddress, type ModelMetric, type SemanticModel } from './model.ts';
import { reaches } from './paths.ts';
import type { RowText } from './scope.ts';

/** One aggregate over the rows of one dataset. */
export interface Leaf {
  readonly owner: string;
  readonly function: Aggregate;
  readonly of: RowText | undefined;
  readonly fraction: number | undefined;
  readonly where: readonly RowText[];
}

/** What a metric is made of; collected while it is resolved. */
export interface Trace {
  readonly leaves: Set<number>;
  readonly files: Set<string>;
  curated: boolean;
  /** Sums of leaves only, so that it adds up when its leaves do. */
  linear: boolean;
}

/** Resolves metrics to arithmetic over leaves; equal leaves are one. */
export interface Resolver {
  readonly model: SemanticModel;
  /** `{name, expr}` metrics of the query. */
  readonly named: ReadonlyMap<string, Fragment>;
  readonly names: ReadonlySet<string>;
  readonly leaves: Leaf[];
  readonly leafKeys: Map<string, number>;
}

/** Where an expression stands: its dataset (undefined in a query), the filters around it, the metrics that led to it. */
interface Context {
  readonly home: string | undefined;
  readonly where: readonly RowText[];
  readonly stack: readonly string[];
  readonly trace: Trace;
}

export function newTrace(): Trace {
  return { leaves: new Set(), files: new Set(), curated: true, linear: true };
}

/** A metric of a query: a name, the query's own names first, or arithmetic over aggregates and names. */
export function queryMetric(resolver: Resolver, text: string, trace: Trace): Expr {
  const fragment =
    resolver.named.get(text) ?? parseFragment(text, { dialect: resolver.model.dialect, origin: 'query', names: resolver.names });
  return queryAlgebra(resolver, { fragment, span: wholeSpan(fragment) }, trace);
}

export function queryAlgebra(resolver: Resolver, piece: { fragment: Fragment; span: Span }, trace: Trace): Expr {
  const only = piece.fragment.references[0];
  if (only?.start !== piece.span.start || only.end !== piece.span.end) trace.curated = false;
  return algebra(resolver, piece, { home: undefined, where: [], stack: [], trace });
}

/** A metric of the model, on its own. */
export function resolveMetric(resolver: Resolver, metric: ModelMetric, trace: Trace): Expr {
  return metricExpr(resolver, metric, { home: '', where: [], stack: [], trace });
}

/** The metric that a name in a query means; undefined where it means none. */
export function findMetric(model: SemanticModel, parts: readonly string[], home?: string): ModelMetric | undefined {
  const [first = '', second] = parts;
  if (parts.length === 2 && second !== undefined) return visible(model.datasets.get(first)?.metrics.get(second), home);
  if (parts.length !== 1) return undefined;
  const own = home === undefined ? undefined : model.datasets.get(home)?.metrics.get(first);
  if (own !== undefined) return own;
  const all = [...model.datasets.values()].map((dataset) => dataset.metrics.get(first));
  const found = [model.spanning.get(first), ...all].flatMap((metric) => visible(metric, home) ?? []);
  if (found.length <= 1) return found[0];
  const choices = found.map(metricAddress);
  throw new UserError('ambiguous_name', `The metric ${first} is ambiguous: ${choices.join(', ')}`, {
    hint: 'Write it with its dataset.',
    exitCode: 2,
    details: { choices },
  });
}

/** Model text may use hidden metrics, a query may not. */
function visible(metric: ModelMetric | undefined, home: string | undefined): ModelMetric | undefined {
  return metric?.hidden === true && home === undefined ? undefined : metric;
}

function algebra(resolver: Resolver, piece: { fragment: Fragment; span: Span }, context: Context): Expr {
  const { fragment, span } = piece;
  if (!isLinear(fragment)) context.trace.linear = false;
  return algebraOf(fragment, span, {
    aggregate: (call) => leafOf(resolver, { fragment, call }, context),
    reference: (reference) => referenceExpr(resolver, reference, context),
  });
}

/** Only sums and differences of aggregates and metrics. */
function isLinear(fragment: Fragment): boolean {
  const atoms: readonly Span[] = [...fragment.aggregates, ...fragment.references];
  const rest = fragment.tokens.filter((token) => !atoms.some((atom) => token.start >= atom.start && token.end <= atom.end));
  return rest.every((token) => '()+-'.includes(token.text));
}

function referenceExpr(resolver: Resolver, reference: Reference, context: Context): Expr {
  const [first = ''] = reference.parts;
  const named = context.home === undefined && reference.parts.length === 1 ? resolver.named.get(first) : undefined;
  if (named !== undefined) {
    context.trace.curated = false;
    return algebra(resolver, { fragment: named, span: wholeSpan(named) }, { ...context, stack: entered(context.stack, first) });
  }
  const metric = findMetric(resolver.model, reference.parts, context.home);
  if (metric === undefined) throw unknownMetric(resolver, reference.parts);
  return metricExpr(resolver, metric, context);
}

function metricExpr(resolver: Resolver, metric: ModelMetric, context: Context): Expr {
  const address = metricAddress(metric);
  context.trace.files.add(metric.file);
  const where = metric.where === undefined ? [] : [{ fragment: metric.where, span: wholeSpan(metric.where), home: metric.dataset }];
  const inner: Context = {
    home: metric.dataset ?? '',
    where: [...context.where, ...where],
    stack: entered(context.stack, address),
    trace: context.trace,
  };
  const { definition } = metric;
  switch (definition.kind) {
    case 'aggregate': {
      const of = definition.of && { fragment: definition.of, span: wholeSpan(definition.of), home: metric.dataset };
      return addLeaf(resolver, { ...definition, of }, inner);
    }
    case 'expression':
      return algebra(resolver, { fragment: definition.fragment, span: wholeSpan(definition.fragment) }, inner);
    case 'ratio': {
      context.trace.linear = false;
      const [numerator, denominator] = [definition.numerator, definition.denominator].map((name) => metricNamed(resolver, name, inner));
      if (numerator === undefined || denominator === undefined) throw new Error('a ratio has two sides');
      return { kind: 'divide', numerator, denominator };
    }
    case 'unsupported':
      throw notSupported(`${definition.feature} metrics`, `${address} is one`);
  }
  throw new Error(`unknown metric definition of ${address}`);
}

function metricNamed(resolver: Resolver, name: string, context: Context): Expr {
  const parts = name.split('.');
  const metric = findMetric(resolver.model, parts, context.home);
  if (metric === undefined) throw unknownMetric(resolver, parts);
  return metricExpr(resolver, metric, context);
}

function entered(stack: readonly string[], name: string): readonly string[] {
  if (!stack.includes(name)) return [...stack, name];
  throw new UserError('circular', `Circular metrics: ${[...stack, name].join(' → ')}`, {
    hint: 'A metric cannot be made of itself.',
    exitCode: 2,
  });
}

function leafOf(resolver: Resolver, piece: { fragment: Fragment; call: AggregateCall }, context: Context): Expr {
  const { fragment, call } = piece;
  const home = context.home === '' ? undefined : context.home;
  const of = call.argument && { fragment, span: call.argument, home };
  return addLeaf(resolver, { function: call.function, of, fraction: call.fraction }, context);
}

function addLeaf(resolver: Resolver, leaf: Omit<Leaf, 'owner' | 'where'>, context: Context): Expr {
  const owner = ownerOf(resolver.model, leaf, context.home === '' ? undefined : context.home);
  const full: Leaf = { owner, function: leaf.function, of: leaf.of, fraction: leaf.fraction, where: context.where };
  const key = JSON.stringify([owner, full.function, full.fraction, full.of && rowKey(full.of), full.where.map(rowKey)]);
  const index = resolver.leafKeys.get(key) ?? resolver.leaves.push(full) - 1;
  resolver.leafKeys.set(key, index);
  context.trace.leaves.add(index);
  return { kind: 'result', column: leafColumn(index) };
}

export function leafColumn(index: number): string {
  return `m${index + 1}`;
}

function rowKey(row: RowText): readonly (string | undefined)[] {
  return [row.home, row.fragment.text.slice(row.span.start, row.span.end)];
}

/** The dataset whose rows are aggregated: where the argument lives. */
function ownerOf(model: SemanticModel, leaf: Pick<Leaf, 'function' | 'of'>, home: string | undefined): string {
  const { of } = leaf;
  const references = of?.fragment.references.filter((it) => it.start >= of.span.start && it.end <= of.span.end) ?? [];
  const owners = [...new Set(references.map((reference) => anchorOf(model, reference, home)))];
  const [only] = owners;
  if (owners.length === 1 && only !== undefined) return only;
  const text = of === undefined ? 'count(*)' : of.fragment.text;
  if (owners.length === 0 && home !== undefined) return home;
  if (owners.length === 0) {
    throw new UserError('no_owner', `${text} does not say whose rows to aggregate`, {
      hint: 'Name a field, like count(orders.id), or use a metric.',
      exitCode: 2,
    });
  }
  if (home !== undefined && owners.includes(home) && owners.every((owner) => reaches(model, home, owner))) return home;
  throw notSupported('an aggregate over fields of several datasets', `${text} uses ${owners.join(' and ')}, so it is not clear whose rows count once`); // prettier-ignore
}

function anchorOf(model: SemanticModel, reference: Reference, home: string | undefined): string {
  const [first = ''] = reference.parts;
  if (reference.parts.length === 1 && home !== undefined) return home;
  if (reference.parts.length === 2 && model.datasets.has(first)) return first;
  if (reference.parts.length === 1) {
    throw new UserError('unknown_name', `The name ${first} is unknown inside an aggregate`, {
      hint: 'Write a field with its dataset, like orders.amount.',
      exitCode: 2,
    });
  }
  if (reference.parts.length === 2 && home === undefined) {
    throw unknownName({ what: 'dataset', name: first, candidates: model.datasets.keys() });
  }
  throw notSupported('an aggregate over a path of roles', `${reference.parts.join('.')} is one; aggregate dataset.field`);
}

function unknownMetric(resolver: Resolver, parts: readonly string[]): UserError {
  const name = parts.join('.');
  const { model } = resolver;
  const dataset = parts.length === 2 ? model.datasets.get(parts[0] ?? '') : undefined;
  if (dataset?.fields.get(parts[1] ?? '')?.hidden === false) {
    return new UserError('unknown_name', `${name} is a field, not a metric`, {
      hint: `Aggregate it, like sum(${name}), or ask for it as a dimension.`,
      exitCode: 2,
    });
  }
  const all = [...model.datasets.values()].flatMap((it) => [...it.metrics.values()]);
  const candidates = [...all, ...model.spanning.values()].filter((metric) => !metric.hidden);
  const names = candidates.flatMap((metric) => (parts.length === 1 ? [metric.name, metricAddress(metric)] : [metricAddress(metric)]));
  const left = model.excluded.has(parts[0] ?? '') ? `: the file of ${parts[0]} has errors` : '';
  return unknownName({ what: 'metric', name, candidates: [...resolver.named.keys(), ...names], note: left });
}
