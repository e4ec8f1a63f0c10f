import { UserError } from '../../lib/error.ts';
import { findDerivedPeriod } from '../model/derived-period.ts';
import { grains } from '../model/grains.ts';
import type { ModelDataset, SemanticModel } from '../model/model.ts';
import { ambiguousError, queryError, unknownDatasetError } from '../query/errors.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { Expr } from '../relational/query-tree.ts';
import { type AggregateNode, factQueryKey, type MetricTrace } from '../resolve/aggregate-node.ts';
import {
  formatFieldPath,
  requireDataset,
  type ResolvedField,
  resolveQueryField,
} from '../resolve/field-path.ts';
import { type FactQuery, planFactQuery } from './fact-query.ts';
import type { PlanContext } from './plan-context.ts';
import { checkConditionScopes, noteShiftWithoutTime } from './query-checks.ts';
import { findSpine } from './spine/find-spine.ts';

/** A metric of the query as arithmetic over the output columns of fact queries. */
export interface PlannedMetric {
  readonly name: string;
  readonly expr: Expr;
  readonly trace: MetricTrace;
}

type FactQueries = readonly [FactQuery, ...FactQuery[]];

/**
 * One fact query for all aggregates that can share one, see `factQueryKey`. A query without metrics
 * has one that lists the rows which its dimensions are about.
 */
export function planFactQueries(
  context: PlanContext,
  aggregates: readonly AggregateNode[],
  metrics: readonly PlannedMetric[],
): FactQueries {
  const { model, query } = context;
  if (query.include_empty && aggregates.length === 0)
    throw queryError(
      'unused_option',
      'include_empty has no effect in a query without metrics',
      'Add a metric, or leave include_empty out.',
    );
  const groups = [...Map.groupBy(aggregates, factQueryKey).values()];
  const owners = groups.flatMap(([first]) => first?.owner ?? []);
  const ofAggregates = groups.map((group) => {
    const owner = requireDataset(model, group[0]?.owner ?? '');
    const metric = nameOfMetric(group, metrics) ?? `the metrics of ${owner.name}`;
    const factQuery = planFactQuery({ ...context, owners }, group, { owner, metric });
    noteShiftWithoutTime(context, factQuery, metric);
    return factQuery;
  });
  const planned = [...groupsOfTotals(context, ofAggregates), ...ofAggregates];
  const [first = planRowsOnly(context), ...others] = planned;
  checkConditionScopes(
    context,
    [first, ...others].map(({ owner }) => owner),
  );
  return [first, ...others];
}

/**
 * The metric of the query that the aggregates belong to; undefined if only conditions or the order
 * use them.
 */
function nameOfMetric(
  [first]: readonly AggregateNode[],
  metrics: readonly PlannedMetric[],
): string | undefined {
  return metrics.find(({ trace }) => first !== undefined && trace.aggregates.has(first))?.name;
}

/**
 * The groups of rows that the query only totals: the result shows all of them, whatever other
 * metrics it has.
 */
function groupsOfTotals(
  context: PlanContext,
  factQueries: readonly FactQuery[],
): readonly FactQuery[] {
  const rowsKey = ({ owner, aggregates: [first] }: FactQuery): string =>
    JSON.stringify([owner, first?.time ?? null, first?.shift ?? []]);
  const isRunning = ({ aggregates: [first] }: FactQuery): boolean =>
    first?.running !== undefined || first?.spine !== undefined;
  const grouped = factQueries.filter((factQuery) => {
    const isTotal = factQuery.totalBy !== undefined;
    return !isTotal && !isRunning(factQuery);
  });
  const groupedRows = new Set(grouped.map(rowsKey));
  const totalsOnly = factQueries.filter(
    (factQuery) => factQuery.totalBy !== undefined && !groupedRows.has(rowsKey(factQuery)),
  );
  const byRows = new Map(totalsOnly.map((factQuery) => [rowsKey(factQuery), factQuery]));
  return [...byRows.values()].map(({ owner, aggregates: [first] }) =>
    planFactQuery(context, [], {
      owner: requireDataset(context.model, owner),
      metric: owner,
      shift: first?.shift ?? [],
      time: first?.time,
    }),
  );
}

/** Groups the rows of the dataset that the dimensions are about. */
function planRowsOnly(context: PlanContext): FactQuery {
  const owner =
    spineOfDimensions(context.model, context.query) ??
    datasetOfDimensions(context.model, context.query);
  return planFactQuery(context, [], { owner, metric: '' });
}

/** The time spine, if every dimension is a period of `metric_time` and the model has a spine. */
function spineOfDimensions(
  { datasets, ...model }: SemanticModel,
  { dimensions }: SemanticQuery,
): ModelDataset | undefined {
  const periods = dimensions.map((dimension) => dimension.split('.'));
  const hasSpine = [...datasets.values()].some(({ timeSpine }) => timeSpine !== undefined);
  if (!hasSpine || periods.some(([first]) => first !== 'metric_time')) return undefined;
  const whole = { datasets, ...model };
  const wanted = periods.map(
    ([, period = 'day']) =>
      findDerivedPeriod(whole, period)?.grain ?? grains.find((grain) => grain === period) ?? 'day',
  );
  return findSpine(whole, wanted).dataset;
}

interface CandidateDataset {
  readonly dataset: ModelDataset;
  readonly dimensions: readonly ResolvedField[];
}

/**
 * The dataset from which every dimension can be reached. Prefers datasets that a dimension names.
 * Throws if there is no such dataset, or more than one.
 */
function datasetOfDimensions(model: SemanticModel, query: SemanticQuery): ModelDataset {
  const firstNames = query.dimensions.map((dimension) => dimension.split('.')[0] ?? '');
  const failures: UserError[] = [];
  const reaching: CandidateDataset[] = [];
  for (const dataset of new Set(firstNames.flatMap((name) => datasetsReaching(model, name)))) {
    try {
      const start = { model, owner: dataset, reach: 'one' } as const;
      const dimensions = query.dimensions.map((dimension) =>
        resolveQueryField(start, dimension.split('.')),
      );
      reaching.push({ dataset, dimensions });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failures.push(error);
    }
  }
  const named = nearest(
    reaching.filter(({ dataset: { name, entity = name } }) =>
      [name, entity].some((own) => firstNames.includes(own)),
    ),
  );
  const [first, ...others] = named.length > 0 ? named : reaching;
  if (first === undefined) throw failures[0] ?? unknownDatasetError(model, firstNames[0] ?? '');
  if (others.length === 0) return first.dataset;
  throw ambiguousError(
    'ambiguous_path',
    `${query.dimensions.join(' and ')} do not say whose rows are meant`,
    [first, ...others].flatMap(firstJoinedField),
  );
}

/** Of the datasets with one entity, those that need the fewest joins. */
function nearest(candidates: readonly CandidateDataset[]): readonly CandidateDataset[] {
  const joinCount = ({ dimensions }: CandidateDataset): number =>
    dimensions.reduce((sum, { path }) => sum + path.length, 0);
  const fewest = Math.min(...candidates.map(joinCount));
  return candidates.filter(
    (candidate) => candidate.dataset.entity === undefined || joinCount(candidate) === fewest,
  );
}

/** As a choice: the first dimension, with its path from the dataset. */
function firstJoinedField({ dimensions }: CandidateDataset): readonly string[] {
  const joined = dimensions.find(({ path }) => path.length > 0);
  return joined === undefined ? [] : [formatFieldPath(joined)];
}

/** The dataset of that name, or all datasets that have a join of that name. */
function datasetsReaching(model: SemanticModel, name: string): readonly ModelDataset[] {
  if (name === 'metric_time')
    throw queryError('no_owner', 'metric_time needs a metric', 'Add a metric.');
  const dataset = model.datasets.get(name);
  if (dataset !== undefined) return [dataset];
  return [...model.datasets.values()].filter(
    ({ entity, toOne }) => entity === name || toOne.some((step) => step.name === name),
  );
}
