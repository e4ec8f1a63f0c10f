import { metricAddress, type ModelMetric, type SemanticModel } from './model.ts';

/** The metrics that a query may use. */
interface VisibleMetrics {
  readonly addresses: readonly string[];
  readonly byName: ReadonlyMap<string, readonly ModelMetric[]>;
}

/** Collected once for the datasets of a model: there can be tens of thousands. */
const visibleMetricsOf = new WeakMap<SemanticModel['datasets'], VisibleMetrics>();

export function visibleMetrics({ datasets }: SemanticModel): VisibleMetrics {
  const known = visibleMetricsOf.get(datasets);
  if (known !== undefined) return known;
  const metrics = [...datasets.values()].flatMap((dataset) =>
    [...dataset.metrics.values()].filter(({ hidden }) => !hidden),
  );
  const collected = {
    addresses: metrics.map(metricAddress),
    byName: Map.groupBy(metrics, ({ name }) => name),
  };
  visibleMetricsOf.set(datasets, collected);
  return collected;
}
