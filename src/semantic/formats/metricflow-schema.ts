import { z } from 'zod';
import type { Dataset } from '../dataset.ts';

/** What ktx reads of dbt's semantic models and metrics (MetricFlow, as dbt 1.6 to 1.11 write them); the rest is told as not read. */
const text = z.string().optional();
const filter = z.union([z.string(), z.array(z.string())]).nullish();

const elementSchema = z.looseObject({
  name: z.string(),
  expr: z.union([z.string(), z.number()]).nullish(),
  description: text,
  label: text,
});
const entitySchema = elementSchema.extend({ type: z.string() });
const dimensionSchema = elementSchema.extend({
  type: z.string(),
  type_params: z.looseObject({ time_granularity: text }).nullish(),
});
const measureSchema = elementSchema.extend({
  agg: z.string(),
  agg_time_dimension: text,
  agg_params: z.looseObject({ percentile: z.number().optional() }).nullish(),
  non_additive_dimension: z
    .looseObject({ name: z.string(), window_choice: text, window_groupings: z.array(z.string()).optional() })
    .nullish(),
  create_metric: z.boolean().optional(),
});

const semanticModelSchema = z.looseObject({
  name: z.string(),
  model: text,
  description: text,
  primary_entity: text,
  defaults: z.looseObject({ agg_time_dimension: text }).nullish(),
  entities: z.array(entitySchema).default([]),
  dimensions: z.array(dimensionSchema).default([]),
  measures: z.array(measureSchema).default([]),
});

/** A measure or a metric by its name, or with a filter of its own. */
const inputSchema = z.union([
  z.string(),
  z.looseObject({ name: z.string(), alias: text, filter, offset_window: text, offset_to_grain: text }),
]);
export type MetricInput = z.infer<typeof inputSchema>;

const windowSchema = z.union([z.string(), z.looseObject({ count: z.number(), granularity: z.string() })]);

const metricSchema = z.looseObject({
  name: z.string(),
  description: text,
  label: text,
  type: z.string(),
  filter,
  type_params: z
    .looseObject({
      measure: inputSchema.nullish(),
      numerator: inputSchema.nullish(),
      denominator: inputSchema.nullish(),
      expr: z.union([z.string(), z.number()]).nullish(),
      metrics: z.array(inputSchema).nullish(),
      window: windowSchema.nullish(),
      grain_to_date: text.nullish(),
      cumulative_type_params: z.looseObject({ window: windowSchema.nullish(), grain_to_date: text.nullish() }).nullish(),
    })
    .default({}),
});

export const metricflowSchema = z.looseObject({
  semantic_models: z.array(semanticModelSchema).default([]),
  metrics: z.array(metricSchema).default([]),
});

export type FlowModel = z.infer<typeof semanticModelSchema>;
export type FlowMetric = z.infer<typeof metricSchema>;

/** A semantic model on its way: its dataset, and the fields by the names that dbt has for them. */
export interface FlowDataset {
  readonly model: FlowModel;
  readonly dataset: Dataset;
  /** Entities and dimensions by their names in dbt. */
  readonly fieldOf: ReadonlyMap<string, string>;
}
