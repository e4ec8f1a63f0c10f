import type { Aggregate } from '../../../../sql/aggregates.ts';
import { type BoundModel, dimensionField, quoteName } from './bound-model.ts';
import {
  combineFilters,
  findMeasure,
  type MetricBody,
  type MetricMapping,
  type ModelBody,
  requireField,
  requireUsableSql,
} from './metric-mapping.ts';
import { type MetricShape, UnreadableMetric } from '../spec/metric-spec.ts';
import { type Measure, plainColumn } from '../spec/semantic-model-schema.ts';

/**
 * Maps a simple metric, an aggregate of one measure. `filters` are those of the metric; the measure
 * may have its own.
 */
export function mapSimple(
  mapping: MetricMapping,
  input: Extract<MetricShape, { kind: 'simple' }>['measure'],
  filters: readonly string[],
): ModelBody {
  const isOwnMeasure = 'agg' in input;
  const { model, measure } = isOwnMeasure
    ? { model: requireModel(mapping, input.model), measure: input }
    : requireMeasure(mapping, input.name);
  const inputFilters = isOwnMeasure ? [] : input.filters;
  const where = combineFilters(mapping, model, [...inputFilters, ...filters]);
  return {
    model,
    body: {
      ...aggregateOfMeasure(mapping, model, measure),
      ...ownTime(model, measure),
      ...(where === undefined ? {} : { where }),
    },
  };
}

/** The time of the measure, if it is not that of its model. */
function ownTime(
  model: BoundModel,
  { agg_time_dimension: time }: Measure,
): Pick<MetricBody, 'time'> {
  if (time === undefined || time === model.spec.defaults?.agg_time_dimension) return {};
  return { time: requireField(model, time) };
}

function requireMeasure({ models }: MetricMapping, name: string) {
  const match = findMeasure(models, name);
  if (match === undefined)
    throw new UnreadableMetric(
      `no semantic model with a table in the warehouse has the measure ${name}`,
    );
  return match;
}

function requireModel({ models }: MetricMapping, name: string): BoundModel {
  const model = models.find(({ spec }) => spec.name === name);
  if (model === undefined)
    throw new UnreadableMetric(`the semantic model ${name} has no table in the warehouse`);
  return model;
}

const aggregatesByMetricFlowName: Readonly<Record<string, Aggregate>> = {
  sum: 'sum',
  sum_boolean: 'sum',
  count: 'count',
  count_distinct: 'count_distinct',
  average: 'avg',
  avg: 'avg',
  min: 'min',
  max: 'max',
  median: 'median',
  percentile: 'percentile',
};

function aggregateOfMeasure(
  mapping: MetricMapping,
  model: BoundModel,
  measure: Measure,
): MetricBody {
  const agg = Object.hasOwn(aggregatesByMetricFlowName, measure.agg)
    ? aggregatesByMetricFlowName[measure.agg]
    : undefined;
  if (agg === undefined) throw new UnreadableMetric(`ktx has no aggregate ${measure.agg}`);
  if (countsRows(measure, agg)) return { agg: 'count', ...readNonAdditive(model, measure) };
  const argument = measureArgument(mapping, model, measure);
  const of = measure.agg === 'sum_boolean' ? `case when ${argument} then 1 else 0 end` : argument;
  return { agg, of, ...readPercentile(measure, agg), ...readNonAdditive(model, measure) };
}

function expressionOf({ name, expr }: Measure): string {
  return expr?.trim() ?? name;
}

/** `count(1)`, `count(*)`, `count(true)` and `sum(1)` count rows. */
function countsRows(measure: Measure, agg: Aggregate): boolean {
  const expr = expressionOf(measure);
  return (agg === 'count' && /^(1|\*|true)$/i.test(expr)) || (agg === 'sum' && expr === '1');
}

/** The measure's expression over fields of the model's dataset. */
function measureArgument(mapping: MetricMapping, model: BoundModel, measure: Measure): string {
  const expr = expressionOf(measure);
  const column = plainColumn({ name: measure.name, expr });
  if (column === undefined)
    return requireUsableSql(mapping, expr, (name) => model.field(name) !== undefined);
  const field = model.field(column);
  if (field === undefined) throw new UnreadableMetric(`${model.dataset} has no column ${column}`);
  return quoteName(field);
}

/** Which percentile it is; nothing for any other aggregate. */
function readPercentile(
  { agg_params }: Measure,
  agg: Aggregate,
): Pick<MetricBody, 'agg' | 'fraction'> {
  if (agg !== 'percentile') return {};
  const { percentile, use_discrete_percentile, use_approximate_percentile } = agg_params ?? {};
  if (typeof percentile !== 'number') throw new UnreadableMetric('it has no percentile');
  if (use_approximate_percentile === true)
    throw new UnreadableMetric('ktx has no approximate percentile');
  const fraction = percentile > 1 ? percentile / 100 : percentile;
  return { agg: use_discrete_percentile === true ? 'percentile_disc' : agg, fraction };
}

/**
 * A `non_additive_dimension` makes a balance: per group, only the first or the last value counts.
 */
function readNonAdditive(
  model: BoundModel,
  { non_additive_dimension: rule }: Measure,
): Pick<MetricBody, 'semi_additive'> {
  if (!rule) return {};
  const per = (rule.window_groupings ?? []).map((name) => requireField(model, name));
  const dimension = model.spec.dimensions.find(({ name }) => name === rule.name);
  const over = dimension && dimensionField(model, dimension);
  if (over === undefined)
    throw new UnreadableMetric(
      `it is not additive over ${rule.name}, which is no field of ${model.dataset}`,
    );
  const take = rule.window_choice === 'max' ? 'last' : 'first';
  return { semi_additive: { over: over.name, take, per } };
}
