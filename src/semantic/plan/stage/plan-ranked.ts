import type { Expr, Select } from '../../relational/query-tree.ts';
import type { GroupsInput, PlannedGroups } from './plan-groups.ts';
import { planCoarserRows } from './plan-coarser.ts';
import { type QualifiedColumn, qualifierExprs } from './qualify.ts';
import { dimensionType, type Ordering, outputColumn, type ResultRows } from './result-rows.ts';
import { rankOf, valueOf } from './row-windows.ts';
import {
  groupColumn,
  kindColumn,
  levelColumn,
  type PlannedStage,
  rankColumn,
  rankedTable,
  requestedOrder,
  type ShownRows,
  tieBreakers,
} from './shown-rows.ts';

/**
 * Puts the rows into a table of their own, keeps the top of them and those that `qualify` asks for,
 * and adds rows of coarser groups.
 */
export function planRanked(
  input: GroupsInput,
  groups: PlannedGroups,
  { rows, shown }: { rows: ResultRows; shown: ShownRows },
): Omit<PlannedStage, 'computed'> {
  const { top, hasRollup } = input.stage;
  const hidden = groups.order.flatMap(({ by }) => ('expr' in by ? [by.expr] : []));
  const ranked = { name: rankedTable, query: rankedRows(input, groups, { rows, shown, hidden }) };
  const count = shown.values.length;
  const kept = {
    dimensions: shown.dimensions.map((_, index) => outputColumn(groupColumn(index))),
    values: shown.values.map((value, index) => ({ ...value, expr: valueColumn(index) })),
    hidden: hidden.map((_, index) => valueColumn(count + index)),
  };
  const isTop: readonly Expr[] =
    top === undefined
      ? []
      : [{ kind: 'text', parts: [outputColumn(rankColumn), ` <= ${top.count}`] }];
  const hasCoarser = hasRollup || top?.hasOthers === true;
  const result = {
    dimensions: kept.dimensions,
    values: kept.values,
    tables: [...groups.tables, ranked],
    isRecursive: groups.isRecursive,
    order: orderOf(input, groups, { ...kept, having: [], hasLevels: hasCoarser }),
  };
  if (!hasCoarser) {
    const columns = qualifiedColumns(input, groups, kept);
    const qualified = input.stage.qualifiers.flatMap((qualifier) =>
      qualifierExprs(qualifier, columns),
    );
    return { ...result, rowKind: undefined, having: [...isTop, ...qualified] };
  }
  const coarser = planCoarserRows(input, groups, {
    names: shown.values.map(({ name }) => name),
    hiddenCount: hidden.length,
    ranked,
    isTop,
  });
  return {
    ...result,
    tables: [...result.tables, ...coarser.tables],
    isRecursive: result.isRecursive || coarser.isRecursive,
    rowKind: outputColumn(kindColumn),
    having: [],
  };
}

function qualifiedColumns(
  { query }: GroupsInput,
  { factQueries: [{ dimensions }] }: PlannedGroups,
  kept: Pick<ShownRows, 'dimensions' | 'values'>,
): ReadonlyMap<string, QualifiedColumn> {
  const { timezone } = query;
  const groups = kept.dimensions.map((expr, index) => {
    const name = query.dimensions[index] ?? '';
    const dimension = dimensions[index];
    const type = dimension && dimensionType(dimension);
    return [name, { expr, target: { name, type, grain: dimension?.grain, timezone } }] as const;
  });
  const values = kept.values.map(({ name, expr }) => {
    const target = { name, type: undefined, grain: undefined, timezone };
    return [name, { expr, target }] as const;
  });
  return new Map([...groups, ...values]);
}

function valueColumn(index: number): Expr {
  return outputColumn(`x${index + 1}`);
}

/** One row per group that `having` keeps, with all columns and its rank. */
function rankedRows(
  { stage: { top } }: GroupsInput,
  { tables }: PlannedGroups,
  { rows, shown, hidden }: { rows: ResultRows; shown: ShownRows; hidden: readonly Expr[] },
): Select {
  const values = [...shown.values.map(({ expr }) => expr), ...hidden];
  const rank =
    top === undefined
      ? []
      : [{ column: rankColumn, expr: rankOf(rows, { ...top, of: valueOf(rows, top.by) }) }];
  return {
    kind: 'select',
    columns: [
      ...shown.dimensions.map((expr, index) => ({ column: groupColumn(index), expr })),
      ...values.map((expr, index) => ({ column: `x${index + 1}`, expr })),
      ...rank,
    ],
    from: { alias: 'ktx', relation: { kind: 'common', name: tables.at(-1)?.name ?? '' } },
    joins: [],
    where: shown.having,
  };
}

/**
 * What `order_by` asks for. Otherwise a top is shown by its places within its groups. Totals come
 * behind what they are the totals of.
 */
function orderOf(
  input: GroupsInput,
  groups: PlannedGroups,
  shown: ShownRows & { readonly hidden: readonly Expr[]; readonly hasLevels: boolean },
): readonly Ordering[] {
  const { query, stage } = input;
  const ties = tieBreakers(input, shown);
  const level: readonly Ordering[] = shown.hasLevels
    ? [{ expr: outputColumn(levelColumn), dir: 'asc' }]
    : [];
  if (stage.top === undefined || query.order_by.length > 0)
    return [...requestedOrder(input, groups, shown), ...ties, ...level];
  const { per } = stage.top;
  const isPer = (_: Ordering, index: number) => per.includes(query.dimensions[index] ?? '');
  const rank: Ordering = { expr: outputColumn(rankColumn), dir: 'asc' };
  return [
    ...ties.filter(isPer),
    ...level,
    rank,
    ...ties.filter((tie, index) => !isPer(tie, index)),
  ];
}
