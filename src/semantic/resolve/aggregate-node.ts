import type { Period } from '../../sql/dialect.ts';
import type { Aggregate } from '../../sql/aggregates.ts';
import type { Expr } from '../relational/query-tree.ts';
import type { Balance, ConversionRule, ModelMetric, Running } from '../model/model.ts';
import type { RowSql } from './row-expr.ts';

/** One aggregate over the rows of one dataset. */
export interface AggregateNode {
  /** Of the block that computes it. */
  readonly column: string;
  readonly owner: string;
  readonly function: Aggregate;
  readonly of: RowSql | undefined;
  readonly fraction: number | undefined;
  readonly where: readonly RowSql[];
  readonly balance: Balance | undefined;
  /** How far its rows are moved on in time, so that they meet later ones. */
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  readonly nested: NestedAggregate | undefined;
  /** The dimensions that it is computed by, where these are not all; as the model names them. */
  readonly total: readonly string[] | undefined;
  /** Where it aggregates what followed rows of its owner. */
  readonly conversion?: Conversion | undefined;
}

/** Each row of `to` belongs to the last one of `base` before it, within the window; both leaves name rows and what they must satisfy. */
export interface Conversion extends ConversionRule {
  readonly baseAggregate: AggregateNode;
  readonly toAggregate: AggregateNode;
}

/** What is aggregated first, for each value of a field; `of` is over its own leaves. */
export interface NestedAggregate {
  readonly of: Expr;
  readonly aggregates: readonly AggregateNode[];
  readonly per: string;
}

/** What a metric is made of; collected while it is resolved. */
export interface MetricTrace {
  readonly aggregates: Set<AggregateNode>;
  readonly files: Set<string>;
  /** The one that it is, perhaps under another name; undefined for arithmetic that the query brought itself. */
  metric: ModelMetric | undefined;
  /** Sums of leaves only, so that it adds up when its leaves do. */
  isLinear: boolean;
}

export function emptyTrace(): MetricTrace {
  return { aggregates: new Set(), files: new Set(), metric: undefined, isLinear: true };
}

/** Leaves with equal keys are computed in one block. */
export function factQueryKey({
  owner,
  balance,
  shift,
  running,
  nested,
  total,
  where,
  column,
  conversion,
}: AggregateNode): string {
  if (nested !== undefined || conversion !== undefined) return column;
  const conditions = where.map(({ home, fragment, span }) => [
    home,
    fragment.text.slice(span.start, span.end),
  ]);
  return JSON.stringify([
    owner,
    shift,
    running ?? null,
    total ?? null,
    ...(balance === undefined ? [] : [balance, conditions]),
  ]);
}

/** A plain aggregate of rows. */
export function isPlainAggregate({
  balance,
  running,
  nested,
  total,
  conversion,
}: AggregateNode): boolean {
  return [balance, running, nested, total, conversion].every((one) => one === undefined);
}
