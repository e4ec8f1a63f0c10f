/** Keys of the newer form's metrics that stand in `type_params` of the older one. */
const direct = [
  'numerator',
  'denominator',
  'expr',
  'join_to_timespine',
  'fill_nulls_with',
  'is_private',
];

/**
 * A metric of the newer form, in which a model's YAML has the semantic model itself, as the older form would say it.
 * `model`: the semantic model that it stands in; undefined at the top of a file.
 */
export function toLegacyMetric(
  raw: Readonly<Record<string, unknown>>,
  model: string | undefined,
): Readonly<Record<string, unknown>> {
  const {
    name,
    type = 'simple',
    label,
    description,
    filter,
    time_granularity,
    hidden,
    input_metrics,
    input_metric,
    ...rest
  } = raw;
  const {
    agg,
    percentile,
    percentile_type,
    non_additive_dimension,
    agg_time_dimension,
    window,
    grain_to_date,
    period_agg,
    ...others
  } = rest;
  const { entity, calculation, base_metric, conversion_metric, constant_properties } = others;
  const params = Object.fromEntries(
    direct.filter((key) => raw[key] !== undefined).map((key) => [key, raw[key]]),
  );
  const agg_params = {
    percentile: fraction(percentile),
    use_discrete_percentile: percentile_type === 'discrete',
  };
  const aggregation = {
    semantic_model: model,
    agg,
    agg_params,
    non_additive_dimension,
    agg_time_dimension,
  };
  return {
    name,
    type,
    label,
    description,
    filter,
    time_granularity,
    hidden,
    type_params: {
      ...params,
      metrics: input_metrics,
      ...(type === 'simple' ? { metric_aggregation_params: aggregation } : {}),
      ...(type === 'cumulative'
        ? { cumulative_type_params: { metric: input_metric, window, grain_to_date, period_agg } }
        : {}),
      ...(type === 'conversion'
        ? {
            conversion_type_params: {
              base_metric,
              conversion_metric,
              entity,
              window,
              calculation,
              constant_properties,
            },
          }
        : {}),
    },
  };
}

/** The newer form writes percentiles from 0 to 100. */
function fraction(percentile: unknown): unknown {
  return typeof percentile === 'number' && percentile > 1 ? percentile / 100 : percentile;
}
