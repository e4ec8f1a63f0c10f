import type { Aggregate } from '../../sql/aggregates.ts';
import type { Period } from '../../sql/dialect.ts';
import type { Balance, ConversionRule, ModelMetric, Running } from '../model/model.ts';
import type { Expr } from '../relational/query-tree.ts';
import { pieceText } from '../relational/sql-piece.ts';
import type { RowSql } from './row-expr.ts';

/** One aggregate over the rows of one dataset: a leaf of the arithmetic that a metric is. */
export interface AggregateNode {
  /** The output column of the fact query that computes it: `m1`, `m2`… */
  readonly column: string;
  /** The dataset whose rows it aggregates. */
  readonly owner: string;
  readonly function: Aggregate;
  /** The argument; undefined counts rows. */
  readonly of: RowSql | undefined;
  /** Of a percentile, 0 to 1. */
  readonly fraction: number | undefined;
  /** Row filters; all must hold. */
  readonly where: readonly RowSql[];
  readonly balance: Balance | undefined;
  /** How far its rows are moved forward in time, so that they meet the groups of later rows. */
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  readonly nested: NestedAggregate | undefined;
  /** Dimensions to group by, as the model names them; undefined groups by all dimensions of the query. */
  readonly total: readonly string[] | undefined;
  /** Set if it aggregates the events that follow rows of its owner. */
  readonly conversion?: Conversion | undefined;
}

/** Each row of `toAggregate` belongs to the last row of `baseAggregate` before it, within the window. */
export interface Conversion extends ConversionRule {
  readonly baseAggregate: AggregateNode;
  readonly toAggregate: AggregateNode;
}

/** The inner query of a nested aggregate: `of`, arithmetic over `aggregates`, grouped by the field `per`. */
export interface NestedAggregate {
  readonly of: Expr;
  readonly aggregates: readonly AggregateNode[];
  readonly per: string;
}

/** What one metric of the query is made of; filled in place while it is resolved. */
export interface MetricTrace {
  readonly aggregates: Set<AggregateNode>;
  /** Paths of the dataset files that define it. */
  readonly files: Set<string>;
  /** The model metric that it is, perhaps under another name; undefined for arithmetic written in the query. */
  metric: ModelMetric | undefined;
  /** True if it only sums aggregates, so that it adds up where they do. */
  isLinear: boolean;
}

export function emptyTrace(): MetricTrace {
  return { aggregates: new Set(), files: new Set(), metric: undefined, isLinear: true };
}

/** Aggregates with equal keys are computed in one fact query. */
export function factQueryKey(node: AggregateNode): string {
  const { owner, balance, shift, running, nested, total, where, column, conversion } = node;
  if (nested !== undefined || conversion !== undefined) return column;
  const balanceKey = balance === undefined ? [] : [balance, where.map(rowSqlKey)];
  return JSON.stringify([owner, shift, running ?? null, total ?? null, ...balanceKey]);
}

/** Aggregates with equal keys compute the same value, so they share a column. */
export function aggregateKey(node: Omit<AggregateNode, 'column'>): string {
  const { nested, conversion } = node;
  return JSON.stringify([
    ...ownKey(node),
    node.owner,
    node.fraction,
    node.running,
    node.total,
    nested && [nested.per, nested.of, nested.aggregates.map(ownKey)],
    conversion && [
      conversion.base,
      conversion.to,
      conversion.on,
      conversion.window,
      conversion.baseAggregate.where.map(rowSqlKey),
    ],
  ]);
}

function ownKey(node: Omit<AggregateNode, 'column'>): readonly unknown[] {
  const { function: name, of, where, balance, shift } = node;
  return [name, of && rowSqlKey(of), where.map(rowSqlKey), balance, shift];
}

function rowSqlKey(row: RowSql): readonly [home: string | undefined, text: string] {
  return [row.home, pieceText(row)];
}

/** True for an aggregate of rows and nothing more. */
export function isPlainAggregate(node: AggregateNode): boolean {
  const { balance, running, nested, total, conversion } = node;
  return [balance, running, nested, total, conversion].every((option) => option === undefined);
}

/** True for an aggregate that is 0 where there are no rows; all others are NULL. */
export function isCount({ function: name }: AggregateNode): boolean {
  return name.startsWith('count');
}
