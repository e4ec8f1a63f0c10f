import { z } from 'zod';
import {
  ktxMeta,
  type MetricInput,
  type MetricShape,
  type MetricSpec,
  UnreadableMetric,
} from './metric-spec.ts';
import { measureSchema } from './semantic-model-schema.ts';

const text = z.string();
const optionalText = text.nullish().transform((value) => value ?? undefined);

const filterSchema = z
  .union([
    text.transform((filter) => [filter]),
    z.array(text),
    z
      .looseObject({ where_filters: z.array(z.looseObject({ where_sql_template: text })) })
      .transform(({ where_filters }) =>
        where_filters.map(({ where_sql_template }) => where_sql_template),
      ),
  ])
  .nullish()
  // A YAML block text ends with a line break that means nothing.
  .transform((value) => (value ?? []).map((filter) => filter.trim()));

/** `7 days`, or an object of count and granularity; the result is the text. */
const windowSchema = z
  .union([
    text,
    z
      .looseObject({ count: z.number(), granularity: text })
      .transform(({ count, granularity }) => `${count} ${granularity}`),
  ])
  .nullish()
  .transform((value) => value?.trim().toLowerCase() ?? undefined);

const inputObjectSchema = z.looseObject({
  name: text,
  alias: optionalText,
  filter: filterSchema,
  offset_window: windowSchema,
  offset_to_grain: optionalText,
  fill_nulls_with: z.number().nullish(),
  join_to_timespine: z.boolean().nullish(),
});
const inputSchema = z.union([
  text.transform((name) => inputObjectSchema.parse({ name })),
  inputObjectSchema,
]);
const optionalInput = inputSchema.nullish();

const cumulativeParamsSchema = z.looseObject({
  window: windowSchema,
  grain_to_date: optionalText,
  period_agg: optionalText,
  metric: optionalInput,
});
const conversionParamsSchema = z.looseObject({
  base_measure: optionalInput,
  base_metric: optionalInput,
  conversion_measure: optionalInput,
  conversion_metric: optionalInput,
  entity: optionalText,
  window: windowSchema,
  calculation: optionalText,
  constant_properties: z
    .array(z.looseObject({ base_property: text, conversion_property: text }))
    .nullish(),
});
const typeParamsSchema = z.looseObject({
  measure: optionalInput,
  numerator: optionalInput,
  denominator: optionalInput,
  expr: z.union([text, z.number(), z.boolean()]).nullish(),
  window: windowSchema,
  grain_to_date: optionalText,
  metrics: z.array(inputSchema).nullish(),
  conversion_type_params: conversionParamsSchema.nullish(),
  cumulative_type_params: cumulativeParamsSchema.nullish(),
  metric_aggregation_params: z.looseObject({ semantic_model: text }).nullish(),
  join_to_timespine: z.boolean().nullish(),
  fill_nulls_with: z.number().nullish(),
  is_private: z.boolean().nullish(),
});
const metricFlowMetricSchema = z.looseObject({
  name: text,
  type: text.transform((value) => value.toLowerCase()),
  label: optionalText,
  description: optionalText,
  filter: filterSchema,
  time_granularity: optionalText,
  hidden: z.boolean().nullish(),
  type_params: typeParamsSchema,
});

/**
 * Reads a metric in the older form, which the artifacts use too: everything that defines it is in
 * `type_params`. Throws a ZodError for a wrong shape and `UnreadableMetric` for what ktx has no
 * equivalent for.
 */
export function readMetric(raw: unknown): MetricSpec {
  const metric = metricFlowMetricSchema.parse(raw);
  const { name, label, description, filter, hidden, type_params: params } = metric;
  return {
    name,
    label,
    description,
    filters: filter,
    isPrivate: params.is_private === true || hidden === true || ktxMeta(metric)['hidden'] === true,
    fillNullsWith: params.fill_nulls_with ?? params.measure?.fill_nulls_with ?? undefined,
    joinsTimeSpine: params.join_to_timespine === true || params.measure?.join_to_timespine === true,
    timeGranularity: metric.time_granularity?.toLowerCase(),
    unsupportedOptions: unsupportedOptions(metric),
    shape: readShape(metric),
  };
}

function unsupportedOptions({
  type,
  time_granularity: granularity,
}: z.infer<typeof metricFlowMetricSchema>): readonly string[] {
  return granularity === undefined || type === 'cumulative'
    ? []
    : [`time_granularity: ${granularity}`];
}

type TypeParams = z.infer<typeof typeParamsSchema>;

function readShape({
  name,
  type,
  type_params: params,
}: z.infer<typeof metricFlowMetricSchema>): MetricShape {
  switch (type) {
    case 'simple':
      return readSimple(name, params);
    case 'ratio':
      return {
        kind: 'ratio',
        numerator: readInput(params, 'numerator'),
        denominator: readInput(params, 'denominator'),
      };
    case 'derived':
      return readDerived(params);
    case 'cumulative':
      return readCumulative(params);
    case 'conversion':
      return readConversion(params);
    default:
      throw new UnreadableMetric(`ktx does not know the metric type ${type}`);
  }
}

function readSimple(name: string, params: TypeParams): MetricShape {
  const { metric_aggregation_params: aggregation, expr } = params;
  if (!aggregation) return { kind: 'simple', measure: readMeasureInput(params, 'measure') };
  const measure = measureSchema.parse({ ...aggregation, name, expr: expr ?? undefined });
  return { kind: 'simple', measure: { ...measure, model: aggregation.semantic_model } };
}

function readDerived({ expr, metrics }: TypeParams): MetricShape {
  if (expr === undefined || expr === null) throw missingKey('expr');
  const inputs = (metrics ?? []).map((input) => toMetricInput(input));
  return { kind: 'derived', expr: String(expr), inputs };
}

function readCumulative(params: TypeParams): MetricShape {
  const own = params.cumulative_type_params;
  const grainToDate = own?.grain_to_date ?? params.grain_to_date;
  return {
    kind: 'cumulative',
    of: params.measure ? readMeasureInput(params, 'measure') : readInput(own ?? {}, 'metric'),
    window: own?.window ?? params.window,
    grainToDate: grainToDate?.toLowerCase(),
    periodAgg: own?.period_agg?.toLowerCase() ?? 'first',
  };
}

function readConversion({ conversion_type_params: params }: TypeParams): MetricShape {
  if (!params?.entity) throw missingKey('entity');
  const { entity, window, calculation, constant_properties } = params;
  return {
    kind: 'conversion',
    base: params.base_measure
      ? readMeasureInput(params, 'base_measure')
      : readInput(params, 'base_metric'),
    conversion: params.conversion_measure
      ? readMeasureInput(params, 'conversion_measure')
      : readInput(params, 'conversion_metric'),
    entity,
    window,
    calculation: calculation?.toLowerCase() ?? 'conversion_rate',
    constants: (constant_properties ?? []).map(({ base_property, conversion_property }) => [
      base_property,
      conversion_property,
    ]),
  };
}

type ParsedInput = z.infer<typeof optionalInput>;

/** The required input with this key, a metric. */
function readInput<Key extends string>(
  params: { readonly [key in Key]?: ParsedInput },
  key: Key,
): MetricInput {
  const input = params[key];
  if (!input) throw missingKey(key);
  return toMetricInput(input);
}

/** The required input with this key, a measure. */
function readMeasureInput<Key extends string>(
  params: { readonly [key in Key]?: ParsedInput },
  key: Key,
): MetricInput {
  return { ...readInput(params, key), isMeasure: true };
}

function toMetricInput(input: NonNullable<ParsedInput>): MetricInput {
  const { name, alias, filter, offset_window, offset_to_grain, fill_nulls_with } = input;
  return {
    name,
    isMeasure: false,
    alias,
    filters: filter,
    offsetWindow: offset_window,
    offsetToGrain: offset_to_grain,
    fillNullsWith: fill_nulls_with ?? undefined,
    joinsTimeSpine: input.join_to_timespine === true,
  };
}

function missingKey(key: string): UnreadableMetric {
  return new UnreadableMetric(`it has no ${key}`);
}
