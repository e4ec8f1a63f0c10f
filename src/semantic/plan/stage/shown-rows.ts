import type { CommonTable, Expr } from '../../relational/query-tree.ts';
import type { GroupsInput, PlannedGroups } from './plan-groups.ts';
import type { Ordering } from './result-rows.ts';

/** The rows of the result, with everything that is computed over them. */
export interface PlannedStage extends ShownRows {
  readonly tables: readonly CommonTable[];
  readonly isRecursive: boolean;
  /** The kind of each row, if not all of them are groups. */
  readonly rowKind: Expr | undefined;
  readonly order: readonly Ordering[];
  /** What is computed over what, for the receipt. */
  readonly computed: readonly { readonly column: string; readonly is: string }[];
}

/** The columns and conditions of the outermost query, over its last table. */
export interface ShownRows {
  readonly dimensions: readonly Expr[];
  /** The metrics, what is added to them, and what is computed over rows. */
  readonly values: readonly StageValue[];
  readonly having: readonly Expr[];
}

interface StageValue {
  readonly name: string;
  readonly expr: Expr;
  /** How it is computed of the columns of fact queries. */
  readonly meaning: Expr;
}

/**
 * The columns of dimensions in the table of ranked groups. They are not called like those of fact
 * queries, which have other numbers for the others and for totals.
 */
export function groupColumn(index: number): string {
  return `g${index + 1}`;
}

export const rankedTable = 'ktx ranked';
/** The place of a group among those of its kind. */
export const rankColumn = 'rank';
/** What a row is: a group, the others, or a total. */
export const kindColumn = 'kind';
/** 0 for groups, 1 for the others, then the totals, the finest first. */
export const levelColumn = 'level';

/** What `order_by` asks for. `hidden` are the columns of what the query does not show. */
export function requestedOrder(
  { query }: GroupsInput,
  { order }: PlannedGroups,
  { dimensions, values, hidden = [] }: ShownRows & { readonly hidden?: readonly Expr[] },
): readonly Ordering[] {
  const remaining = [...hidden];
  return order.flatMap(({ by, dir }) => {
    if ('expr' in by) return [{ dir, expr: remaining.shift() ?? by.expr }];
    const expr =
      dimensions[query.dimensions.indexOf(by.column)] ??
      values.find(({ name }) => name === by.column)?.expr;
    return expr === undefined ? [] : [{ dir, expr }];
  });
}

/** All other dimensions, so that rows with equal values do not change places between runs. */
export function tieBreakers(
  { query }: GroupsInput,
  { dimensions }: ShownRows,
): readonly Ordering[] {
  return query.dimensions.flatMap((name, index) => {
    const expr = dimensions[index];
    const isRequested = query.order_by.some(({ field }) => field === name);
    return expr === undefined || isRequested ? [] : [{ dir: 'asc' as const, expr }];
  });
}
