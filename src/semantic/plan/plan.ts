import { UserError } from '../../lib/error.ts';
import type { FieldType } from '../../sql/field-type.ts';
import type { KeyAssumption, PlannedKeys } from '../keys/key-assumption.ts';
import type { Grain } from '../model/grains.ts';
import type { SemanticModel } from '../model/model.ts';
import { parametersIn, withParameters } from '../model/parameters.ts';
import { withWorkingChoices } from '../query/working-choices.ts';
import { querySchema, type SemanticQuery } from '../query/query.ts';
import type { CommonTable, Expr } from '../relational/query-tree.ts';
import { enterMetric } from '../resolve/metric-resolver.ts';
import type { ComparedText, ComparedTexts } from '../resolve/literals/compared-text.ts';
import { replaceOwnSpellings } from '../resolve/names/own-spellings.ts';
import { replaceSynonyms } from '../resolve/synonyms.ts';
import type { FactQuery } from './fact-query.ts';
import type { Subplans } from './plan-context.ts';
import { type MetricReceipt, createMetricReceipt, guardedDatasets } from './receipt.ts';
import { shareShiftedTables } from './share-shifted.ts';
import { checkComparedPeriods } from './stage/check-compared.ts';
import { type PlannedGroups, planGroups } from './stage/plan-groups.ts';
import { planStage } from './stage/plan-stage.ts';
import { dimensionType } from './stage/result-rows.ts';
import { readStage } from './stage/read-stage.ts';
import type { PlannedStage } from './stage/shown-rows.ts';

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
  /** The texts that conditions of the query compare fields with. */
  readonly compared: readonly ComparedText[];
  /** What the numbers take for granted about keys, also inside row rules. */
  readonly assumes: readonly KeyAssumption[];
  readonly receipt: {
    readonly metrics: readonly MetricReceipt[];
    /** What is computed over the groups, and of what. */
    readonly computed?: PlannedStage['computed'];
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
  /** How it is computed of the columns of fact queries. */
  readonly meaning: Expr;
  readonly type: FieldType | undefined;
  readonly grain: Grain | undefined;
  readonly unit: string | undefined;
}

/**
 * Plans a query. Pure; call it inside `withAnalyzer`. Throws a `UserError` that names the choices,
 * or `not_supported`.
 *
 * 1. Replace synonyms by names, and read what is computed over the result.
 * 2. Plan the groups: fact queries, merged to one row per group.
 * 3. Plan what is computed over these rows.
 * 4. Write the receipt.
 */
export function createPlan(
  model: SemanticModel,
  query: SemanticQuery,
  contradicted: PlannedKeys['contradicted'] = new Set(),
): Plan {
  const plan = (wanted: SemanticQuery) => planWithin(model, wanted, { contradicted, within: [] });
  try {
    return plan(query);
  } catch (error) {
    throw error instanceof UserError ? withWorkingChoices(error, query, plan) : error;
  }
}

/**
 * Like `createPlan`, for work that tries many queries: the choices that an error names are not
 * tried.
 */
export const createPlanToTry = (model: SemanticModel, query: SemanticQuery): Plan =>
  planWithin(model, query, { contradicted: new Set(), within: [] });

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
  const own = replaceOwnSpellings(model, givenQuery);
  const { query, notes: synonymNotes, replaced } = replaceSynonyms(model, own.query);
  const notes = new Set<string>([...own.notes, ...synonymNotes]);
  const usedMetrics = new Set<string>();
  const compared: ComparedTexts = new Map();
  const keys = { assumed: new Map<string, KeyAssumption>(), contradicted };
  const stage = readStage(model, query, replaced);
  const subplans = openSubplans(model, query, { contradicted, within });
  const input = { model, query, stage, notes, compared, keys, usedMetrics, subplans };
  const groups = planGroups(input);
  const { factQueries, conditions } = groups;
  checkComparedPeriods(input, groups);
  const result = planStage(input, groups);
  const parameters =
    model === givenModel
      ? {}
      : parametersIn([
          subplans.tables,
          result.tables,
          result.values,
          conditions.aggregates,
          result.order,
        ]);
  return {
    factQueries,
    tables: shareShiftedTables([...subplans.tables, ...result.tables]),
    isRecursive: result.isRecursive || subplans.isRecursive,
    columns: [...dimensionColumns(query, factQueries[0], result), ...valueColumns(groups, result)],
    having: result.having,
    order: result.order,
    limit: query.limit,
    used: usedMetrics,
    compared: [...compared.values()],
    assumes: [...keys.assumed.values(), ...assumedByRowRules(model, factQueries)],
    receipt: {
      metrics: groups.metrics.map((metric) =>
        createMetricReceipt(model, metric, {
          factQueries,
          grain: query.dimensions,
          having: conditions.aggregates.map(({ text }) => text),
        }),
      ),
      ...(result.computed.length === 0 ? {} : { computed: result.computed }),
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

function dimensionColumns(
  query: SemanticQuery,
  { dimensions }: FactQuery,
  result: PlannedStage,
): readonly PlanColumn[] {
  const columns = dimensions.flatMap((dimension, index): readonly PlanColumn[] => {
    const expr = result.dimensions[index];
    if (expr === undefined) return [];
    const name = query.dimensions[index] ?? '';
    const grain = dimension.derived === undefined ? dimension.grain : undefined;
    const type = dimensionType(dimension);
    return [{ name, kind: 'dimension', expr, meaning: expr, type, grain, unit: undefined }];
  });
  const { rowKind } = result;
  if (rowKind === undefined) return columns;
  const kind: PlanColumn = {
    name: rowKindName,
    kind: 'dimension',
    expr: rowKind,
    meaning: rowKind,
    type: 'string',
    grain: undefined,
    unit: undefined,
  };
  return [...columns, kind];
}

/** The column that tells groups from the others and from totals. */
const rowKindName = 'row_kind';

function valueColumns({ metrics }: PlannedGroups, { values }: PlannedStage): readonly PlanColumn[] {
  return values.map(({ name, expr, meaning }) => ({
    name,
    kind: 'metric',
    expr,
    meaning,
    type: undefined,
    grain: undefined,
    unit: metrics.find((metric) => metric.name === name)?.trace.metric?.unit,
  }));
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
        `One row of ${owner} can have several ${dimension}: it counts once in each, ` +
        'so these groups do not add up to the total',
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
