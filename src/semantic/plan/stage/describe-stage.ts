import type { GroupsInput, PlannedGroups } from './plan-groups.ts';
import type { ComputedColumn } from './row-windows.ts';
import type { PlannedStage } from './shown-rows.ts';

/** What is computed over what, a line for each column and option. */
export function describeComputed(
  { query, stage }: GroupsInput,
  { added }: PlannedGroups,
  windows: readonly ComputedColumn[],
): PlannedStage['computed'] {
  return [
    ...[...added, ...windows].map(({ name, is }) => ({ column: name, is })),
    ...(stage.top === undefined ? [] : describeTop(stage.top)),
    ...(stage.hasRollup ? [describeRollup(query)] : []),
    ...query.qualify.map((text) => ({
      column: 'qualify',
      is: `only the rows where ${text}; what is computed over rows counts the others too`,
    })),
  ];
}

function describeTop({
  count,
  by,
  dir,
  per,
  hasOthers,
}: NonNullable<GroupsInput['stage']['top']>): PlannedStage['computed'] {
  const place = dir === 'desc' ? 'greatest' : 'smallest';
  const within = per.length === 0 ? '' : ` for each ${per.join(' and ')}`;
  const rows =
    `the ${count} groups with the ${place} ${by}${within}; ` +
    'all groups with an equal value share a place';
  const others = {
    column: 'others',
    is: `each metric computed from the rows of all other groups${within}, not summed`,
  };
  return [{ column: 'top', is: rows }, ...(hasOthers ? [others] : [])];
}

function describeRollup({ dimensions, having }: GroupsInput['query']) {
  const levels = dimensions.map(
    (_, index) => dimensions.slice(0, index).join(', ') || 'all groups',
  );
  const hidden = having.length === 0 ? '' : ', also of groups that having leaves out';
  const totals = levels.toReversed().join('; for ');
  return {
    column: 'rollup',
    is: `each metric computed anew for ${totals}, from all rows that meet where${hidden}`,
  };
}
