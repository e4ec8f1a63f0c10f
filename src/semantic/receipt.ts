import { metricAddress, type SemanticModel } from './model.ts';
import type { Block } from './plan.ts';
import { dottedPath } from './paths.ts';
import type { Trace } from './resolve.ts';

export type MetricReceipt = ReturnType<typeof metricReceipt>;

interface Asked {
  readonly block: Block;
  /** The dimensions that one value belongs to. */
  readonly grain: readonly string[];
  /** Conditions of the query and of its segments on rows. */
  readonly filters: readonly string[];
  /** Conditions of the query on aggregates. */
  readonly having: readonly string[];
}

/** Where one number comes from. The caller adds the commit of the files. */
export function metricReceipt(model: SemanticModel, { name, trace }: { readonly name: string; readonly trace: Trace }, asked: Asked) {
  const { block, grain, filters, having } = asked;
  const leaves = [...trace.leaves];
  const own = leaves.flatMap((leaf) => leaf.where.map((row) => `${row.home}: ${row.fragment.text}`));
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const joined = block.joins.map(({ path }) => ({ path: dottedPath(path), dataset: path.at(-1)?.to ?? '' }));
  const datasets = [...owners, ...joined.map(({ dataset }) => dataset)];
  return {
    name,
    /** Datasets whose rows are aggregated, each row once. */
    owners,
    grain,
    /** The joins, as `owner.role → dataset`. */
    paths: joined.map(({ path, dataset }) => `${path} → ${dataset}`),
    /** Those of the metric itself come last. */
    filters: [...filters, ...new Set(own)],
    having,
    /** True where the values of groups add up to the total. */
    additive: trace.linear && leaves.every((leaf) => leaf.function === 'sum' || leaf.function === 'count'),
    /** False for arithmetic that the query brought itself. */
    curated: trace.metric !== undefined,
    /** The metric of the model that it is, where `name` is another one. */
    metric: trace.metric && metricAddress(trace.metric),
    files: [...new Set([...trace.files, ...datasets.flatMap((dataset) => model.datasets.get(dataset)?.file ?? [])])].toSorted(),
  };
}
