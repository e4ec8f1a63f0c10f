import { metricAddress, type ModelDataset, type SemanticModel } from '../model/model.ts';
import { pieceText } from '../relational/sql-piece.ts';
import type { AggregateNode, MetricTrace } from '../resolve/aggregate-node.ts';
import { formatPath } from '../resolve/join-paths.ts';
import { findAdditivityLimits } from './additivity.ts';
import type { FactQuery } from './fact-query.ts';

/** Where the numbers of one metric come from. */
export type MetricReceipt = ReturnType<typeof createMetricReceipt>;

interface ReceiptContext {
  readonly factQueries: readonly FactQuery[];
  /** The dimensions of the query: one value belongs to one combination of them. */
  readonly grain: readonly string[];
  /** The conditions of the query on aggregates, as written. */
  readonly having: readonly string[];
}

/** Describes where the numbers of a metric come from. The caller adds the commit of the files. */
export function createMetricReceipt(
  model: SemanticModel,
  { name, trace }: { readonly name: string; readonly trace: MetricTrace },
  { factQueries: allFactQueries, grain, having }: ReceiptContext,
) {
  const aggregates = [...trace.aggregates];
  const factQueries = allFactQueries.filter((factQuery) =>
    factQuery.aggregates.some((aggregate) => trace.aggregates.has(aggregate)),
  );
  const owners = [...new Set(aggregates.map(({ owner }) => owner))];
  const joined = factQueries.flatMap(({ joins }) =>
    joins.map(({ path }) => ({ path: formatPath(path), dataset: path.at(-1)?.to ?? '' })),
  );
  const metricFilters = aggregates
    .flatMap(rowAggregates)
    .flatMap(({ owner, where }) => where.map((row) => `${row.home ?? owner}: ${pieceText(row)}`));
  const queryFilters = factQueries.flatMap(({ filters }) => filters);
  const limits = findAdditivityLimits(trace, {
    datasets: model.datasets,
    factQueries,
    dimensions: grain,
  });
  const datasetFiles = [...owners, ...joined.map(({ dataset }) => dataset)].flatMap(
    (dataset) => model.datasets.get(dataset)?.file ?? [],
  );
  return {
    name,
    /** Datasets whose rows are aggregated, each row once. */
    owners,
    grain,
    /** The joins, as `owner.role → dataset`. */
    paths: [...new Set(joined.map(({ path, dataset }) => `${path} → ${dataset}`))],
    /** Conditions on rows: those of the query, then those of the metric. */
    filters: [...new Set([...queryFilters, ...metricFilters])],
    having,
    /** The row rules that apply. */
    access: appliedRowRules(
      model,
      factQueries.map(({ select }) => select),
    ),
    /** True if the values of the groups add up to the total. */
    additive: limits === undefined,
    /** If not additive: over which dimensions the values add up, and why not over the others. */
    sums: limits,
    /** True for a metric of the model; false for an ad hoc aggregate of the query. */
    curated: trace.metric !== undefined && trace.unreviewed.size === 0,
    ...unreviewedParts(trace),
    ...definedParts(trace),
    /** The address of the model's metric; `name` may be another one. */
    metric: trace.metric && metricAddress(trace.metric),
    files: [...new Set([...trace.files, ...datasetFiles])].toSorted(),
  };
}

/** The unit of the model's metric, and whether it only counts rows, as every dataset can. */
function definedParts({ metric }: MetricTrace): {
  readonly unit?: string;
  readonly built_in?: true;
} {
  if (metric === undefined) return {};
  const { name, unit, definition, where } = metric;
  const isCount = definition.kind === 'aggregate' && definition.function === 'count';
  const isBuiltIn = name === 'count' && isCount && definition.of === undefined && !where;
  return { ...(unit === undefined ? {} : { unit }), ...(isBuiltIn ? { built_in: true } : {}) };
}

/** The metrics in it that only a model read, and nobody has accepted. */
function unreviewedParts({ unreviewed }: MetricTrace): { readonly unreviewed?: readonly string[] } {
  return unreviewed.size === 0 ? {} : { unreviewed: [...unreviewed].toSorted() };
}

/** The aggregates of rows that `aggregate` combines; `aggregate` itself if it aggregates rows. */
function rowAggregates(aggregate: AggregateNode): readonly AggregateNode[] {
  const { nested, conversion } = aggregate;
  if (conversion !== undefined) return [conversion.baseAggregate, conversion.toAggregate];
  return nested?.aggregates ?? [aggregate];
}

/** One entry per dataset with row rules that the selects read. */
function appliedRowRules(model: SemanticModel, selects: readonly unknown[]): readonly string[] {
  const { role } = model;
  return guardedDatasets(model, selects).map(({ name, access = [] }) => {
    const rules = access.filter((rule) => rule.role === role).map(({ where }) => where.text);
    return `${name} for ${role}: ${rules.join(' or ')}`;
  });
}

/** The datasets with row rules that the selects read, also in semi-joins and bridges. */
export function guardedDatasets(
  { datasets, hasRules }: SemanticModel,
  selects: readonly unknown[],
): readonly ModelDataset[] {
  if (!hasRules) return [];
  const guardedRows = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || guardedRows.has(value)) return;
    if ('kind' in value && value.kind === 'guarded') guardedRows.add(value);
    else for (const child of Object.values(value)) visit(child);
  };
  visit(selects);
  return [...datasets.values()].filter(({ rows }) => guardedRows.has(rows));
}
