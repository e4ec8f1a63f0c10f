import type { Period } from '../../sql/dialect.ts';
import { isToOne } from '../model/join-graph.ts';
import { type ModelDataset, type ModelField, requireReadableRows } from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { Select } from '../relational/query-tree.ts';
import { renameColumns } from '../relational/rename-columns.ts';
import type { AggregateNode, NestedAggregate } from '../resolve/aggregate-node.ts';
import type { QueryConditions } from '../resolve/conditions.ts';
import { formatFieldPath, type ResolvedField, resolveQueryField } from '../resolve/field-path.ts';
import {
  type JoinScope,
  type PlannedJoin,
  type RowMetricValues,
  toJoin,
} from '../resolve/join-scope.ts';
import { fieldExpr, filterExpr, isDefaultTime } from '../resolve/row-expr.ts';
import { aggregateNested, aggregateRows, perColumn } from './aggregate-select.ts';
import { joinConversions, numberBaseEvents } from './conversion.ts';
import { type DimensionMembers, planDimensionMembers } from './dimension-members.ts';
import type { Fact, PlanContext } from './plan-context.ts';
import {
  type AppliedCondition,
  rowConditionExpr,
  segmentConditions,
  withErrorContext,
} from './row-conditions.ts';
import { planGroupValues } from './values/group-values.ts';
import { rankPercentiles } from './values/ranked-percentiles.ts';
import { resolveRowMetric } from './values/row-metric.ts';
import { isAboutPeriods, joinPeriods, type RowSource } from './running.ts';
import { planSpine } from './spine/plan-spine.ts';

/**
 * One aggregating query over the rows of one dataset, its owner: joined, filtered and grouped, each
 * row once per group. Its output columns are the dimensions `d1`, `d2`… and the aggregates `m1`,
 * `m2`…
 */
export interface FactQuery {
  readonly owner: string;
  readonly aggregates: readonly AggregateNode[];
  readonly select: Select;
  /** The dimensions of the query, as fields that the owner reaches. */
  readonly dimensions: readonly ResolvedField[];
  readonly joins: readonly PlannedJoin[];
  /**
   * Conditions on its rows. Those on the time of a running total are left out: they filter the
   * periods.
   */
  readonly conditions: readonly AppliedCondition[];
  /** All conditions of the query that it applies, as written. */
  readonly filters: readonly string[];
  /** Dimensions across one-to-many joins. Its values do not add up over these. */
  readonly fanOutDimensions: readonly string[];
  /** The dimension values to show even without rows; empty unless the query has `include_empty`. */
  readonly members: readonly DimensionMembers[];
  /** Set for totals: the indexes of the query's dimensions that it groups by. */
  readonly totalBy?: readonly number[];
  /** True if the dimensions or conditions of the query name the owner's default time. */
  readonly usesTime: boolean;
}

/**
 * Plans aggregates with equal `factQueryKey`s. Without aggregates it gives the groups of the
 * owner's rows.
 */
export function planFactQuery(
  context: PlanContext,
  aggregates: readonly AggregateNode[],
  fact: Fact,
): FactQuery {
  const [first] = aggregates;
  if (first?.total !== undefined)
    return planTotal(context, aggregates, { ...fact, by: first.total });
  if (first?.nested !== undefined)
    return planNested(context, first, { ...fact, nested: first.nested });
  return planRows(context, aggregates, fact);
}

function planRows(
  context: PlanContext,
  aggregates: readonly AggregateNode[],
  fact: Fact,
): FactQuery {
  const { query, conditions } = context;
  const { owner } = fact;
  const [first] = aggregates;
  const scope = openScope(context, fact, first ?? { shift: fact.shift ?? [], time: fact.time });
  const dimensions = resolveDimensions(scope, query, { ...fact, spine: first?.spine });
  const ownConditions = conditions.rows.filter(({ on }) => on === undefined || on === owner.name);
  const spine = planSpine(context, { scope, fact, dimensions, aggregates }, ownConditions);
  const source = spine.source ?? sourceRows(scope, dimensions, aggregates);
  const isRunning = spine.source !== undefined || first?.running !== undefined;
  const applied = applyConditions(context, { scope, fact, isRunning }, ownConditions);
  const rowFilters = first !== undefined && filtersRows(first) ? first.where : undefined;
  const usesTime = isRunning || scope.usedFields.has('time');
  const rows: Select = {
    kind: 'select',
    columns: source.dimensions,
    from: numberBaseEvents(scope, first?.conversion, source.from()),
    joins: [],
    where: [
      ...applied.map(({ expr }) => expr),
      // Aggregates with equal keys have equal filters.
      ...(rowFilters ?? []).map((filter) => filterExpr(scope, filter)),
    ],
  };
  const fanOutDimensions = dimensions
    .filter(({ path }) => !path.every(isToOne))
    .map(formatFieldPath);
  const conversions = conversionJoins(scope, first, fanOutDimensions);
  const aggregated = aggregateRows(scope, rows, {
    aggregates:
      rowFilters === undefined ? aggregates : aggregates.map((node) => ({ ...node, where: [] })),
    dimensions,
    fanOutDimensions,
  });
  // Everything above may have added joins to the scope.
  const joins = [...scope.joins.values()];
  const select = withInnerJoins(aggregated, rows, [
    ...source.joins,
    ...joins.map(toJoin),
    ...conversions,
  ]);
  return {
    owner: owner.name,
    aggregates,
    select: spine.finish(source.finish(select), fanOutDimensions),
    dimensions,
    joins,
    conditions: applied,
    filters: [...ownConditions.map(({ text }) => text), ...segmentNames(query, owner)],
    fanOutDimensions,
    usesTime,
    members:
      !isRunning && query.include_empty
        ? planDimensionMembers(rows, { dimensions, joins })
        : membersOfRows(context, fact),
  };
}

/** True if the conditions of an aggregate decide which groups there are. */
function filtersRows({ filtersGroups, conversion, running }: AggregateNode): boolean {
  return filtersGroups === true && conversion === undefined && running === undefined;
}

function segmentNames({ segments }: SemanticQuery, owner: ModelDataset): readonly string[] {
  return segments
    .filter((name) => name.startsWith(`${owner.name}.`))
    .map((name) => `segment ${name}`);
}

/** The rows to aggregate: the owner's, or those of a running total. */
function sourceRows(
  scope: JoinScope,
  dimensions: readonly ResolvedField[],
  aggregates: readonly AggregateNode[],
): RowSource {
  const { owner } = scope;
  const running = aggregates[0]?.running;
  if (running !== undefined) return joinPeriods(scope, dimensions, { aggregates, running });
  return {
    from: () => ({ alias: owner.name, relation: requireReadableRows(owner) }),
    joins: [],
    dimensions: dimensions.map((dimension, index) => ({
      column: `d${index + 1}`,
      expr: fieldExpr(scope, dimension),
    })),
    finish: (select) => select,
  };
}

function openScope(
  context: PlanContext,
  { owner }: Fact,
  { shift, time }: { readonly shift: readonly Period[]; readonly time?: string | undefined },
): JoinScope {
  const { model, query, notes, keys, compared } = context;
  return {
    model,
    owner,
    query,
    notes,
    keys,
    compared,
    shift,
    time,
    reach: 'many',
    joins: new Map(),
    existsJoins: undefined,
    usedFields: new Set(),
    rowMetricValues: (dataset, field) => planRowMetric(context, dataset, field),
    groupValues: (call) => planGroupValues(context, call),
  };
}

function resolveDimensions(
  scope: JoinScope,
  query: SemanticQuery,
  { metric, spine }: Fact & Pick<AggregateNode, 'spine'>,
): readonly ResolvedField[] {
  const dimensions = query.dimensions.map((name) =>
    withErrorContext({ what: `dimension ${name}`, metric, scoped: [] }, () =>
      resolveQueryField(scope, name.split('.')),
    ),
  );
  if (scope.shift.length > 0 || spine !== undefined) checkShiftedTime(scope, dimensions);
  return dimensions;
}

/**
 * Rows that are moved in time need a default time, and the query must group it by whole periods.
 */
function checkShiftedTime(scope: JoinScope, dimensions: readonly ResolvedField[]): void {
  const { owner } = scope;
  // Throws: the dataset has no default time.
  const ownTime = scope.time ?? owner.defaultTime;
  if (ownTime === undefined) resolveQueryField(scope, ['metric_time']);
  const isBareTime = (dimension: ResolvedField) =>
    isDefaultTime(scope, dimension) && dimension.grain === undefined;
  if (!dimensions.some(isBareTime)) return;
  const time = `${owner.name}.${ownTime}`;
  throw queryError('no_period', `A metric with a time offset cannot be grouped by ${time} itself`, {
    hint: 'Group by a period of it.',
    choices: ['metric_time.day', `${time}.day`],
  });
}

/** The conditions and segments that restrict the owner's rows. */
function applyConditions(
  { query, owners = [] }: PlanContext,
  { scope, fact, isRunning }: { scope: JoinScope; fact: Fact; isRunning: boolean },
  ownConditions: QueryConditions['rows'],
): readonly AppliedCondition[] {
  const onRows = ownConditions.filter(
    (condition) => !isRunning || !isAboutPeriods(scope, condition),
  );
  return [
    ...onRows.map((condition) => ({
      text: condition.text,
      expr: rowConditionExpr(scope, condition, { metric: fact.metric, owners }),
    })),
    ...segmentConditions(scope, query),
  ];
}

/** No joins, unless the aggregate is a conversion. */
function conversionJoins(
  scope: JoinScope,
  aggregate: AggregateNode | undefined,
  fanOutDimensions: readonly string[],
): Select['joins'] {
  if (aggregate?.conversion === undefined) return [];
  const joins = joinConversions(scope, aggregate.conversion);
  if (fanOutDimensions.length === 0) return joins;
  throw notSupportedError(
    'a conversion by a dimension to many',
    `${fanOutDimensions.join(' and ')} has several values for one row`,
  );
}

/** Adds joins to the innermost rows: those inside the subqueries, if the select has any. */
function withInnerJoins(select: Select, rows: Select, joins: Select['joins']): Select {
  const { relation } = select.from;
  if (select.from === rows.from || relation.kind !== 'select' || relation.select.kind !== 'select')
    return { ...select, joins };
  const inner = withInnerJoins(relation.select, rows, joins);
  return { ...select, from: { ...select.from, relation: { kind: 'select', select: inner } } };
}

/** The members of the dimensions, planned on the owner's plain rows. */
function membersOfRows(context: PlanContext, fact: Fact): FactQuery['members'] {
  return context.query.include_empty ? planFactQuery(context, [], fact).members : [];
}

/** An aggregate of an aggregate: the inner one is grouped by one more dimension, `nested.per`. */
function planNested(
  context: PlanContext,
  aggregate: AggregateNode,
  { nested, ...fact }: Fact & { readonly nested: NestedAggregate },
): FactQuery {
  const { query } = context;
  const innerQuery = {
    ...query,
    dimensions: [...query.dimensions, nested.per],
    include_empty: false,
  };
  const inner = planFactQuery({ ...context, query: innerQuery }, nested.aggregates, fact);
  const members = membersOfRows(context, fact);
  const dimensions = inner.dimensions.slice(0, query.dimensions.length);
  const per = new Map([[`d${dimensions.length + 1}`, perColumn]]);
  const rows = renameColumns(inner.select, per);
  const grouped = aggregateNested(rows, aggregate, dimensions.length);
  const select = rankPercentiles(grouped, context.model.dialect);
  return { ...inner, aggregates: [aggregate], dimensions, members, select };
}

/** A total over some of the dimensions: planned as if the query had only the others. */
function planTotal(
  context: PlanContext,
  aggregates: readonly AggregateNode[],
  { by, ...fact }: Fact & { readonly by: readonly string[] },
): FactQuery {
  const { query } = context;
  const { dimensions, usesTime } = planFactQuery(
    { ...context, query: { ...query, include_empty: false } },
    [],
    fact,
  );
  const totalBy = by.flatMap((name) => findDimensions(context, fact, { name, dimensions }));
  const withoutTotal = aggregates.map((aggregate) => ({ ...aggregate, total: undefined }));
  if (aggregates.some(({ running }) => running !== undefined))
    throw notSupportedError('a total of a running total', `${fact.metric} is one`);
  const isOfAll = context.conditions.rows.every(({ sparesTotals }) => sparesTotals !== true);
  if (new Set(totalBy).size === dimensions.length && isOfAll)
    return { ...planFactQuery(context, withoutTotal, fact), aggregates };
  const indexes = [...new Set(totalBy)].toSorted((a, b) => a - b);
  const totalQuery = {
    ...query,
    dimensions: indexes.flatMap((index) => query.dimensions[index] ?? []),
    include_empty: false,
  };
  const rows = context.conditions.rows.filter(({ sparesTotals }) => sparesTotals !== true);
  const conditions = { ...context.conditions, rows };
  const total = planFactQuery({ ...context, query: totalQuery, conditions }, withoutTotal, fact);
  // Columns keep the numbers that the dimensions have in the whole query.
  const columns = total.select.columns.map((column, position) => {
    const index = indexes[position];
    return index === undefined ? column : { ...column, column: `d${index + 1}` };
  });
  return {
    ...total,
    aggregates,
    dimensions,
    select: { ...total.select, columns },
    totalBy: indexes,
    usesTime,
  };
}

/**
 * The indexes of the query's dimensions that a total names. There are several if a conformed
 * dimension is the same field of this fact.
 */
function findDimensions(
  { model }: PlanContext,
  { owner, metric }: Fact,
  { name, dimensions }: { name: string; dimensions: readonly ResolvedField[] },
): readonly number[] {
  const path = formatFieldPath(resolveQueryField({ model, owner, reach: 'many' }, name.split('.')));
  const indexes = [...dimensions.keys()].filter((index) => {
    const dimension = dimensions[index];
    return dimension !== undefined && formatFieldPath(dimension) === path;
  });
  if (indexes.length > 0) return indexes;
  throw queryError(
    'no_group',
    `${metric} is a total by ${name}, but the query does not group by ${name}`,
    { hint: 'Add it to the dimensions.', choices: [name] },
  );
}

/** Plans the values of a row metric: a separate fact query, grouped by the key of the dataset. */
function planRowMetric(
  context: PlanContext,
  dataset: ModelDataset,
  field: ModelField,
): RowMetricValues {
  const rowMetric = resolveRowMetric(context, dataset, field);
  const { select } = planFactQuery(rowMetric.context, rowMetric.aggregates, rowMetric.fact);
  context.notes.add(rowMetric.note);
  return { select, value: rowMetric.value };
}
