import type { Block } from './fact-query.ts';
import { isToOne } from '../model/join-graph.ts';
import type { ModelDataset } from '../model/model.ts';
import { factQueryKey, type AggregateNode, type MetricTrace } from '../resolve/aggregate-node.ts';
import { isDefaultTime } from '../resolve/row-expr.ts';

interface Limits {
  /** Of the dimensions that were asked for, those over which alone the values of groups may be summed. */
  readonly only_over: readonly string[];
  readonly because: string;
}

interface Asked {
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  readonly blocks: readonly Block[];
  readonly dimensions: readonly string[];
}

/** What a leaf does not add up over: indexes of dimensions; undefined for any. */
interface Loss {
  readonly over: readonly number[] | undefined;
  readonly because: string;
}

/** Undefined where the values of groups add up to the value of all, whatever they are grouped by. Says no in doubt. */
export function limitsOfSums(
  { aggregates: all, isLinear: linear }: MetricTrace,
  asked: Asked,
): Limits | undefined {
  const leaves = [...all];
  const losses = leaves.flatMap((leaf) => lossesOf(leaf, asked));
  if (!linear && losses.every(({ over }) => over !== undefined)) {
    losses.push({
      over: undefined,
      because: 'it is a ratio, or other arithmetic than sums and differences',
    });
  }
  // Across blocks a sum without values counts as 0, within one it does not.
  if (
    leaves.length > 1 &&
    leaves.some(({ function: name }) => name === 'sum') &&
    new Set(leaves.map(factQueryKey)).size === 1
  ) {
    losses.push({
      over: undefined,
      because: 'it is NULL for a group in which one of its sums has no values',
    });
  }
  if (losses.length === 0) return undefined;
  const lost = new Set(losses.flatMap(({ over }) => over ?? [...asked.dimensions.keys()]));
  return {
    only_over: asked.dimensions.filter((_, index) => !lost.has(index)),
    because: [...new Set(losses.map(({ because }) => because))].join('; '),
  };
}

function lossesOf(leaf: AggregateNode, { datasets, blocks, dimensions }: Asked): readonly Loss[] {
  const { function: name, balance, running, nested, total, owner } = leaf;
  const never = (because: string): readonly Loss[] => [{ over: undefined, because }];
  if (nested !== undefined)
    return never(`it aggregates what was aggregated for each ${nested.per}`);
  if (total !== undefined) return never('it is a total, which every group repeats');
  if (name === 'count_distinct') return never(`one value can be in several groups of ${owner}`);
  if (name !== 'sum' && name !== 'count')
    return never(`it is made of ${name === 'avg' ? 'an' : 'a'} ${name} of ${owner}`);
  if (balance !== undefined && balance.take !== 'first' && balance.take !== 'last') {
    return never(
      `each group takes the ${balance.take} over ${owner}.${balance.over} of its own rows`,
    );
  }
  const block = blocks.find(({ leaves }) => leaves.includes(leaf));
  const dataset = datasets.get(owner);
  if (block === undefined || dataset === undefined) return [];
  const { places, fanned } = block;
  const loss = (
    because: string,
    isLost: (place: Block['places'][number], dimension: string) => boolean,
  ): readonly Loss[] => {
    const over = places.flatMap((place, index) =>
      isLost(place, dimensions[index] ?? '') ? [index] : [],
    );
    return [{ over, because }];
  };
  return [
    ...(running === undefined
      ? []
      : loss(`it accumulates over ${owner}.${dataset.defaultTime}`, (place) =>
          isDefaultTime({ owner: dataset }, place),
        )),
    ...(balance === undefined
      ? []
      : loss(
          `it is a balance over ${owner}.${balance.over}`,
          ({ path, name: field }) => path.length === 0 && field === balance.over,
        )),
    ...(fanned.length === 0
      ? []
      : loss(
          `one row of ${owner} can be in several groups by ${fanned.join(' and ')}`,
          ({ path }) => !path.every(isToOne),
        )),
  ];
}
