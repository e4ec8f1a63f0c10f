import { canonicalJson } from '../../../../lib/json.ts';
import { type Aggregate, isPercentile } from '../../../../sql/aggregates.ts';
import type { ExpressionText } from '../../../model/schema-parts.ts';
import type { MetricDefinition } from '../../../model/metric-definition.ts';
import { omitKeys, type PlainObject } from '../../patch.ts';
import { columnSql, type DatasetExport, filterTemplate } from './dbt-sql.ts';
import { NotInDbt } from './not-in-dbt.ts';

/** The measures written so far, by dataset and by the JSON of what they compute. */
export type DbtMeasures = Map<string, Map<string, PlainObject>>;

interface MeasureContext extends DatasetExport {
  readonly measures: DbtMeasures;
}

const dbtAggregates: Readonly<Partial<Record<Aggregate, string>>> = {
  avg: 'average',
  percentile_disc: 'percentile',
};

/** Writes an aggregate as a simple metric over a measure. `name` is the metric's name in dbt. */
export function writeSimple(
  metric: MetricDefinition,
  name: string,
  context: MeasureContext,
): PlainObject {
  const { agg, of, fraction, where, semi_additive: balance, per, default: fill } = metric;
  if (per !== undefined) throw new NotInDbt('dbt has no aggregates of aggregates');
  if (where !== undefined && balance !== undefined)
    throw new NotInDbt('dbt and ktx filter a balance at different steps');
  const { filter, condition } = writeCondition(where, context);
  const value = of === undefined ? '1' : columnSql(of, context);
  if (value === undefined || agg === undefined)
    throw new NotInDbt('it aggregates a column of another table');
  const measure = {
    agg: dbtAggregates[agg] ?? agg,
    expr: condition === undefined ? value : `case when ${condition} then ${value} end`,
    ...(balance && { non_additive_dimension: writeNonAdditive(balance, context) }),
    ...writeAggregateParams(agg, fraction),
    ...writeOwnTime(metric, context),
  };
  const measureName = addMeasure(measure, name, context);
  const options = omitKeys({
    join_to_timespine: metric.join_to_timespine,
    fill_nulls_with: fill,
  });
  const input = Object.keys(options).length === 0 ? measureName : { name: measureName, ...options };
  return { type: 'simple', type_params: { measure: input }, ...omitKeys({ filter }) };
}

function writeOwnTime(
  { time }: MetricDefinition,
  { home, names }: MeasureContext,
): { readonly agg_time_dimension?: string } {
  if (time === undefined) return {};
  const field = home.fields?.find(({ name }) => name === time);
  const dimension = field && names.dimensions.get(home.dataset)?.get(field);
  if (dimension === undefined) throw new NotInDbt(`dbt has no dimension for its time ${time}`);
  return { agg_time_dimension: dimension };
}

/**
 * A filter that dbt's templates cannot express goes into the measure, as the condition of a CASE.
 */
function writeCondition(
  where: ExpressionText | undefined,
  context: MeasureContext,
): { readonly filter?: string; readonly condition?: string } {
  if (where === undefined) return {};
  const filter = filterTemplate(where, context);
  if (filter !== undefined) return { filter };
  const condition = columnSql(where, context);
  if (condition === undefined) throw new NotInDbt('dbt cannot express its filter');
  return { condition };
}

function writeAggregateParams(agg: Aggregate, fraction: number | undefined): PlainObject {
  if (!isPercentile(agg)) return {};
  return {
    agg_params: {
      percentile: fraction,
      use_discrete_percentile: agg === 'percentile_disc',
      use_approximate_percentile: false,
    },
  };
}

/**
 * Adds the measure and returns its name; an existing measure that computes the same is used again.
 */
function addMeasure(
  measure: PlainObject,
  metricName: string,
  { home, names, measures }: MeasureContext,
): string {
  const ofDataset = measures.get(home.dataset) ?? new Map<string, PlainObject>();
  const key = canonicalJson(measure);
  const existing = ofDataset.get(key)?.['name'];
  if (typeof existing === 'string') return existing;
  const takenNames = [
    ...(names.entities.get(home.dataset) ?? []).map(({ name }) => name),
    ...(names.dimensions.get(home.dataset)?.values() ?? []),
  ];
  const name = takenNames.includes(metricName) ? `${metricName}_measure` : metricName;
  measures.set(home.dataset, ofDataset.set(key, { name, ...measure }));
  return name;
}

type BalanceRule = NonNullable<MetricDefinition['semi_additive']>;

/** A balance becomes a `non_additive_dimension`, grouped by entities. */
function writeNonAdditive(balance: BalanceRule, context: MeasureContext): PlainObject {
  const { over, take } = balance;
  const { home, names } = context;
  if (take !== 'first' && take !== 'last')
    throw new NotInDbt(`dbt has no equivalent for take: ${take} of a balance`);
  const overField = home.fields?.find(({ name }) => name === over);
  const dimension = overField && names.dimensions.get(home.dataset)?.get(overField);
  const groupings = balanceEntities(balance, context);
  if (dimension === undefined || groupings === undefined)
    throw new NotInDbt('dbt groups a balance by entities only');
  return {
    name: dimension,
    window_choice: take === 'last' ? 'max' : 'min',
    ...(groupings.length > 0 && { window_groupings: groupings }),
  };
}

/**
 * The entities for the fields that a balance is per, by default the rest of the primary key;
 * undefined if one is no entity.
 */
function balanceEntities(
  { over, per }: BalanceRule,
  { home, names }: MeasureContext,
): readonly string[] | undefined {
  const { primary_key: key = [] } = home;
  const restOfKey = key.includes(over) ? key.filter((column) => column !== over) : undefined;
  const fields = per ?? restOfKey;
  const entities = names.entities.get(home.dataset) ?? [];
  const groupings = fields?.flatMap(
    (field) => entities.find((entity) => entity.field === field)?.name ?? [],
  );
  return groupings !== undefined && groupings.length === fields?.length ? groupings : undefined;
}
