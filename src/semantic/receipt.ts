import { metricAddress, type SemanticModel } from './model.ts';
import type { Block } from './plan.ts';
import { dottedPath } from './paths.ts';
import type { Trace } from './resolve.ts';

/** Where one number comes from. The caller adds the commit of the files. */
export interface MetricReceipt {
  readonly name: string;
  /** Datasets whose rows are aggregated, each row once. */
  readonly owners: readonly string[];
  /** The dimensions that one value belongs to. */
  readonly grain: readonly string[];
  /** The joins, as `owner.role → dataset`. */
  readonly paths: readonly string[];
  /** Conditions on rows: of the query, of its segments, and of the metric itself. */
  readonly filters: readonly string[];
  /** Conditions of the query on aggregates. */
  readonly having: readonly string[];
  /** True where the values of groups add up to the total. */
  readonly additive: boolean;
  /** False for arithmetic that the query brought itself. */
  readonly curated: boolean;
  /** The metric of the model that it is, where `name` is another one. */
  readonly metric: string | undefined;
  readonly files: readonly string[];
}

export function metricReceipt(
  model: SemanticModel,
  { name, trace }: { readonly name: string; readonly trace: Trace },
  context: {
    readonly block: Block;
    readonly grain: readonly string[];
    readonly filters: readonly string[];
    readonly having: readonly string[];
  },
): MetricReceipt {
  const leaves = [...trace.leaves];
  const own = leaves.flatMap((leaf) => leaf.where.map((row) => `${row.home}: ${row.fragment.text}`));
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const joined = context.block.joins.map(({ path }) => ({ path: dottedPath(path), dataset: path.at(-1)?.to ?? '' }));
  const datasets = [...owners, ...joined.map(({ dataset }) => dataset)];
  return {
    name,
    owners,
    grain: context.grain,
    paths: joined.map(({ path, dataset }) => `${path} → ${dataset}`),
    filters: [...context.filters, ...new Set(own)],
    having: context.having,
    additive: trace.linear && leaves.every((leaf) => leaf.function === 'sum' || leaf.function === 'count'),
    curated: trace.metric !== undefined,
    metric: trace.metric && metricAddress(trace.metric),
    files: [...new Set([...trace.files, ...datasets.flatMap((dataset) => model.datasets.get(dataset)?.file ?? [])])].toSorted(),
  };
}
