import type { Aggregate } from '../../sql/aggregates.ts';
import type { Period } from '../../sql/dialect.ts';
import type {
  Balance,
  ConversionRule,
  ModelMetric,
  Running,
  SpineOffset,
  SpineRunning,
} from '../model/model.ts';
import type { Expr } from '../relational/query-tree.ts';
import { pieceText } from '../relational/sql-piece.ts';
import type { RowSql } from './row-expr.ts';

/** One aggregate over the rows of one dataset. A metric is arithmetic over such aggregates. */
export interface AggregateNode {
  /** The output column of the fact query that computes it: the name of its metric, made unique. */
  readonly column: string;
  /** The dataset whose rows it aggregates. */
  readonly owner: string;
  readonly function: Aggregate;
  /** The argument; undefined in a count of rows. */
  readonly of: RowSql | undefined;
  /** Which percentile, 0 to 1; undefined for other functions. */
  readonly fraction: number | undefined;
  /** Conditions on its rows. A row must meet all of them. */
  readonly where: readonly RowSql[];
  readonly balance: Balance | undefined;
  /** Field that `metric_time` stands for; undefined: the default time of the owner. */
  readonly time?: string | undefined;
  /** True if it is NULL in a group without rows, also in arithmetic. */
  readonly keepsNull?: boolean | undefined;
  /** True if its conditions also decide which groups there are. */
  readonly filtersGroups?: boolean | undefined;
  /**
   * By how much its rows are moved forward in time, so that a later period shows the value of an
   * earlier one.
   */
  readonly shift: readonly Period[];
  readonly running: Running | undefined;
  /** How the periods of the time spine read its rows. */
  readonly spine?: SpineUse | undefined;
  readonly nested: NestedAggregate | undefined;
  /**
   * Set for a total: the dimensions to group by, as the model names them. Undefined: all dimensions
   * of the query.
   */
  readonly total: readonly string[] | undefined;
  /**
   * Set for a conversion: the owner's rows are first events, and it aggregates the later events.
   */
  readonly conversion?: Conversion | undefined;
}

/**
 * How an aggregate uses the time spine. A period reads the rows of the period that the offsets lead
 * to, the outermost first; a running total also those before it.
 */
export interface SpineUse {
  readonly offsets: readonly SpineOffset[];
  readonly running: SpineRunning | undefined;
  /** True if periods without rows are shown. */
  readonly fills: boolean;
}

/**
 * A later event (a row of `toAggregate`) counts for the last first event (a row of `baseAggregate`)
 * before it, within the window.
 */
export interface Conversion extends ConversionRule {
  readonly baseAggregate: AggregateNode;
  readonly toAggregate: AggregateNode;
}

/**
 * The inner query of a nested aggregate. It groups by the field `per` and computes `of`, arithmetic
 * over `aggregates`.
 */
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
  /** Addresses of the metrics in it that only a model read. */
  readonly unreviewed: Set<string>;
  /**
   * The model metric, if the query's metric is just that; undefined for arithmetic written in the
   * query.
   */
  metric: ModelMetric | undefined;
  /**
   * True if it only adds, subtracts or scales aggregates. Its values then add up wherever theirs
   * do.
   */
  isLinear: boolean;
}

export function emptyTrace(): MetricTrace {
  return {
    aggregates: new Set(),
    files: new Set(),
    unreviewed: new Set(),
    metric: undefined,
    isLinear: true,
  };
}

/**
 * Aggregates with equal keys are computed in one fact query. Nested aggregates and conversions
 * always get their own.
 */
export function factQueryKey(node: AggregateNode): string {
  const { owner, time, balance, shift, running, nested, total, where, column, conversion } = node;
  const { spine = null } = node;
  if (nested !== undefined || conversion !== undefined) return column;
  const hasOwnFilter = balance !== undefined || node.filtersGroups === true;
  const filterKey = hasOwnFilter ? [balance ?? null, where.map(rowSqlKey)] : [];
  return JSON.stringify([
    owner,
    time ?? null,
    shift,
    running ?? null,
    spine,
    total ?? null,
    // What is filled depends on the conditions.
    ...(spine?.fills === true ? where.map(rowSqlKey) : []),
    ...filterKey,
  ]);
}

/** Aggregates with equal keys compute the same value, so they share a column. */
export function aggregateKey(node: Omit<AggregateNode, 'column'>): string {
  const { nested, conversion } = node;
  return JSON.stringify([
    ...rowAggregateKey(node),
    node.owner,
    node.time,
    node.keepsNull,
    node.fraction,
    node.running,
    node.spine,
    node.total,
    nested && [nested.per, nested.of, nested.aggregates.map(rowAggregateKey)],
    conversion && [
      conversion.base,
      conversion.to,
      conversion.on,
      conversion.window,
      conversion.baseAggregate.where.map(rowSqlKey),
    ],
  ]);
}

function rowAggregateKey(node: Omit<AggregateNode, 'column'>): readonly unknown[] {
  const { function: name, of, where, balance, shift } = node;
  return [name, of && rowSqlKey(of), where.map(rowSqlKey), balance, shift];
}

function rowSqlKey(row: RowSql): readonly [home: string | undefined, text: string] {
  return [row.home, pieceText(row)];
}

/** True for an aggregate of rows without any further rule. */
export function isPlainAggregate(node: AggregateNode): boolean {
  const { balance, running, spine, nested, total, conversion } = node;
  return [balance, running, spine, nested, total, conversion].every(
    (option) => option === undefined,
  );
}

/** True for an aggregate that is 0 without rows. All others are then NULL. */
export function isCount({ function: name, keepsNull }: AggregateNode): boolean {
  return name.startsWith('count') && keepsNull !== true;
}
