import { isToOne } from '../model/join-graph.ts';
import type { ModelDataset } from '../model/model.ts';
import { type AggregateNode, factQueryKey, type MetricTrace } from '../resolve/aggregate-node.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import { isDefaultTime } from '../resolve/row-expr.ts';
import type { FactQuery } from './fact-query.ts';

interface AdditivityLimits {
  /** The dimensions of the query over which the values of groups may be summed. */
  readonly only_over: readonly string[];
  readonly because: string;
}

interface AdditivityContext {
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  /** The fact queries of the metric. */
  readonly factQueries: readonly FactQuery[];
  readonly dimensions: readonly string[];
}

/** Why an aggregate does not add up. */
interface AdditivityLoss {
  /** The indexes of the dimensions that it does not add up over; undefined for all. */
  readonly over: readonly number[] | undefined;
  readonly because: string;
}

/**
 * Says over which dimensions the values of groups do not add up, and why. Undefined if they add up
 * over all of them. In doubt, it says that they do not.
 */
export function findAdditivityLimits(
  trace: MetricTrace,
  context: AdditivityContext,
): AdditivityLimits | undefined {
  const aggregates = [...trace.aggregates];
  const losses = aggregates.flatMap((aggregate) => aggregateLosses(aggregate, context));
  const isLostOverAll = losses.some(({ over }) => over === undefined);
  if (!trace.isLinear && !isLostOverAll)
    losses.push(overAll('it is a ratio, or uses arithmetic other than sums and differences'));
  // A missing sum counts as 0 if it comes from another fact query; in the same one it makes the
  // result NULL.
  const hasSum = aggregates.some(({ function: name }) => name === 'sum');
  const isOneFactQuery = new Set(aggregates.map(factQueryKey)).size === 1;
  if (aggregates.length > 1 && hasSum && isOneFactQuery)
    losses.push(overAll('it is NULL for a group where one of its sums has no values'));
  if (losses.length === 0) return undefined;
  const lost = new Set(losses.flatMap(({ over }) => over ?? [...context.dimensions.keys()]));
  return {
    only_over: context.dimensions.filter((_, index) => !lost.has(index)),
    because: [...new Set(losses.map(({ because }) => because))].join('; '),
  };
}

function overAll(because: string): AdditivityLoss {
  return { over: undefined, because };
}

function aggregateLosses(
  aggregate: AggregateNode,
  context: AdditivityContext,
): readonly AdditivityLoss[] {
  const reason = neverAdditive(aggregate);
  if (reason !== undefined) return [overAll(reason)];
  const factQuery = context.factQueries.find(({ aggregates }) => aggregates.includes(aggregate));
  const dataset = context.datasets.get(aggregate.owner);
  if (factQuery === undefined || dataset === undefined) return [];
  return lossesOverDimensions(aggregate, factQuery, dataset);
}

/** Why it adds up over no dimension; undefined if it may add up over some. */
function neverAdditive({
  function: name,
  balance,
  nested,
  total,
  spine,
  owner,
}: AggregateNode): string | undefined {
  if (nested !== undefined)
    return `it aggregates values that were aggregated for each ${nested.per}`;
  if (spine !== undefined && (spine.running !== undefined || spine.offsets.length > 0))
    return 'one row can count in several periods of the time spine';
  if (total !== undefined) return 'it is a total, which every group repeats';
  if (name === 'count_distinct') return `one value can be in several groups of ${owner}`;
  if (name !== 'sum' && name !== 'count')
    return `it is based on ${name === 'avg' ? 'an' : 'a'} ${name} of ${owner}`;
  if (balance !== undefined && balance.take !== 'first' && balance.take !== 'last')
    return `each group takes the ${balance.take} over ${owner}.${balance.over} of its own rows`;
  return undefined;
}

function lossesOverDimensions(
  { owner, running, balance }: AggregateNode,
  { dimensions, fanOutDimensions }: FactQuery,
  dataset: ModelDataset,
): readonly AdditivityLoss[] {
  const indexesOf = (isLost: (dimension: ResolvedField) => boolean) =>
    [...dimensions.entries()].filter(([, dimension]) => isLost(dimension)).map(([index]) => index);
  const losses: AdditivityLoss[] = [];
  if (running !== undefined)
    losses.push({
      over: indexesOf((dimension) => isDefaultTime({ owner: dataset }, dimension)),
      because: `it accumulates over ${owner}.${dataset.defaultTime}`,
    });
  if (balance !== undefined)
    losses.push({
      over: indexesOf(({ path, name }) => path.length === 0 && name === balance.over),
      because: `it is a balance over ${owner}.${balance.over}`,
    });
  if (fanOutDimensions.length > 0)
    losses.push({
      over: indexesOf(({ path }) => !path.every(isToOne)),
      because: `one row of ${owner} can be in several groups by ${fanOutDimensions.join(' and ')}`,
    });
  return losses;
}
