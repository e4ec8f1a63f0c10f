import type { Leg, ModelDataset } from '../model/model.ts';
import type { KeyAssumption } from './key-assumption.ts';

/**
 * What a join to one row takes for granted about its target: the equal columns belong to one row,
 * within a partition if rows are also joined by that, and at one time if they have a range.
 */
export function keyOfJoin(
  { relationship, reversed, to }: Leg,
  partition: ModelDataset['partition'],
): Omit<KeyAssumption, 'name'> {
  const { equal, within } = relationship;
  const columns = [
    ...equal.flatMap((pair) => (reversed ? pair.own : pair.target) ?? []),
    ...(partition === undefined ? [] : [partition]),
  ];
  return { dataset: to, columns, range: reversed ? undefined : within, use: 'join' };
}
