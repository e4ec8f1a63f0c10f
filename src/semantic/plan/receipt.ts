import { limitsOfSums } from './additivity.ts';
import { metricAddress, type SemanticModel } from '../model/model.ts';
import type { Block } from './fact-query.ts';
import type { SqlPiece } from '../relational/sql-piece.ts';
import { formatPath } from '../resolve/join-paths.ts';
import type { AggregateNode, MetricTrace } from '../resolve/aggregate-node.ts';

export type MetricReceipt = ReturnType<typeof metricReceipt>;

interface Asked {
  readonly blocks: readonly Block[];
  /** The dimensions that one value belongs to. */
  readonly grain: readonly string[];
  /** Conditions of the query on aggregates. */
  readonly having: readonly string[];
}

/** Where one number comes from. The caller adds the commit of the files. */
export function metricReceipt(
  model: SemanticModel,
  { name, trace }: { readonly name: string; readonly trace: MetricTrace },
  asked: Asked,
) {
  const { grain, having } = asked;
  const leaves = [...trace.aggregates];
  const blocks = asked.blocks.filter((block) =>
    block.leaves.some((leaf) => trace.aggregates.has(leaf)),
  );
  const inner = leaves.flatMap(({ nested, conversion, ...leaf }): readonly AggregateNode[] => {
    return conversion === undefined
      ? (nested?.aggregates ?? [{ nested, ...leaf }])
      : [conversion.baseAggregate, conversion.toAggregate];
  });
  const own = inner.flatMap((leaf) =>
    leaf.where.map((row) => `${row.home ?? leaf.owner}: ${textOf(row)}`),
  );
  const owners = [...new Set(leaves.map((leaf) => leaf.owner))];
  const joined = blocks.flatMap(({ joins }) =>
    joins.map(({ path }) => ({ path: formatPath(path), dataset: path.at(-1)?.to ?? '' })),
  );
  const limits = limitsOfSums(trace, { datasets: model.datasets, blocks, dimensions: grain });
  const datasets = [...owners, ...joined.map(({ dataset }) => dataset)];
  return {
    name,
    /** Datasets whose rows are aggregated, each row once. */
    owners,
    grain,
    /** The joins, as `owner.role → dataset`. */
    paths: [...new Set(joined.map(({ path, dataset }) => `${path} → ${dataset}`))],
    /** Those of the metric itself come last. */
    filters: [...new Set([...blocks.flatMap(({ filters }) => filters), ...own])],
    having,
    /** The row rules that hold for who asks. */
    access: rulesIn(
      model,
      blocks.map(({ select }) => select),
    ),
    /** True where the values of groups add up to the total. */
    additive: limits === undefined,
    /** Over which of the dimensions alone they do, where it is not, and why. */
    sums: limits,
    /** False for arithmetic that the query brought itself. */
    curated: trace.metric !== undefined,
    /** The metric of the model that it is, where `name` is another one. */
    metric: trace.metric && metricAddress(trace.metric),
    files: [
      ...new Set([
        ...trace.files,
        ...datasets.flatMap((dataset) => model.datasets.get(dataset)?.file ?? []),
      ]),
    ].toSorted(),
  };
}

/** Of each dataset that is read anywhere inside, semi-joins and bridges included. */
function rulesIn({ datasets, hasRules, role }: SemanticModel, selects: readonly unknown[]) {
  if (!hasRules) return [];
  const read = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || read.has(value)) return;
    if ('kind' in value && value.kind === 'guarded') read.add(value);
    else for (const child of Object.values(value)) visit(child);
  };
  visit(selects);
  const guarded = [...datasets.values()].filter(({ rows }) => read.has(rows));
  return guarded.map(({ name, access = [] }) => {
    const rules = access.filter((rule) => rule.role === role).map(({ where }) => where.text);
    return `${name} for ${role}: ${rules.join(' or ')}`;
  });
}

function textOf({ fragment, span }: SqlPiece): string {
  return fragment.text.slice(span.start, span.end);
}
