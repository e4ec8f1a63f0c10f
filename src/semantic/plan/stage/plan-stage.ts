import { describeComputed } from './describe-stage.ts';
import type { GroupsInput, PlannedGroups } from './plan-groups.ts';
import { planRanked } from './plan-ranked.ts';
import { resultRows } from './result-rows.ts';
import { computeOverRows } from './row-windows.ts';
import { type PlannedStage, requestedOrder, type ShownRows, tieBreakers } from './shown-rows.ts';

/** Plans shares, comparisons, windows, tops and totals over the merged groups. */
export function planStage(input: GroupsInput, groups: PlannedGroups): PlannedStage {
  const { stage } = input;
  const rows = resultRows(input, groups);
  const windows = stage.overRows.map((computation) => computeOverRows(rows, computation));
  const exprs = [...rows.values, ...windows.map(({ name, expr }) => [name, expr] as const)];
  const shown: ShownRows = {
    dimensions: [...rows.dimensions.values()],
    values: exprs.map(([name, expr]) => ({ name, expr, meaning: expr })),
    having: groups.conditions.aggregates.map(({ expr }) => expr),
  };
  const computed = describeComputed(input, groups, windows);
  if (stage.top !== undefined || stage.hasRollup || stage.qualifiers.length > 0)
    return { ...planRanked(input, groups, { rows, shown }), computed };
  const { tables, isRecursive } = groups;
  const order = [...requestedOrder(input, groups, shown), ...tieBreakers(input, shown)];
  return { ...shown, tables, isRecursive, rowKind: undefined, order, computed };
}
