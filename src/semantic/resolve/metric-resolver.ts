import { type Aggregate, aggregateFunctions } from '../../sql/aggregates.ts';
import type { Period } from '../../sql/dialect.ts';
import { type Fragment, parseFragment } from '../../sql/fragment.ts';
import {
  type Balance,
  metricAddress,
  type ModelMetric,
  type Running,
  type SemanticModel,
} from '../model/model.ts';
import { visibleMetrics } from '../model/visible-metrics.ts';
import { ambiguousError, notSupportedError, queryError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { Expr } from '../relational/query-tree.ts';
import { pieceText } from '../relational/sql-piece.ts';
import {
  aggregateKey,
  type AggregateNode,
  type MetricTrace,
  type SpineUse,
} from './aggregate-node.ts';
import { factTableOf } from './fact-table.ts';
import type { RowSql } from './row-expr.ts';

/**
 * What is shared while the metrics of one query are resolved; `aggregates` and `usedMetrics` are
 * filled in place.
 */
export interface MetricResolver {
  readonly model: SemanticModel;
  /** The `{name, expr}` metrics of the query, by name. */
  readonly queryMetrics: ReadonlyMap<string, QueryFormula>;
  /** Every aggregate so far, by `aggregateKey`. */
  readonly aggregates: Map<string, AggregateNode>;
  /** Addresses of the model metrics that were resolved, directly or through others. */
  readonly usedMetrics: Set<string>;
  /** True if groups in which no metric has rows are left out. */
  readonly skipsEmpty: boolean;
  /** Options that apply to each metric of the query: its total, or its value of another period. */
  readonly options?: Partial<Pick<MetricContext, 'total' | 'shift'>>;
}

/**
 * Arithmetic over aggregates and metrics. With `outer`, it is aggregated again:
 * `avg(sum(orders.amount)) per customers.id`.
 */
export interface QueryFormula {
  readonly fragment: Fragment;
  readonly outer: { readonly function: Aggregate; readonly per: string } | undefined;
}

/**
 * What surrounds an expression while it is resolved. The options apply to each aggregate inside it.
 */
export interface MetricContext {
  /** The dataset whose file has the expression; undefined for an expression of the query. */
  readonly home: string | undefined;
  /** True if the expression belongs to a metric that only a model read. */
  readonly isUnreviewed?: boolean | undefined;
  readonly where: readonly RowSql[];
  readonly balance: Balance | undefined;
  readonly time: string | undefined;
  readonly keepsNull: boolean;
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  readonly spine: SpineUse | undefined;
  readonly total: readonly string[] | undefined;
  /** Names of the metrics that led here, outermost first. */
  readonly stack: readonly string[];
  readonly trace: MetricTrace;
}

/** The context of an expression of the query itself. */
export const queryContext = {
  home: undefined,
  where: [],
  balance: undefined,
  time: undefined,
  keepsNull: false,
  shift: [],
  running: undefined,
  spine: undefined,
  total: undefined,
  stack: [],
} satisfies Omit<MetricContext, 'trace'>;

/** A resolver for the metrics of a query; throws what `parseFragment` throws. */
export function createResolver(
  model: SemanticModel,
  metrics: SemanticQuery['metrics'],
  { usedMetrics = new Set<string>(), skipsEmpty = false }: Partial<MetricResolver> = {},
): MetricResolver {
  const named = metrics.filter((metric) => typeof metric !== 'string');
  const names = new Set(named.map((metric) => metric.name));
  const queryMetrics = new Map(
    named.map(({ name, expr }) => [name, parseFormula(model, expr, names)]),
  );
  return { model, queryMetrics, aggregates: new Map(), usedMetrics, skipsEmpty };
}

const perPattern = /^\s*(sum|count|avg|min|max|median)\s*\((.+)\)\s+per\s+([A-Za-z_][\w.]*)\s*$/is;

/**
 * Parses a metric written in the query. `names` are the query's own metrics, which may be called
 * like SQL keywords.
 */
export function parseFormula(
  model: SemanticModel,
  text: string,
  names: ReadonlySet<string>,
): QueryFormula {
  const options = { dialect: model.dialect, origin: 'query' as const, names };
  const [, name = '', inner, per = ''] = perPattern.exec(text) ?? [];
  const outer = aggregateFunctions.find((candidate) => candidate === name.toLowerCase());
  if (inner === undefined || outer === undefined)
    return { fragment: parseFragment(text, options), outer: undefined };
  return { fragment: parseFragment(inner, options), outer: { function: outer, per } };
}

/** Parses a condition of the query. */
export function parseQueryFragment(
  { model, queryMetrics }: MetricResolver,
  text: string,
): Fragment {
  return parseFragment(text, {
    dialect: model.dialect,
    origin: 'query',
    names: new Set(queryMetrics.keys()),
  });
}

/**
 * The model metric with a name; undefined if there is none. A bare name is a metric of `home`,
 * otherwise of any dataset. Dataset files, which have a `home`, may use hidden metrics; a query may
 * not. Throws `ambiguous_name`.
 */
export function findMetric(
  model: SemanticModel,
  parts: readonly string[],
  home?: string,
): ModelMetric | undefined {
  const metricOf = (dataset: string, name: string): ModelMetric | undefined => {
    const metric = model.datasets.get(dataset)?.metrics.get(name);
    return metric?.hidden === true && home === undefined ? undefined : metric;
  };
  const [first = '', second] = parts;
  if (second !== undefined) return parts.length === 2 ? metricOf(first, second) : undefined;
  const homeMetric = home === undefined ? undefined : metricOf(home, first);
  if (homeMetric !== undefined && homeMetric.unreviewed !== true) return homeMetric;
  const named =
    home === undefined
      ? (visibleMetrics(model).byName.get(first) ?? [])
      : [...model.datasets.keys()].flatMap((dataset) => metricOf(dataset, first) ?? []);
  // What only a model read takes no name from a metric that people know.
  const reviewed = named.filter(({ unreviewed }) => unreviewed !== true);
  if (reviewed.length === 0 && homeMetric !== undefined) return homeMetric;
  const metrics = reviewed.length > 0 ? reviewed : named;
  if (metrics.length <= 1) return metrics[0];
  const choices = metrics.map(metricAddress);
  throw ambiguousError('ambiguous_name', `The metric ${first} is ambiguous`, {
    written: first,
    choices,
  });
}

/** Adds a metric to the stack; throws `circular` if it is on it already. */
export function enterMetric(stack: readonly string[], name: string): readonly string[] {
  if (!stack.includes(name)) return [...stack, name];
  throw queryError(
    'circular',
    `Circular metrics: ${[...stack, name].join(' → ')}`,
    'A metric cannot use itself. Remove one of these references.',
  );
}

/** Adds an aggregate of rows with the options of its context. Returns its result column. */
export function addAggregate(
  resolver: MetricResolver,
  aggregate: Pick<AggregateNode, 'function' | 'of' | 'fraction'>,
  context: MetricContext,
): Expr {
  const { home, balance, shift, running, spine, total, trace } = context;
  checkSpineUse(context);
  const owned = factTableOf(resolver.model, aggregate.of, { home, where: context.where });
  if (balance !== undefined && running !== undefined) {
    throw notSupportedError(
      'a running semi-additive metric',
      'Its values must not be added up over time',
    );
  }
  if (balance !== undefined) checkBalance(resolver.model, balance, { owner: owned.owner, home });
  const { function: name, fraction } = aggregate;
  const { time, keepsNull } = context;
  const options = {
    balance,
    time,
    keepsNull: keepsNull || undefined,
    filtersGroups: resolver.skipsEmpty || undefined,
    shift,
    running,
    spine,
    nested: undefined,
    total,
  };
  const label = context.stack.at(-1) ?? aggregateText(aggregate);
  const node = { ...owned, function: name, fraction, ...options, label };
  return internAggregate(resolver, node, trace);
}

/** An aggregate that the query writes: `sum(orders.amount)`. */
function aggregateText({ function: name, of }: Pick<AggregateNode, 'function' | 'of'>): string {
  return `${name}(${of === undefined ? '*' : pieceText(of)})`;
}

/** Throws if a metric reads the time spine in a way that MetricFlow does not define. */
function checkSpineUse({ balance, shift, running, spine, total }: MetricContext): void {
  if (spine === undefined) return;
  if (balance !== undefined)
    throw notSupportedError(
      'a semi-additive metric over the time spine',
      'Its values must not be added up over time',
    );
  if (running !== undefined || shift.length > 0)
    throw notSupportedError(
      'a metric that is over the time spine only in part',
      'Write over_time_spine: true at all of its offsets and running totals, or at none',
    );
  if (total !== undefined)
    throw notSupportedError(
      'a total of a metric over the time spine',
      'Take the total of the metric itself',
    );
}

/** Adds an aggregate, or reuses the one that computes the same value. Returns its result column. */
export function internAggregate(
  resolver: MetricResolver,
  { label, ...node }: Omit<AggregateNode, 'column'> & { readonly label: string },
  trace: MetricTrace,
): Expr {
  const { aggregates } = resolver;
  const key = aggregateKey(node);
  const interned = aggregates.get(key) ?? {
    ...node,
    column: columnFor(resolver, `${label}${variantOf(node)}`),
  };
  aggregates.set(key, interned);
  trace.aggregates.add(interned);
  return { kind: 'output_column', column: interned.column };
}

/** What tells values of one metric apart. */
function variantOf({ shift, total, running }: Omit<AggregateNode, 'column'>): string {
  if (total !== undefined) return ' in total';
  if (shift.length > 0) return ' before';
  return running === undefined ? '' : ' so far';
}

/** Engines cut longer names, at 63 bytes the earliest. */
const maxNameLength = 48;

/** A name that the engine takes for a column, and that no other aggregate has in any case. */
function columnFor({ model, aggregates }: MetricResolver, text: string): string {
  const isPlain = /^[\w .()*]+$/.test(text);
  const name = isPlain && text.length <= maxNameLength ? text : `value ${aggregates.size + 1}`;
  const taken = new Set([...aggregates.values()].map(({ column }) => column.toLowerCase()));
  const free = taken.has(name.toLowerCase()) ? `${name} ${aggregates.size + 1}` : name;
  return model.dialect.resultColumn(free, aggregates.size);
}

/** Throws `semi_additive` if a balance does not fit the dataset that its metric aggregates. */
function checkBalance(
  model: SemanticModel,
  { over, per }: Balance,
  { owner, home }: { owner: string; home: string | undefined },
): void {
  const fields = model.datasets.get(owner)?.fields;
  const unknownField = [over, ...(per ?? [])].find((name) => fields?.has(name) !== true);
  let fault: string | undefined;
  if (owner !== home) fault = `aggregates rows of ${owner}, not of ${home}`;
  else if (per === undefined)
    fault = `needs per: the primary key does not contain ${over}, so ktx cannot tell what each value belongs to`;
  else if (unknownField !== undefined)
    fault = `uses ${unknownField}, but ${owner} has no such field`;
  if (fault === undefined) return;
  throw queryError(
    'semi_additive',
    `A semi-additive metric ${fault}`,
    'For example semi_additive: {over: day, take: last, per: [account_id]}.',
  );
}
