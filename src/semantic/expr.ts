import type { TimeGrain, TruncateOptions } from '../sql/dialect.ts';
import type { Fragment } from '../sql/expression.ts';
import type { Span } from '../sql/analyzer.ts';
import type { Aggregate } from './dataset.ts';
import type { FilterOperator, FilterValue } from './query.ts';

/** A typed expression of a plan; SQL text is made of it by `emit` alone. */
export type Expr =
  /** A field's column: both names are quoted. */
  | { readonly kind: 'column'; readonly alias: string; readonly name: string }
  /** A physical column, spelled as a person wrote it. */
  | { readonly kind: 'written'; readonly alias: string; readonly text: string }
  /** A person's SQL with expressions in place of its names; always parenthesised. */
  | { readonly kind: 'text'; readonly parts: readonly (string | Expr)[] }
  | { readonly kind: 'truncate'; readonly grain: TimeGrain; readonly of: Expr; readonly options: TruncateOptions }
  | { readonly kind: 'divide'; readonly numerator: Expr; readonly denominator: Expr }
  | { readonly kind: 'equal'; readonly left: Expr; readonly right: Expr }
  | {
      readonly kind: 'compare';
      readonly op: FilterOperator;
      readonly left: Expr;
      readonly values: readonly FilterValue[];
    }
  | AggregateExpr
  /** A column that a block gives: a dimension `d1` or an aggregate `m1`. */
  | { readonly kind: 'result'; readonly column: string };

export interface AggregateExpr {
  readonly kind: 'aggregate';
  readonly function: Aggregate;
  /** Undefined counts rows. */
  readonly of: Expr | undefined;
  readonly fraction: number | undefined;
  /** Only rows for which all of these hold. */
  readonly where: readonly Expr[];
}

/** The text of `span` with every reference in it replaced by an expression. */
export function textOf(fragment: Fragment, span: Span, resolve: (parts: readonly string[], written: string) => Expr): Expr {
  const parts: (string | Expr)[] = [];
  let at = span.start;
  for (const reference of fragment.references) {
    if (reference.start < span.start || reference.end > span.end) continue;
    if (reference.start > at) parts.push(fragment.text.slice(at, reference.start));
    parts.push(resolve(reference.parts, reference.written));
    at = reference.end;
  }
  if (at < span.end) parts.push(fragment.text.slice(at, span.end));
  const only = parts.length === 1 ? parts[0] : undefined;
  return only !== undefined && typeof only !== 'string' ? only : { kind: 'text', parts };
}

export function wholeSpan(fragment: Fragment): Span {
  return { start: 0, end: fragment.text.length };
}
