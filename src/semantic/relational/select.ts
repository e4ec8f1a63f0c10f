import type { Expr } from './expr.ts';
import type { ReadableRows } from '../model/model.ts';

/** A query as data. `emit` alone makes text of it. */
export type Query = Select | Union;

export interface Select {
  readonly kind: 'select';
  readonly distinct?: boolean;
  /** None for all columns of `from`. */
  readonly columns: readonly NamedColumn<Expr>[];
  readonly from: FromItem;
  readonly joins: readonly JoinClause[];
  readonly where: readonly Expr[];
  /** Groups by this many of the first columns; undefined does not group. */
  readonly groups?: number;
}

interface Union {
  readonly kind: 'union';
  /** Keeps equal rows apart. */
  readonly all: boolean;
  readonly parts: readonly Select[];
}

export interface NamedColumn<Value> {
  readonly column: string;
  readonly expr: Value;
}

export interface FromItem {
  readonly alias: string;
  readonly relation:
    | Exclude<ReadableRows, { readonly kind: 'denied' }>
    | { readonly kind: 'common'; readonly name: string }
    | { readonly kind: 'select'; readonly select: Query };
}

export interface JoinClause extends FromItem {
  readonly on: Expr;
  /** An inner join only where a row without a partner is meant to go. */
  readonly kind: 'left' | 'inner' | 'cross';
}

/** A named query that later ones read from. */
export interface CommonTable {
  readonly name: string;
  readonly query: Query;
}
