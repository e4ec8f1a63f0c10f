import { queryError } from '../../query/errors.ts';
import type { GroupsInput, PlannedGroups } from './plan-groups.ts';

/** Throws if nothing says which period is compared with the one before. */
export function checkComparedPeriods(
  { stage: { compareTo } }: GroupsInput,
  { factQueries }: PlannedGroups,
): void {
  if (compareTo === undefined) return;
  const unshifted = factQueries.find(
    ({ usesTime, aggregates: [first] }) => !usesTime && (first?.shift.length ?? 0) > 0,
  );
  if (unshifted === undefined) return;
  throw queryError(
    'no_period',
    `compare_to ${compareTo.text} compares periods, but the query names no time of ${unshifted.owner}`,
    {
      hint: 'Add one to the dimensions, or a condition on metric_time.',
      choices: ['metric_time.month'],
    },
  );
}
