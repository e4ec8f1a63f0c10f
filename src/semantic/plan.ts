import { UserError } from '../lib/error.ts';
import type { TimeGrain } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import { conditionsOf } from './conditions.ts';
import { ambiguous, notSupported, refused, unknownDataset, unknownName } from './errors.ts';
import { type AggregateExpr, type Expr, wholeOf } from './expr.ts';
import { type Members, membersOf } from './members.ts';
import type { ModelDataset, Relation, SemanticModel } from './model.ts';
import type { SemanticQuery } from './query.ts';
import { type MetricReceipt, metricReceipt } from './receipt.ts';
import { findMetric, type Leaf, newTrace, openResolver, queryMetric, type Resolver, type Trace } from './resolve.ts';
import { datasetNamed, dottedPlace, type Join, type Place, placeExpr, placeInQuery, rowExpr, type RowText, type Scope } from './scope.ts';

/**
 * What will be computed, as plain data: blocks of aggregates, one per owner dataset; members that are added to them;
 * then arithmetic, conditions and order over the merged columns. Today there is exactly one block.
 */
export interface Plan {
  readonly blocks: readonly Block[];
  readonly members: readonly Members[];
  /** Those that were asked for: the dimensions, then the metrics. */
  readonly columns: readonly PlanColumn[];
  readonly having: readonly Expr[];
  readonly order: readonly { readonly expr: Expr; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  readonly receipt: { readonly metrics: readonly MetricReceipt[]; readonly notes: readonly string[] };
}

/** The rows of one owner, joined along to-one paths, filtered, grouped. */
export interface Block {
  readonly owner: string;
  readonly alias: string;
  readonly relation: Relation;
  readonly joins: readonly Join[];
  readonly where: readonly Expr[];
  readonly dimensions: readonly ColumnOf<Expr>[];
  readonly aggregates: readonly ColumnOf<AggregateExpr>[];
}

interface ColumnOf<Value> {
  readonly column: string;
  readonly expr: Value;
}

interface PlanColumn {
  /** As asked. */
  readonly name: string;
  readonly kind: 'dimension' | 'metric';
  readonly expr: Expr;
  readonly type: FieldType | undefined;
  readonly grain: TimeGrain | undefined;
  readonly unit: string | undefined;
}

interface Metric {
  readonly name: string;
  readonly expr: Expr;
  readonly trace: Trace;
}

/** Pure; runs inside `withAnalyzer`. Throws a `UserError` that names the choices, or `not_supported`. */
export function plan(model: SemanticModel, query: SemanticQuery): Plan {
  if (query.fill_time) throw notSupported('fill_time', 'Periods without rows cannot be added');
  const resolver = openResolver(model, query.metrics);
  const metrics = query.metrics.map((metric) => metricOf(resolver, typeof metric === 'string' ? metric : metric.name));
  checkNames([...query.dimensions, ...metrics.map((metric) => metric.name)]);
  const conditions = conditionsOf(resolver, query);
  const order = orderOf(resolver, query, metrics);
  const leaves = [...resolver.leaves.values()];
  const owner = ownerOf(model, query, leaves);
  const scope: Scope = { model, owner, query, joins: new Map(), notes: new Set() };
  if (query.include_empty && leaves.length === 0) {
    throw refused('unused_option', 'include_empty means nothing in a query without metrics', 'Add a metric, or leave it out.');
  }
  const places = query.dimensions.map((name) => placeInQuery(scope, name.split('.')));
  const dimensions = places.map((place, index) => ({ column: `d${index + 1}`, expr: placeExpr(scope, place) }));
  const rows = conditions.rows.map((condition) => condition.build(scope));
  const segments = query.segments.map((name) => rowExpr(scope, segmentRows(scope, name)));
  const aggregates = leaves.map((leaf) => ({ column: leaf.column, expr: aggregateOf(scope, leaf) }));
  const joins = [...scope.joins.values()];
  const { name, relation } = owner;
  const block: Block = { owner: name, alias: name, relation, joins, where: [...rows, ...segments], dimensions, aggregates };
  const asked = {
    block,
    grain: query.dimensions,
    filters: [...conditions.rows.map(({ text }) => text), ...query.segments.map((segment) => `segment ${segment}`)],
    having: conditions.aggregates.map(({ text }) => text),
  };
  return {
    blocks: [block],
    members: query.include_empty ? membersOf(block, { places, rows: block.where }) : [],
    columns: [...places.map((place, index) => dimensionColumn(place, query.dimensions[index] ?? '', index)), ...metrics.map(metricColumn)],
    having: conditions.aggregates.map((condition) => condition.expr),
    order,
    limit: query.limit,
    receipt: { metrics: metrics.map((metric) => metricReceipt(model, metric, asked)), notes: [...scope.notes] },
  };
}

function metricOf(resolver: Resolver, name: string): Metric {
  const trace = newTrace();
  const expr = queryMetric(resolver, name, trace);
  if (trace.leaves.size > 0) return { name, expr, trace };
  throw refused('no_owner', `${name} aggregates nothing`, 'Use a metric or an aggregate in it, like sum(orders.amount).');
}

function checkNames(names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw refused('duplicate_name', `The query asks for ${repeated} twice`, 'Name every column once.');
  if (names.length === 0) throw refused('empty_query', 'The query asks for nothing', 'Name at least one metric or dimension.');
}

/** As asked, then by every dimension, so that equal values do not shuffle between runs. */
function orderOf(resolver: Resolver, query: SemanticQuery, metrics: readonly Metric[]): Plan['order'] {
  const asked = query.order_by.map(({ field, dir }) => {
    const index = query.dimensions.indexOf(field);
    return { dir, expr: index === -1 ? orderMetric(resolver, field, metrics) : dimensionResult(index) };
  });
  const ties = query.dimensions.flatMap((name, index) =>
    query.order_by.some(({ field }) => field === name) ? [] : [{ dir: 'asc' as const, expr: dimensionResult(index) }],
  );
  return [...asked, ...ties];
}

function dimensionResult(index: number): Expr {
  return { kind: 'result', column: `d${index + 1}` };
}

function orderMetric(resolver: Resolver, field: string, metrics: readonly Metric[]): Expr {
  const asked = metrics.find((metric) => metric.name === field);
  if (asked !== undefined) return asked.expr;
  if (findMetric(resolver.model, field.split('.')) !== undefined) return queryMetric(resolver, field, newTrace());
  throw unknownName({ what: 'requested dimension or metric', name: field, candidates: metrics.map((metric) => metric.name) });
}

/** The dataset whose rows the query is about: that of its aggregates, else the one from which every dimension can be reached. */
function ownerOf(model: SemanticModel, query: SemanticQuery, leaves: readonly Leaf[]): ModelDataset {
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const [only] = owners;
  if (owners.length > 1) throw notSupported('metrics of several datasets in one query', `This one needs rows of ${owners.join(' and ')}`);
  if (only !== undefined) return datasetNamed(model, only);
  const roots = query.dimensions.map((dimension) => dimension.split('.')[0] ?? '');
  const failures: UserError[] = [];
  const found: { readonly dataset: ModelDataset; readonly places: readonly Place[] }[] = [];
  for (const dataset of new Set(roots.flatMap((root) => candidatesFor(model, root)))) {
    try {
      found.push({ dataset, places: query.dimensions.map((dimension) => placeInQuery({ model, owner: dataset }, dimension.split('.'))) });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.push(error);
    }
  }
  const named = found.filter(({ dataset }) => roots.includes(dataset.name));
  const [first, ...others] = named.length > 0 ? named : found;
  if (first === undefined) throw failures[0] ?? unknownDataset(model, roots[0] ?? '');
  if (others.length === 0) return first.dataset;
  const choices = [first, ...others].flatMap(({ places }) =>
    places
      .filter(({ path }) => path.length > 0)
      .slice(0, 1)
      .map(dottedPlace),
  );
  throw ambiguous('ambiguous_path', `${query.dimensions.join(' and ')} do not say whose rows are meant`, choices);
}

/** Datasets in which a dimension's path may begin. */
function candidatesFor(model: SemanticModel, root: string): readonly ModelDataset[] {
  if (root === 'metric_time') throw refused('no_owner', 'metric_time needs a metric', 'Add a metric.');
  const own = model.datasets.get(root);
  return own === undefined ? [...model.datasets.values()].filter(({ steps }) => steps.some((step) => step.name === root)) : [own];
}

function segmentRows({ model, owner }: Scope, asked: string): RowText {
  const [home = '', ...rest] = asked.split('.');
  const { segments } = datasetNamed(model, home);
  const name = rest.join('.');
  const fragment = segments.get(name);
  if (fragment === undefined) throw unknownName({ what: `segment of ${home}`, name, candidates: segments.keys() });
  if (home === owner.name) return { ...wholeOf(fragment), home };
  const message = `The segment ${asked} restricts metrics of ${home} only, and the query has none`;
  throw refused('unused_segment', message, `Write it as a condition in where: ${fragment.text}`);
}

function aggregateOf(scope: Scope, leaf: Leaf): AggregateExpr {
  const of = leaf.of && rowExpr(scope, leaf.of);
  const where = leaf.where.map((row) => rowExpr(scope, row));
  return { kind: 'aggregate', function: leaf.function, of, fraction: leaf.fraction, where };
}

function dimensionColumn({ grain, field }: Place, name: string, index: number): PlanColumn {
  const isClock = grain === 'second' || grain === 'minute' || grain === 'hour';
  const periodType = isClock ? 'datetime' : 'date';
  const type = grain === undefined ? field?.type : periodType;
  return { name, kind: 'dimension', expr: dimensionResult(index), type, grain, unit: undefined };
}

function metricColumn({ name, expr, trace }: Metric): PlanColumn {
  return { name, kind: 'metric', expr, type: undefined, grain: undefined, unit: trace.metric?.unit };
}
