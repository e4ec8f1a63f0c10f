import { omitKeys, type PlainObject } from '../../patch.ts';

/** Keys of a newer metric that the older form has in `type_params` under the same name. */
const typeParamKeys = [
  'numerator',
  'denominator',
  'expr',
  'join_to_timespine',
  'fill_nulls_with',
  'is_private',
];

/**
 * Converts a metric of dbt's newer form, where the YAML entry of a model is the semantic model too,
 * to the older form, where `type_params` holds everything that defines a metric. `model` is the
 * semantic model that the metric stands in; undefined for a metric at the top of a file.
 */
export function toLegacyMetric(raw: PlainObject, model: string | undefined): PlainObject {
  const { name, type = 'simple', label, description, filter, time_granularity, hidden } = raw;
  const shared = omitKeys(
    Object.fromEntries(typeParamKeys.map((key): [string, unknown] => [key, raw[key]])),
  );
  return {
    name,
    type,
    label,
    description,
    filter,
    time_granularity,
    hidden,
    meta: raw['meta'],
    config: raw['config'],
    type_params: { ...shared, metrics: raw['input_metrics'], ...paramsOfType(type, raw, model) },
  };
}

function paramsOfType(type: unknown, raw: PlainObject, model: string | undefined): PlainObject {
  switch (type) {
    case 'simple':
      return { metric_aggregation_params: aggregationParams(raw, model) };
    case 'cumulative': {
      const { input_metric: metric, window, grain_to_date, period_agg } = raw;
      return { cumulative_type_params: { metric, window, grain_to_date, period_agg } };
    }
    case 'conversion': {
      const { base_metric, conversion_metric, entity, window, calculation, constant_properties } =
        raw;
      return {
        conversion_type_params: {
          base_metric,
          conversion_metric,
          entity,
          window,
          calculation,
          constant_properties,
        },
      };
    }
    default:
      return {};
  }
}

function aggregationParams(raw: PlainObject, model: string | undefined): PlainObject {
  const { agg, percentile, percentile_type, non_additive_dimension, agg_time_dimension } = raw;
  return {
    semantic_model: model,
    agg,
    agg_params: {
      percentile: toFraction(percentile),
      use_discrete_percentile: percentile_type === 'discrete',
    },
    non_additive_dimension,
    agg_time_dimension,
  };
}

/** The newer form writes percentiles from 0 to 100, the older one from 0 to 1. */
function toFraction(percentile: unknown): unknown {
  return typeof percentile === 'number' && percentile > 1 ? percentile / 100 : percentile;
}
