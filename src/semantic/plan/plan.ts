import type { FieldType } from '../../sql/field-type.ts';
import type { KeyAssumption, PlannedKeys } from '../keys/key-assumption.ts';
import type { Grain } from '../model/grains.ts';
import { findField, type SemanticModel } from '../model/model.ts';
import { parametersIn, withParameters } from '../model/parameters.ts';
import { queryError, unknownNameError } from '../query/errors.ts';
import { querySchema, type SemanticQuery } from '../query/query.ts';
import type { CommonTable, Expr } from '../relational/query-tree.ts';
import { emptyTrace } from '../resolve/aggregate-node.ts';
import { splitConditions } from '../resolve/conditions.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import {
  createResolver,
  enterMetric,
  findMetric,
  type MetricResolver,
} from '../resolve/metric-resolver.ts';
import { resolveQueryMetric, withZeroForMissingSums } from '../resolve/metrics.ts';
import { replaceSynonyms } from '../resolve/synonyms.ts';
import { planCalendar } from './calendar.ts';
import type { FactQuery } from './fact-query.ts';
import { mergeFactQueries } from './merge-facts.ts';
import type { Subplans } from './plan-context.ts';
import { planFactQueries, type PlannedMetric } from './plan-facts.ts';
import { checkColumnNames, checkCommonPeriods } from './query-checks.ts';
import { type MetricReceipt, createMetricReceipt, guardedDatasets } from './receipt.ts';

/**
 * What to compute, as plain data. Each fact query aggregates the rows of one dataset. The common
 * tables merge them to one row per group, and the outermost query computes columns, conditions and
 * order over these rows.
 */
export interface Plan {
  readonly factQueries: readonly FactQuery[];
  /**
   * The WITH clause, made of the fact queries. A table may read earlier ones. The last one has one
   * row per group.
   */
  readonly tables: readonly CommonTable[];
  /** True if one of the tables reads itself. */
  readonly isRecursive: boolean;
  /** The dimensions, then the metrics of the query. */
  readonly columns: readonly PlanColumn[];
  readonly having: readonly Expr[];
  readonly order: readonly { readonly expr: Expr; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  /**
   * Addresses of all model metrics that the answer uses, also in conditions and inside other
   * metrics.
   */
  readonly used: ReadonlySet<string>;
  /** What the numbers take for granted about keys, also inside row rules. */
  readonly assumes: readonly KeyAssumption[];
  readonly receipt: {
    readonly metrics: readonly MetricReceipt[];
    readonly notes: readonly string[];
    /** The parameter values that the plan uses, by `dataset.name`. */
    readonly parameters: ReturnType<typeof parametersIn>;
  };
}

interface PlanColumn {
  /** As the query names it. */
  readonly name: string;
  readonly kind: 'dimension' | 'metric';
  readonly expr: Expr;
  readonly type: FieldType | undefined;
  readonly grain: Grain | undefined;
  readonly unit: string | undefined;
}

/**
 * Plans a query. Pure; call it inside `withAnalyzer`. Throws a `UserError` that names the choices,
 * or `not_supported`.
 *
 * 1. Resolve the names of the query: synonyms become names, metrics become aggregates, conditions
 *    are split into WHERE and HAVING.
 * 2. Plan a fact query for each dataset that has aggregates.
 * 3. Plan the calendar: the periods of running totals and of `fill_time`.
 * 4. Merge the fact queries to one row per group.
 * 5. Write the receipt.
 */
export function createPlan(
  model: SemanticModel,
  query: SemanticQuery,
  contradicted: PlannedKeys['contradicted'] = new Set(),
): Plan {
  return planWithin(model, query, { contradicted, within: [] });
}

interface PlanSurroundings {
  readonly contradicted: PlannedKeys['contradicted'];
  /** The metrics of `metric_by` that this query is inside of, outermost first. */
  readonly within: readonly string[];
}

function planWithin(
  givenModel: SemanticModel,
  givenQuery: SemanticQuery,
  { contradicted, within }: PlanSurroundings,
): Plan {
  const model = withParameters(givenModel, givenQuery.parameters);
  const { query, notes: synonymNotes } = replaceSynonyms(model, givenQuery);
  const resolver = createResolver(model, query.metrics, { skipsEmpty: query.skip_empty });
  const metrics = resolveMetrics(resolver, query);
  checkColumnNames([...query.dimensions, ...metrics.map(({ name }) => name)]);
  const conditions = splitConditions(resolver, query);
  const order = resolveOrder(resolver, query, metrics);

  const notes = new Set<string>(synonymNotes);
  const { usedMetrics } = resolver;
  const keys = { assumed: new Map<string, KeyAssumption>(), contradicted };
  const subplans = openSubplans(model, query, { contradicted, within });
  const context = { model, query, conditions, notes, keys, usedMetrics, subplans };
  const factQueries = planFactQueries(context, [...resolver.aggregates.values()], metrics);
  checkCommonPeriods(context, factQueries);

  const calendar = planCalendar(context, factQueries);
  const tables = [
    ...subplans.tables,
    ...calendar.tables,
    ...mergeFactQueries(calendar.factQueries, calendar.filledPeriods),
  ];

  const metricExprs = metrics.map(({ expr }) => expr);
  const hasParameters = model !== givenModel;
  const parameters = hasParameters
    ? parametersIn([tables, metricExprs, conditions.aggregates, order])
    : {};
  const having = conditions.aggregates.map(({ text }) => text);
  return {
    factQueries,
    tables,
    isRecursive: calendar.isRecursive || subplans.isRecursive,
    columns: [...dimensionColumns(query, factQueries[0]), ...metrics.map(metricColumn)],
    having: conditions.aggregates.map(({ expr }) => expr),
    order,
    limit: query.limit,
    used: usedMetrics,
    assumes: [...keys.assumed.values(), ...assumedByRowRules(model, factQueries)],
    receipt: {
      metrics: metrics.map((metric) =>
        createMetricReceipt(model, metric, { factQueries, grain: query.dimensions, having }),
      ),
      notes: [...notes, ...fanOutNotes(factQueries), ...unusedParameterNotes(query, parameters)],
      parameters,
    },
  };
}

function openSubplans(
  model: SemanticModel,
  { timezone, week_start }: SemanticQuery,
  { contradicted, within }: PlanSurroundings,
): Subplans {
  return {
    planned: new Map(),
    tables: [],
    isRecursive: false,
    plan: (metric, dimensions) =>
      planWithin(
        model,
        querySchema.parse({ metrics: [metric], dimensions, timezone, week_start }),
        { contradicted, within: enterMetric(within, metric) },
      ),
  };
}

function resolveMetrics(
  resolver: MetricResolver,
  { metrics }: SemanticQuery,
): readonly PlannedMetric[] {
  return metrics.map((metric) => {
    const name = typeof metric === 'string' ? metric : metric.name;
    const trace = emptyTrace();
    const expr = withZeroForMissingSums(() => resolveQueryMetric(resolver, name, trace), trace);
    if (trace.aggregates.size > 0) return { name, expr, trace };
    throw queryError(
      'no_owner',
      `${name} aggregates nothing`,
      'Use a metric or an aggregate in it, like sum(orders.amount).',
    );
  });
}

/**
 * The order of the query, then all other dimensions, so that rows with equal values do not change
 * places between runs.
 */
function resolveOrder(
  resolver: MetricResolver,
  query: SemanticQuery,
  metrics: readonly PlannedMetric[],
): Plan['order'] {
  const requested = query.order_by.map(({ field, dir }) => {
    const index = query.dimensions.indexOf(field);
    const isDimension = index !== -1;
    const expr = isDimension
      ? selectDimension(index)
      : resolveOrderMetric(resolver, field, { query, metrics });
    return { dir, expr };
  });
  const tieBreakers = [...query.dimensions.entries()]
    .filter(([, name]) => !query.order_by.some(({ field }) => field === name))
    .map(([index]) => ({ dir: 'asc' as const, expr: selectDimension(index) }));
  return [...requested, ...tieBreakers];
}

/** A metric of the query, or another metric of the model. */
function resolveOrderMetric(
  resolver: MetricResolver,
  field: string,
  { query, metrics }: { query: SemanticQuery; metrics: readonly PlannedMetric[] },
): Expr {
  const requested = metrics.find(({ name }) => name === field);
  if (requested !== undefined) return requested.expr;
  if (findMetric(resolver.model, field.split('.')) !== undefined)
    return withZeroForMissingSums((trace) => resolveQueryMetric(resolver, field, trace));
  const candidates = [...metrics.map(({ name }) => name), ...query.dimensions];
  throw unknownNameError({ what: 'requested dimension or metric', name: field, candidates });
}

/** The result column of a dimension: `d1`, `d2`… */
function selectDimension(index: number): Expr {
  return { kind: 'output_column', column: `d${index + 1}` };
}

function dimensionColumns(query: SemanticQuery, { dimensions }: FactQuery): readonly PlanColumn[] {
  return dimensions.map((dimension, index) => ({
    name: query.dimensions[index] ?? '',
    kind: 'dimension',
    expr: selectDimension(index),
    type: dimensionType(dimension),
    grain: dimension.derived === undefined ? dimension.grain : undefined,
    unit: undefined,
  }));
}

function dimensionType({ grain, derived, field }: ResolvedField): FieldType | undefined {
  if (derived?.kind === 'part') return 'integer';
  if (derived?.kind === 'custom') return findField(derived.spine, derived.field)?.type;
  if (grain === undefined) return field?.type;
  const isWithinDay = grain === 'second' || grain === 'minute' || grain === 'hour';
  return isWithinDay ? 'datetime' : 'date';
}

function metricColumn({ name, expr, trace }: PlannedMetric): PlanColumn {
  const unit = trace.metric?.unit;
  return { name, kind: 'metric', expr, type: undefined, grain: undefined, unit };
}

function assumedByRowRules(
  model: SemanticModel,
  factQueries: readonly FactQuery[],
): readonly KeyAssumption[] {
  const selects = factQueries.map(({ select }) => select);
  return guardedDatasets(model, selects).flatMap(({ rows }) =>
    rows.kind === 'guarded' ? rows.assumes : [],
  );
}

function fanOutNotes(factQueries: readonly FactQuery[]): readonly string[] {
  return factQueries.flatMap(({ owner, fanOutDimensions }) =>
    fanOutDimensions.map(
      (dimension) =>
        `One row of ${owner} can have several ${dimension}: it counts once in each, so these groups do not add up to the total`,
    ),
  );
}

function unusedParameterNotes(
  { parameters }: SemanticQuery,
  usedParameters: object,
): readonly string[] {
  // A query names a parameter `dataset.name`, or just `name`.
  const usedNames = Object.keys(usedParameters).flatMap((address) => [
    address,
    address.split('.').at(-1),
  ]);
  const unused = Object.keys(parameters).filter((name) => !usedNames.includes(name));
  return unused.map((name) => `Nothing in the query uses the parameter ${name}`);
}
