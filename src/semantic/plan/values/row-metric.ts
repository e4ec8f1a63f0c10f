import type { ModelDataset, ModelField } from '../../model/model.ts';
import { notSupportedError, queryError } from '../../query/errors.ts';
import { type Expr, replaceOutputColumns } from '../../relational/query-tree.ts';
import { type AggregateNode, factQueryKey, isCount } from '../../resolve/aggregate-node.ts';
import { requireDataset } from '../../resolve/field-path.ts';
import { createResolver, findMetric } from '../../resolve/metric-resolver.ts';
import { resolveMetric } from '../../resolve/metrics.ts';
import { unknownMetricError } from '../../resolve/unknown-metric.ts';
import type { Fact, PlanContext } from '../plan-context.ts';

/** A metric as a field of a dataset, ready to be planned as a fact query. */
interface RowMetric {
  /** Groups by the key of the dataset; no condition of the query applies. */
  readonly context: PlanContext;
  readonly aggregates: readonly AggregateNode[];
  readonly fact: Fact;
  /** For the receipt. */
  readonly note: string;
  /** The metric, read from the columns of the fact query under an alias. */
  readonly value: (alias: string) => Expr;
}

/** Throws if the field is made of itself, or the metric needs more than one fact query. */
export function resolveRowMetric(
  context: PlanContext,
  dataset: ModelDataset,
  { name, rowMetric }: ModelField,
): RowMetric {
  const { model, query, notes, compared, keys, usedMetrics, subplans, rowMetrics = [] } = context;
  const { metric: address = '', via = '' } = rowMetric ?? {};
  const field = `${dataset.name}.${name}`;
  if (rowMetrics.includes(field))
    throw queryError(
      'circular',
      `Circular fields: ${[...rowMetrics, field].join(' → ')}`,
      'A field cannot be made of itself.',
    );
  const { expr, aggregates, owner } = resolvePlainMetric(context, dataset, address);
  const keyQuery = {
    ...query,
    metrics: [],
    dimensions: (dataset.primaryKey ?? []).map((key) => `${via}.${key}`),
    where: [],
    having: [],
    segments: [],
    include_empty: false,
    fill_time: false,
  };
  const counts = new Set(aggregates.filter(isCount).map(({ column }) => column));
  const readColumn = (alias: string, column: string): Expr => {
    const value: Expr = { kind: 'column', alias, name: column };
    return counts.has(column) ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
  };
  return {
    context: {
      model,
      query: keyQuery,
      conditions: { rows: [], aggregates: [] },
      notes,
      compared,
      keys,
      usedMetrics,
      subplans,
      rowMetrics: [...rowMetrics, field],
    },
    aggregates,
    fact: { owner: requireDataset(model, owner), metric: address },
    note: `${field} is ${address} for each row of ${dataset.name}, whatever the conditions of the query`,
    value: (alias) => replaceOutputColumns(expr, ({ column }) => readColumn(alias, column)),
  };
}

/** The metric over aggregates that one fact query can compute. */
function resolvePlainMetric(
  { model, usedMetrics }: PlanContext,
  dataset: ModelDataset,
  address: string,
): { expr: Expr; aggregates: readonly AggregateNode[]; owner: string } {
  const path = address.split('.');
  const metric = findMetric(model, path, dataset.name);
  if (metric === undefined) throw unknownMetricError({ model, queryMetrics: new Map() }, path);
  const resolver = createResolver(model, [], { usedMetrics });
  const expr = resolveMetric(resolver, metric);
  const aggregates = [...resolver.aggregates.values()];
  const [first] = aggregates;
  const isPlain = aggregates.every(
    ({ running, spine, total, shift }) =>
      running === undefined && spine === undefined && total === undefined && shift.length === 0,
  );
  if (first !== undefined && isPlain && new Set(aggregates.map(factQueryKey)).size === 1)
    return { expr, aggregates, owner: first.owner };
  throw notSupportedError(
    `${address} for each row of ${dataset.name}`,
    'It is not a plain aggregate of the rows of one dataset',
  );
}
