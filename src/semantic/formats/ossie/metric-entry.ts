import { z } from 'zod';
import { datasetSchema } from '../../model/dataset.ts';
import type { MetricDefinition } from '../../model/metric-definition.ts';
import { omitKeys } from '../patch.ts';

/**
 * A metric as one object that can be patched: its dataset, its descriptive keys, and what computes
 * it as a list of one. Patches replace a list as a whole, because part of a formula means nothing
 * alone.
 */
export const metricEntrySchema = z.looseObject({
  name: z.string(),
  dataset: z.string(),
  definition: z.tuple([z.record(z.string(), z.unknown())]),
});
export type MetricEntry = z.infer<typeof metricEntrySchema>;

const metricSchema = datasetSchema.shape.metrics.unwrap().element;

/** The keys of a metric that do not change its value. */
export const descriptiveKeys = [
  'name',
  'unit',
  'owner',
  'description',
  'hidden',
  'synonyms',
  'extensions',
];

export function toMetricEntry(metric: MetricDefinition, dataset: string): MetricEntry {
  const description = Object.fromEntries(
    descriptiveKeys.map((key) => [key, metric[key as keyof MetricDefinition]]),
  );
  return {
    name: metric.name,
    dataset,
    definition: [omitKeys(metric, ...descriptiveKeys)],
    ...omitKeys(description, 'name'),
  };
}

/**
 * The reverse of `toMetricEntry`; undefined if the entry, which a foreign patch may have changed,
 * is no valid metric.
 */
export function metricOfEntry(entry: MetricEntry): MetricDefinition | undefined {
  return metricSchema.safeParse({
    ...omitKeys(entry, 'dataset', 'definition'),
    ...entry.definition[0],
  }).data;
}
