import { UserError } from '../lib/error.ts';
import type { TimeGrain } from '../sql/dialect.ts';
import { parseFragment } from '../sql/expression.ts';
import type { FieldType } from '../sql/field-type.ts';
import { type Conditions, conditionsOf, type RowCondition } from './conditions.ts';
import { notSupported, unknownName } from './errors.ts';
import { type AggregateExpr, type Expr, wholeSpan } from './expr.ts';
import { membersOf, type Members } from './members.ts';
import type { ModelDataset, Relation, SemanticModel } from './model.ts';
import { stepsFrom } from './paths.ts';
import type { SemanticQuery } from './query.ts';
import { type MetricReceipt, metricReceipt } from './receipt.ts';
import { findMetric, type Leaf, leafColumn, newTrace, queryMetric, type Resolver, type Trace } from './resolve.ts';
import { datasetNamed, fieldExpr, type Join, openScope, type Place, placeInQuery, rowExpr, type RowText, type Scope } from './scope.ts';

/**
 * What will be computed, as plain data: blocks of aggregates, one per owner dataset; members that are added to them;
 * then arithmetic, conditions and order over the merged columns. Today there is exactly one block.
 */
export interface Plan {
  readonly blocks: readonly Block[];
  readonly members: readonly Members[];
  readonly dimensions: readonly PlanDimension[];
  readonly leaves: readonly { readonly column: string; readonly isCount: boolean }[];
  readonly outputs: readonly PlanMetric[];
  readonly having: readonly Expr[];
  readonly order: readonly { readonly expr: Expr; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  readonly notes: readonly string[];
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

export interface ColumnOf<Value> {
  readonly column: string;
  readonly expr: Value;
}

export interface PlanDimension {
  readonly column: string;
  /** As asked. */
  readonly name: string;
  readonly type: FieldType | undefined;
  readonly grain: TimeGrain | undefined;
  readonly description: string | undefined;
}

export interface PlanMetric {
  readonly name: string;
  readonly expr: Expr;
  readonly unit: string | undefined;
  readonly description: string | undefined;
  readonly receipt: MetricReceipt;
}

interface Resolved {
  readonly metrics: readonly { readonly name: string; readonly expr: Expr; readonly trace: Trace }[];
  readonly conditions: Conditions;
  readonly order: readonly { readonly expr: Expr | { readonly dimension: number }; readonly dir: 'asc' | 'desc' }[];
}

/** Pure. Needs `loadModel` to have been awaited. Throws a `UserError` that names the choices, or `not_supported`. */
export function plan(model: SemanticModel, query: SemanticQuery): Plan {
  const resolver = openResolver(model, query);
  const resolved = resolveQuery(resolver, query);
  if (query.fill_time) throw notSupported('fill_time', 'Periods without rows cannot be added');
  const owner = ownerOf(model, query, resolver.leaves);
  const scope = openScope(model, owner);
  const places = query.dimensions.map((name) => dimensionPlace(model, owner, name));
  const cut = (place: Place, expr: Expr): Expr => truncated(query, place, expr);
  const dimensions = places.map((place, index) => ({ column: `d${index + 1}`, expr: cut(place, fieldExpr(scope, place)) }));
  const rows = resolved.conditions.rows.map((condition) => condition.build(scope, cut));
  const segments = query.segments.map((name) => rowExpr(scope, segmentRows(model, owner, name), cut));
  const aggregates = resolver.leaves.map((leaf, index) => ({ column: leafColumn(index), expr: aggregateOf(scope, leaf, cut) }));
  const where = [...rows, ...segments];
  const block: Block = {
    owner: owner.name,
    alias: owner.name,
    relation: owner.relation,
    joins: [...scope.joins.values()],
    where,
    dimensions,
    aggregates,
  };
  const filters = [...resolved.conditions.rows.map((row: RowCondition) => row.text), ...query.segments.map((name) => `segment ${name}`)];
  return {
    blocks: [block],
    members: query.include_empty && aggregates.length > 0 ? membersOf(model, block, { places, rows }) : [],
    dimensions: places.map((place, index) => planDimension(place, { column: `d${index + 1}`, name: query.dimensions[index] ?? '' })),
    leaves: resolver.leaves.map((leaf, index) => ({ column: leafColumn(index), isCount: leaf.function.startsWith('count') })),
    outputs: resolved.metrics.map((metric) => planMetric(resolver, metric, { block, dimensions: query.dimensions, filters })),
    having: resolved.conditions.aggregates,
    order: orderOf(resolved, dimensions.length),
    limit: query.limit,
    notes: notesOf(query, places),
  };
}

function openResolver(model: SemanticModel, query: SemanticQuery): Resolver {
  const own = query.metrics.filter((metric) => typeof metric !== 'string');
  const names = new Set(own.map((metric) => metric.name));
  const named = new Map(own.map(({ name, expr }) => [name, parseFragment(expr, { dialect: model.dialect, origin: 'query', names })]));
  return { model, named, names, leaves: [], leafKeys: new Map() };
}

function resolveQuery(resolver: Resolver, query: SemanticQuery): Resolved {
  const metrics = query.metrics.map((metric) => {
    const trace = newTrace();
    const name = typeof metric === 'string' ? metric : metric.name;
    return { name, expr: queryMetric(resolver, name, trace), trace };
  });
  const names = [...query.dimensions, ...metrics.map((metric) => metric.name)];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw duplicate(repeated);
  if (names.length === 0) {
    throw new UserError('empty_query', 'The query asks for nothing', { hint: 'Name at least one metric or dimension.', exitCode: 2 });
  }
  const order = query.order_by.map(({ field, dir }) => {
    const dimension = query.dimensions.indexOf(field);
    return { dir, expr: dimension === -1 ? orderMetric(resolver, field, metrics) : { dimension } };
  });
  return { metrics, conditions: conditionsOf(resolver, query), order };
}

function orderMetric(resolver: Resolver, field: string, metrics: Resolved['metrics']): Expr {
  const asked = metrics.find((metric) => metric.name === field);
  if (asked !== undefined) return asked.expr;
  if (findMetric(resolver.model, field.split('.')) !== undefined) return queryMetric(resolver, field, newTrace());
  const candidates = metrics.map((metric) => metric.name);
  throw unknownName({ what: 'requested dimension or metric', name: field, candidates });
}

function duplicate(name: string): UserError {
  return new UserError('duplicate_name', `The query asks for ${name} twice`, { hint: 'Name every column once.', exitCode: 2 });
}

/** The dataset whose rows the query is about: that of its aggregates, else the one from which every dimension can be reached. */
function ownerOf(model: SemanticModel, query: SemanticQuery, leaves: readonly Leaf[]): ModelDataset {
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const [only] = owners;
  if (owners.length > 1) throw notSupported('metrics of several datasets in one query', `This one needs rows of ${owners.join(' and ')}`);
  if (only !== undefined) return datasetNamed(model, only);
  const candidates = [...new Set(query.dimensions.flatMap((dimension) => rootsOf(model, dimension)))];
  const failures: unknown[] = [];
  for (const candidate of candidates) {
    const dataset = datasetNamed(model, candidate);
    try {
      for (const dimension of query.dimensions) dimensionPlace(model, dataset, dimension);
      return dataset;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.push(error);
    }
  }
  const unknown = query.dimensions[0] ?? '';
  throw failures[0] ?? unknownName({ what: 'dataset or role', name: unknown.split('.')[0] ?? '', candidates: model.datasets.keys() });
}

/** Datasets in which a dimension's path may begin. */
function rootsOf(model: SemanticModel, dimension: string): readonly string[] {
  const [first = ''] = dimension.split('.');
  if (first === 'metric_time') throw new UserError('no_owner', 'metric_time needs a metric', { hint: 'Add a metric.', exitCode: 2 });
  if (model.datasets.has(first)) return [first];
  return [...model.datasets.keys()].filter((name) => stepsFrom(model, name).some((step) => step.name === first));
}

function dimensionPlace(model: SemanticModel, owner: ModelDataset, name: string): Place {
  const parts = name.split('.');
  if (parts[0] !== 'metric_time') return checkGrain(placeInQuery(model, owner, parts), name);
  if (owner.defaultTime === undefined) {
    throw new UserError('no_default_time', `${owner.name} has no default_time, so metric_time means nothing for its metrics`, {
      hint: `Declare default_time in ${owner.file}, or name a time field.`,
      exitCode: 2,
    });
  }
  return checkGrain(placeInQuery(model, owner, [owner.name, owner.defaultTime, ...parts.slice(1)]), name);
}

function checkGrain(place: Place, name: string): Place {
  if (place.grain === undefined || timeType(place) !== undefined) return place;
  throw new UserError(
    'not_a_time',
    `${name} asks for a ${place.grain}, but ${place.name} is not a time field (${place.field?.type ?? 'no type'})`,
    {
      hint: `Declare type: date, datetime or datetime_tz for it in ${place.dataset.file}, or leave the grain out.`,
      exitCode: 2,
    },
  );
}

function timeType(place: Place): 'date' | 'datetime' | 'datetime_tz' | undefined {
  const type = place.field?.type;
  return type === 'date' || type === 'datetime' || type === 'datetime_tz' ? type : undefined;
}

function truncated(query: SemanticQuery, place: Place, expr: Expr): Expr {
  const type = timeType(place);
  if (place.grain === undefined) return expr;
  if (type === undefined) checkGrain(place, `${place.dataset.name}.${place.name}.${place.grain}`);
  const options = { type: type ?? 'datetime', weekStart: query.week_start, timezone: query.timezone };
  return { kind: 'truncate', grain: place.grain, of: expr, options };
}

function segmentRows(model: SemanticModel, owner: ModelDataset, name: string): RowText {
  const [datasetName = '', segment = '', ...more] = name.split('.');
  const dataset = datasetNamed(model, datasetName);
  const fragment = more.length === 0 ? dataset.segments.get(segment) : undefined;
  if (fragment === undefined) throw unknownName({ what: `segment of ${datasetName}`, name: segment, candidates: dataset.segments.keys() });
  if (dataset === owner) return { fragment, span: wholeSpan(fragment), home: dataset.name };
  throw new UserError('unused_segment', `The segment ${name} restricts metrics of ${datasetName} only, and the query has none`, {
    hint: `Write it as a condition in where: ${fragment.text}`,
    exitCode: 2,
  });
}

function aggregateOf(scope: Scope, leaf: Leaf, cut: (place: Place, expr: Expr) => Expr): AggregateExpr {
  const of = leaf.of && rowExpr(scope, leaf.of, cut);
  return {
    kind: 'aggregate',
    function: leaf.function,
    of,
    fraction: leaf.fraction,
    where: leaf.where.map((row) => rowExpr(scope, row, cut)),
  };
}

function planDimension(place: Place, asked: { column: string; name: string }): PlanDimension {
  const isClock = place.grain === 'second' || place.grain === 'minute' || place.grain === 'hour';
  const type = place.grain === undefined ? place.field?.type : isClock ? 'datetime' : 'date';
  return { ...asked, type, grain: place.grain, description: place.field?.description };
}

function planMetric(
  resolver: Resolver,
  metric: Resolved['metrics'][number],
  context: { block: Block; dimensions: readonly string[]; filters: readonly string[] },
): PlanMetric {
  const declared = metric.trace.curated ? findMetric(resolver.model, metric.name.split('.')) : undefined;
  const receipt = metricReceipt(resolver, metric, context);
  return { name: metric.name, expr: metric.expr, unit: declared?.unit, description: declared?.description, receipt };
}

/** As asked, then by every dimension, so that equal values do not shuffle between runs. */
function orderOf(resolved: Resolved, dimensions: number): Plan['order'] {
  const result = (index: number): Expr => ({ kind: 'result', column: `d${index + 1}` });
  const asked = resolved.order.map(({ expr, dir }) => ({ dir, expr: 'dimension' in expr ? result(expr.dimension) : expr }));
  const named = new Set(resolved.order.map(({ expr }) => ('dimension' in expr ? expr.dimension : -1)));
  const rest = Array.from({ length: dimensions }, (_, index) => index).filter((index) => !named.has(index));
  return [...asked, ...rest.map((index) => ({ dir: 'asc' as const, expr: result(index) }))];
}

function notesOf(query: SemanticQuery, places: readonly Place[]): readonly string[] {
  const naive =
    query.timezone === undefined ? [] : places.filter((place) => place.grain !== undefined && place.field?.type !== 'datetime_tz');
  return naive.map((place) => `${place.dataset.name}.${place.name} has no time zone of its own: its periods are cut as the values stand`);
}
