import { z } from 'zod';
import { measureSchema, type Measure } from './semantic-model-schema.ts';

/** A metric that another one is made of, or the measure where the older form names one in its place. */
export interface MetricInput {
  readonly name: string;
  readonly isMeasure: boolean;
  readonly alias: string | undefined;
  readonly filters: readonly string[];
  readonly offsetWindow: string | undefined;
  readonly offsetToGrain: string | undefined;
}

export type MetricShape =
  | {
      readonly kind: 'simple';
      readonly measure: MetricInput | (Measure & { readonly model: string });
    }
  | { readonly kind: 'ratio'; readonly numerator: MetricInput; readonly denominator: MetricInput }
  | { readonly kind: 'derived'; readonly expr: string; readonly inputs: readonly MetricInput[] }
  | {
      readonly kind: 'cumulative';
      readonly of: MetricInput;
      readonly window: string | undefined;
      readonly grainToDate: string | undefined;
      readonly periodAgg: string;
    }
  | {
      readonly kind: 'conversion';
      readonly base: MetricInput;
      readonly conversion: MetricInput;
      readonly entity: string;
      readonly window: string | undefined;
      readonly calculation: string;
      readonly constants: readonly (readonly [base: string, conversion: string])[];
    };

export interface MetricSpec {
  readonly name: string;
  readonly label: string | undefined;
  readonly description: string | undefined;
  readonly filters: readonly string[];
  readonly isPrivate: boolean;
  /** What it says beside its number that ktx has no word for. */
  readonly extras: readonly string[];
  readonly shape: MetricShape;
}

const text = z.string();
const optionalText = text.nullish().transform((value) => value ?? undefined);
const number = z.union([text, z.number(), z.boolean()]);

const filterSchema = z
  .union([
    text.transform((one) => [one]),
    z.array(text),
    z
      .looseObject({ where_filters: z.array(z.looseObject({ where_sql_template: text })) })
      .transform(({ where_filters }) => where_filters.map((one) => one.where_sql_template)),
  ])
  .nullish()
  // A block of YAML ends with a line break, and says the same.
  .transform((value) => (value ?? []).map((one) => one.trim()));

/** `7 days`, or count and granularity apart; as ktx writes it. */
const windowSchema = z
  .union([
    text,
    z
      .looseObject({ count: z.number(), granularity: text })
      .transform(({ count, granularity }) => `${count} ${granularity}`),
  ])
  .nullish()
  .transform((value) => value?.trim().toLowerCase() ?? undefined);

const inputFields = z.looseObject({
  name: text,
  alias: optionalText,
  filter: filterSchema,
  offset_window: windowSchema,
  offset_to_grain: optionalText,
  fill_nulls_with: z.number().nullish(),
  join_to_timespine: z.boolean().nullish(),
});
const inputSchema = z.union([text.transform((name) => inputFields.parse({ name })), inputFields]);
const optionalInput = inputSchema.nullish();

const cumulativeSchema = z.looseObject({
  window: windowSchema,
  grain_to_date: optionalText,
  period_agg: optionalText,
  metric: optionalInput,
});
const conversionSchema = z.looseObject({
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
const paramsSchema = z.looseObject({
  measure: optionalInput,
  numerator: optionalInput,
  denominator: optionalInput,
  expr: number.nullish(),
  window: windowSchema,
  grain_to_date: optionalText,
  metrics: z.array(inputSchema).nullish(),
  conversion_type_params: conversionSchema.nullish(),
  cumulative_type_params: cumulativeSchema.nullish(),
  metric_aggregation_params: z.looseObject({ semantic_model: text }).nullish(),
  join_to_timespine: z.boolean().nullish(),
  fill_nulls_with: z.number().nullish(),
  is_private: z.boolean().nullish(),
});
const metricSchema = z.looseObject({
  name: text,
  type: text.transform((value) => value.toLowerCase()),
  label: optionalText,
  description: optionalText,
  filter: filterSchema,
  time_granularity: optionalText,
  hidden: z.boolean().nullish(),
  type_params: paramsSchema,
});

/** The metric that a measure alone would be. */
export function metricOfMeasure(name: string): MetricSpec {
  const measure = {
    name,
    isMeasure: true,
    alias: undefined,
    filters: [],
    offsetWindow: undefined,
    offsetToGrain: undefined,
  };
  return {
    name,
    label: undefined,
    description: undefined,
    filters: [],
    isPrivate: false,
    extras: [],
    shape: { kind: 'simple', measure },
  };
}

/** What ktx wrote of its own beside what dbt has words for. */
export function ownMeta({
  config,
}: {
  readonly [key: string]: unknown;
}): Readonly<Record<string, unknown>> {
  const { data } = z
    .object({ meta: z.object({ ktx: z.record(z.string(), z.unknown()) }) })
    .safeParse(config);
  return data?.meta.ktx ?? {};
}

/** The older form, and that of the artifacts: everything that defines a metric is in `type_params`. */
export function readMetric(raw: unknown): MetricSpec {
  const metric = metricSchema.parse(raw);
  const { join_to_timespine, fill_nulls_with, is_private, measure } = metric.type_params;
  const fill = fill_nulls_with ?? measure?.fill_nulls_with;
  const joins = join_to_timespine ?? measure?.join_to_timespine;
  return {
    name: metric.name,
    label: metric.label,
    description: metric.description,
    filters: metric.filter,
    isPrivate: is_private === true || metric.hidden === true || ownMeta(metric)['hidden'] === true,
    extras: [
      ...(fill === undefined || fill === null ? [] : [`fill_nulls_with: ${fill}`]),
      ...(joins === true ? ['join_to_timespine'] : []),
      ...(metric.time_granularity === undefined
        ? []
        : [`time_granularity: ${metric.time_granularity}`]),
    ],
    shape: shapeOf(metric),
  };
}

function shapeOf({ name, type, type_params: params }: z.infer<typeof metricSchema>): MetricShape {
  const {
    measure,
    numerator,
    denominator,
    metrics,
    cumulative_type_params: cumulative,
    conversion_type_params: conversion,
  } = params;
  const expr = params.expr ?? undefined;
  const { metric_aggregation_params: aggregation } = params;
  switch (type) {
    case 'simple':
      if (!aggregation) return { kind: 'simple', measure: inputOf(measure, 'measure', true) };
      return {
        kind: 'simple',
        measure: {
          ...measureSchema.parse({ ...aggregation, name, expr }),
          model: aggregation.semantic_model,
        },
      };
    case 'ratio':
      return {
        kind: 'ratio',
        numerator: inputOf(numerator, 'numerator'),
        denominator: inputOf(denominator, 'denominator'),
      };
    case 'derived':
      if (expr === undefined) throw missing('expr');
      return {
        kind: 'derived',
        expr: String(expr),
        inputs: (metrics ?? []).map((one) => inputOf(one, 'metrics')),
      };
    case 'cumulative': {
      const [window, grainToDate] = [
        cumulative?.window ?? params.window,
        cumulative?.grain_to_date ?? params.grain_to_date,
      ];
      const of = measure
        ? inputOf(measure, 'measure', true)
        : inputOf(cumulative?.metric, 'metric');
      return {
        kind: 'cumulative',
        of,
        window,
        grainToDate: grainToDate?.toLowerCase(),
        periodAgg: cumulative?.period_agg?.toLowerCase() ?? 'first',
      };
    }
    case 'conversion': {
      if (!conversion?.entity) throw missing('entity');
      const {
        base_measure,
        base_metric,
        conversion_measure,
        conversion_metric,
        entity,
        window,
        calculation,
        constant_properties,
      } = conversion;
      return {
        kind: 'conversion',
        base: base_measure
          ? inputOf(base_measure, 'base_measure', true)
          : inputOf(base_metric, 'base_metric'),
        conversion: conversion_measure
          ? inputOf(conversion_measure, 'conversion_measure', true)
          : inputOf(conversion_metric, 'conversion_metric'),
        entity,
        window,
        calculation: calculation?.toLowerCase() ?? 'conversion_rate',
        constants: (constant_properties ?? []).map((one) => [
          one.base_property,
          one.conversion_property,
        ]),
      };
    }
    default:
      throw new UnreadableMetric(`${type} is no type of metric that ktx knows`);
  }
}

/** Why a metric cannot be read, for a person to know. */
export class UnreadableMetric extends Error {}

function missing(key: string): UnreadableMetric {
  return new UnreadableMetric(`it has no ${key}`);
}

function inputOf(
  input: z.infer<typeof optionalInput>,
  key: string,
  isMeasure = false,
): MetricInput {
  if (!input) throw missing(key);
  const { name, alias, filter, offset_window, offset_to_grain } = input;
  return {
    name,
    isMeasure,
    alias,
    filters: filter,
    offsetWindow: offset_window,
    offsetToGrain: offset_to_grain,
  };
}
