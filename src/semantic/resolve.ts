import type { UserError } from '../lib/error.ts';
import { type Fragment, parseFragment, type Reference } from '../sql/expression.ts';
import { isWord } from '../sql/tokens.ts';
import { algebraOf, isLinear } from './algebra.ts';
import type { Aggregate } from './dataset.ts';
import { ambiguous, notSupported, refused, unknownName } from './errors.ts';
import { type Expr, type Piece, quotient, wholeOf, within } from './expr.ts';
import { metricAddress, type ModelMetric, type SemanticModel } from './model.ts';
import { reaches } from './paths.ts';
import type { SemanticQuery } from './query.ts';
import { visibleField } from './place.ts';
import type { RowText } from './scope.ts';

/** One aggregate over the rows of one dataset. */
export interface Leaf {
  /** Of the block that computes it. */
  readonly column: string;
  readonly owner: string;
  readonly function: Aggregate;
  readonly of: RowText | undefined;
  readonly fraction: number | undefined;
  readonly where: readonly RowText[];
}

/** What a metric is made of; collected while it is resolved. */
export interface Trace {
  readonly leaves: Set<Leaf>;
  readonly files: Set<string>;
  /** The one that it is, perhaps under another name; undefined for arithmetic that the query brought itself. */
  metric: ModelMetric | undefined;
  /** Sums of leaves only, so that it adds up when its leaves do. */
  linear: boolean;
}

/** Resolves metrics to arithmetic over leaves; equal leaves are one. */
export interface Resolver {
  readonly model: SemanticModel;
  /** `{name, expr}` metrics of the query. */
  readonly named: ReadonlyMap<string, Fragment>;
  /** By what they compute. */
  readonly leaves: Map<string, Leaf>;
}

/** Where an expression stands: its dataset (undefined in a query), the filters around it, the metrics that led to it. */
interface Context {
  readonly home: string | undefined;
  readonly where: readonly RowText[];
  readonly stack: readonly string[];
  readonly trace: Trace;
}

export function openResolver(model: SemanticModel, metrics: SemanticQuery['metrics']): Resolver {
  const own = metrics.filter((metric) => typeof metric !== 'string');
  const names = new Set(own.map((metric) => metric.name));
  const named = new Map(own.map(({ name, expr }) => [name, parseFragment(expr, { dialect: model.dialect, origin: 'query', names })]));
  return { model, named, leaves: new Map() };
}

export function newTrace(): Trace {
  return { leaves: new Set(), files: new Set(), metric: undefined, linear: true };
}

/** Of an expression that is used as it is: arithmetic across blocks counts a sum without rows as 0. */
export function completed(build: (trace: Trace) => Expr, trace: Trace = newTrace()): Expr {
  const expr = build(trace);
  if (new Set([...trace.leaves].map(blockKey)).size < 2) return expr;
  const sums = new Set([...trace.leaves].flatMap((leaf) => (leaf.function === 'sum' ? [leaf.column] : [])));
  return withZeros(expr, sums);
}

/** Leaves with equal keys are computed in one block. */
export function blockKey({ owner }: Leaf): string {
  return owner;
}

function withZeros(expr: Expr, sums: ReadonlySet<string>): Expr {
  if (expr.kind === 'result') return sums.has(expr.column) ? { kind: 'call', parts: ['COALESCE(', expr, ', 0)'] } : expr;
  if (expr.kind !== 'text') return expr;
  return {
    ...expr,
    parts: expr.parts.map((part) => (typeof part === 'object' && part.kind !== 'division' ? withZeros(part, sums) : part)),
  };
}

export function queryFragment({ model, named }: Resolver, text: string): Fragment {
  return parseFragment(text, { dialect: model.dialect, origin: 'query', names: new Set(named.keys()) });
}

/** A metric of a query: a name, the query's own names first, or arithmetic over aggregates and names. */
export function queryMetric(resolver: Resolver, text: string, trace: Trace): Expr {
  return queryAlgebra(resolver, wholeOf(resolver.named.get(text) ?? queryFragment(resolver, text)), trace);
}

export function queryAlgebra(resolver: Resolver, piece: Piece, trace: Trace): Expr {
  const only = piece.fragment.references[0];
  const isName = only?.start === piece.span.start && only.end === piece.span.end;
  if (isName && !resolver.named.has(only.parts.join('.'))) trace.metric = findMetric(resolver.model, only.parts);
  return algebra(resolver, piece, { home: undefined, where: [], stack: [], trace });
}

/** A metric of the model, on its own. */
export function resolveMetric(resolver: Resolver, metric: ModelMetric): Expr {
  return metricExpr(resolver, metric, { home: metric.dataset, where: [], stack: [], trace: newTrace() });
}

/** The metric that a name means; undefined where it means none. Model text, which has a home, may use hidden metrics, a query may not. */
export function findMetric(model: SemanticModel, parts: readonly string[], home?: string): ModelMetric | undefined {
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
      addLeaf(resolver, { function: name, of: argument && { fragment, span: argument, home: context.home }, fraction }, context),
    reference: ({ parts }) => referenceExpr(resolver, parts, context),
  });
}

function referenceExpr(resolver: Resolver, parts: readonly string[], context: Context): Expr {
  const name = parts.join('.');
  const named = context.home === undefined ? resolver.named.get(name) : undefined;
  if (named !== undefined) return algebra(resolver, wholeOf(named), { ...context, stack: entered(context.stack, name) });
  const metric = findMetric(resolver.model, parts, context.home);
  if (metric === undefined) throw unknownMetric(resolver, parts);
  return metricExpr(resolver, metric, context);
}

function metricExpr(resolver: Resolver, metric: ModelMetric, { where, stack, trace }: Context): Expr {
  const { definition, dataset: home } = metric;
  const address = metricAddress(metric);
  const own = metric.where === undefined ? [] : [{ ...wholeOf(metric.where), home }];
  const inner: Context = { home, where: [...where, ...own], stack: entered(stack, address), trace };
  trace.files.add(metric.file);
  switch (definition.kind) {
    case 'aggregate':
      return addLeaf(resolver, { ...definition, of: definition.of && { ...wholeOf(definition.of), home } }, inner);
    case 'expression':
      return algebra(resolver, wholeOf(definition.fragment), inner);
    case 'ratio':
      trace.linear = false;
      return quotient(
        referenceExpr(resolver, definition.numerator.split('.'), inner),
        referenceExpr(resolver, definition.denominator.split('.'), inner),
      );
    case 'unsupported':
      throw notSupported(`${definition.feature} metrics`, `${address} is one`);
  }
  return definition satisfies never;
}

function entered(stack: readonly string[], name: string): readonly string[] {
  if (!stack.includes(name)) return [...stack, name];
  throw refused('circular', `Circular metrics: ${[...stack, name].join(' → ')}`, 'A metric cannot be made of itself.');
}

function addLeaf(resolver: Resolver, aggregate: Pick<Leaf, 'function' | 'of' | 'fraction'>, { home, where: around, trace }: Context): Expr {
  const { function: name, fraction } = aggregate;
  const { owner, of, where } = ownedBy(resolver.model, aggregate.of, { home, where: around });
  const textOf = (row: RowText) => [row.home, row.fragment.text.slice(row.span.start, row.span.end)];
  const key = JSON.stringify([owner, name, fraction, of && textOf(of), where.map(textOf)]);
  const leaf = resolver.leaves.get(key) ?? { column: `m${resolver.leaves.size + 1}`, owner, function: name, of, fraction, where };
  resolver.leaves.set(key, leaf);
  trace.leaves.add(leaf);
  return { kind: 'result', column: leaf.column };
}

type Owned = Pick<Leaf, 'owner' | 'of' | 'where'>;

/** The dataset whose rows are aggregated: where the argument lives. A condition inside it, `CASE WHEN … THEN value END`, may live elsewhere. */
function ownedBy(model: SemanticModel, of: RowText | undefined, around: Pick<Context, 'home' | 'where'>): Owned {
  const { home, where } = around;
  const owners = of === undefined ? [] : anchorsOf(model, of, home);
  const [only = home] = owners;
  if (only !== undefined && owners.length <= 1) return { owner: only, of, where };
  const text = of === undefined ? 'count(*)' : of.fragment.text;
  if (of === undefined || owners.length === 0) {
    throw refused('no_owner', `${text} does not say whose rows to aggregate`, 'Name a field, like count(orders.id), or use a metric.');
  }
  if (home !== undefined && owners.includes(home) && owners.every((owner) => reaches(model, home, owner)))
    return { owner: home, of, where };
  const branch = onlyBranch(of);
  const [owner, ...others] = branch === undefined ? [] : anchorsOf(model, branch.value, home);
  if (branch !== undefined && owner !== undefined && others.length === 0)
    return { owner, of: branch.value, where: [...where, branch.when] };
  const hint = `Put it as a metric into the file of the dataset whose rows count once: ${owners.join(' or ')}.`;
  throw refused('mixed_owners', `${text} uses ${owners.join(' and ')}, so it is not clear whose rows count once`, hint);
}

/** Of `CASE WHEN … THEN … END`, which has one branch and no ELSE. */
function onlyBranch(row: RowText): { readonly when: RowText; readonly value: RowText } | undefined {
  const tokens = row.fragment.tokens.filter((token) => within(token, row.span));
  const count = (word: string): number => tokens.filter((token) => isWord(token, word)).length;
  if (['case', 'when', 'then', 'end'].some((word) => count(word) !== 1) || count('else') > 0) return undefined;
  if (!isWord(tokens[0], 'case') || !isWord(tokens[1], 'when') || !isWord(tokens.at(-1), 'end')) return undefined;
  const then = tokens.findIndex((token) => isWord(token, 'then'));
  const piece = (from: number, to: number): RowText => ({ ...row, span: { start: tokens[from]?.start ?? 0, end: tokens[to]?.end ?? 0 } });
  return { when: piece(2, then - 1), value: piece(then + 1, tokens.length - 2) };
}

function anchorsOf(model: SemanticModel, row: RowText, home: string | undefined): readonly string[] {
  const references = row.fragment.references.filter((it) => within(it, row.span));
  return [...new Set(references.map((reference) => anchorOf(model, reference, home)))];
}

function anchorOf(model: SemanticModel, { parts }: Reference, home: string | undefined): string {
  const [first = ''] = parts;
  if (parts.length === 1 && home !== undefined) return home;
  if (parts.length === 1) {
    throw refused(
      'unknown_name',
      `The name ${first} is unknown inside an aggregate`,
      'Write a field with its dataset, like orders.amount.',
    );
  }
  if (parts.length === 2 && model.datasets.has(first)) return first;
  if (parts.length === 2 && home === undefined) throw unknownName({ what: 'dataset', name: first, candidates: model.datasets.keys() });
  throw notSupported('an aggregate over a path of roles', `${parts.join('.')} is one; aggregate dataset.field`);
}

function unknownMetric({ model, named }: Resolver, parts: readonly string[]): UserError {
  const name = parts.join('.');
  const [first = '', second = ''] = parts;
  const dataset = parts.length === 2 ? model.datasets.get(first) : undefined;
  if (dataset !== undefined && visibleField(dataset, second) !== undefined) {
    const hint = `Aggregate it, like sum(${name}), or ask for it as a dimension.`;
    return refused('unknown_name', `${name} is a field, not a metric`, hint);
  }
  const metrics = [...model.datasets.values()].flatMap((it) => [...it.metrics.values()].filter((metric) => !metric.hidden));
  const names = metrics.flatMap((metric) => (parts.length === 1 ? [metric.name, metricAddress(metric)] : [metricAddress(metric)]));
  const note = model.excluded.has(first) ? `: the file of ${first} has errors` : '';
  return unknownName({ what: 'metric', name, candidates: [...named.keys(), ...names], note });
}
