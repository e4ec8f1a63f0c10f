import type { Block } from './plan.ts';
import { dottedPath } from './paths.ts';
import type { Resolver, Trace } from './resolve.ts';

/** Where one number comes from. The caller adds the commit of the files. */
export interface MetricReceipt {
  readonly name: string;
  /** Datasets whose rows are aggregated, each row once. */
  readonly owners: readonly string[];
  /** The dimensions that one value belongs to. */
  readonly grain: readonly string[];
  /** The joins, as `owner.role → dataset`. */
  readonly paths: readonly string[];
  /** Conditions of the query, of its segments, and of the metric itself. */
  readonly filters: readonly string[];
  /** True where the values of groups add up to the total. */
  readonly additive: boolean;
  /** False for arithmetic that the query brought itself. */
  readonly curated: boolean;
  readonly files: readonly string[];
}

export function metricReceipt(
  resolver: Resolver,
  metric: { readonly name: string; readonly trace: Trace },
  context: { readonly block: Block; readonly dimensions: readonly string[]; readonly filters: readonly string[] },
): MetricReceipt {
  const { trace } = metric;
  const leaves = [...trace.leaves].flatMap((index) => resolver.leaves[index] ?? []);
  const own = leaves.flatMap((leaf) => leaf.where.map((row) => `${row.home}: ${row.fragment.text}`));
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const ownerFiles = owners.flatMap((owner) => resolver.model.datasets.get(owner)?.file ?? []);
  const joined = context.block.joins.flatMap((join) => resolver.model.datasets.get(join.path.at(-1)?.to ?? '')?.file ?? []);
  return {
    name: metric.name,
    owners,
    grain: context.dimensions,
    paths: context.block.joins.map((join) => `${dottedPath(join.path)} → ${join.path.at(-1)?.to}`),
    filters: [...context.filters, ...new Set(own)],
    additive: trace.linear && leaves.every((leaf) => leaf.function === 'sum' || leaf.function === 'count'),
    curated: trace.curated,
    files: [...new Set([...trace.files, ...ownerFiles, ...joined])].toSorted(),
  };
}
