import type { Span } from '../../sql/analyzer.ts';
import type { Period, TimeGrain, TruncateOptions } from '../../sql/dialect.ts';
import type { Fragment, ParameterReference, ColumnReference } from '../../sql/fragment.ts';
import type { Aggregate } from '../model/dataset.ts';
import { queryError } from '../query/errors.ts';
import type { FilterOperator, FilterValue } from '../query/query.ts';
import type { JoinClause } from './select.ts';

/** A typed expression of a plan; SQL text is made of it by `emit` alone. */
export type Expr =
  /** A field's column: both names are quoted. */
  | { readonly kind: 'column'; readonly alias: string; readonly name: string }
  /** A physical column, spelled as a person wrote it. */
  | { readonly kind: 'written'; readonly alias: string; readonly text: string }
  /** SQL with expressions in place of its names; always parenthesised. */
  | { readonly kind: 'text'; readonly parts: readonly ExprPart[] }
  /** As `text`, but one call, which needs no parentheses. */
  | { readonly kind: 'call'; readonly parts: readonly ExprPart[] }
  /** NULL of the type of a column of a common table. */
  | { readonly kind: 'missing'; readonly table: string; readonly column: string }
  /** The greatest value of a column of a common table. */
  | { readonly kind: 'greatest'; readonly table: string; readonly column: string }
  /** A time as it is stored, of an engine that keeps any value for one: fails where it is none. */
  | { readonly kind: 'time'; readonly of: Expr }
  | {
      readonly kind: 'truncate';
      readonly grain: TimeGrain;
      readonly of: Expr;
      readonly options: TruncateOptions;
    }
  | {
      readonly kind: 'add';
      readonly of: Expr;
      readonly period: Period;
      readonly type: TruncateOptions['type'];
    }
  /** As `add`, as often as a column of whole numbers says. */
  | {
      readonly kind: 'add_times';
      readonly of: Expr;
      readonly period: Period;
      readonly times: Expr;
      readonly type: TruncateOptions['type'];
    }
  | {
      readonly kind: 'compare';
      readonly op: FilterOperator;
      readonly left: Expr;
      readonly values: readonly FilterValue[];
    }
  | AggregateExpr
  /** NULL where not all of the conditions hold. */
  | { readonly kind: 'when'; readonly where: readonly Expr[]; readonly value: Expr }
  /** The place of a row among those of its partition, ties alike; 1 is the first. */
  | {
      readonly kind: 'rank';
      readonly partition: readonly Expr[];
      readonly order: readonly Expr[];
      readonly isDescending: boolean;
    }
  /** True where the joined rows, of which the first one's condition leads out, have one for which `where` holds. */
  | { readonly kind: 'exists'; readonly joins: readonly JoinClause[]; readonly where: Expr }
  /** The value of a parameter, `dataset.name`. */
  | {
      readonly kind: 'literal';
      readonly parameter: string;
      readonly value: string | number | boolean;
    }
  /** A column that a block gives: a dimension `d1` or an aggregate `m1`. */
  | { readonly kind: 'result'; readonly column: string };

export interface AggregateExpr {
  readonly kind: 'aggregate';
  readonly function: Aggregate;
  /** Undefined counts rows. */
  readonly of: Expr | undefined;
  readonly fraction: number | undefined;
}

/** The operator of real division, which is spelled differently by dialects. */
export const division = { kind: 'division' } as const;
export type ExprPart = string | Expr | typeof division;

/** What stands in a text in place of a span of it. */
export interface SqlSplice extends Span {
  readonly parts: readonly ExprPart[];
}

export interface SqlPiece {
  readonly fragment: Fragment;
  readonly span: Span;
}

/** A person's SQL as it is written, except for the splices. */
export function spliceSql({ fragment, span }: SqlPiece, splices: readonly SqlSplice[]): Expr {
  const parts: ExprPart[] = [];
  let at = span.start;
  for (const splice of splices
    .filter((it) => isWithin(it, span))
    .toSorted((a, b) => a.start - b.start)) {
    if (splice.start > at) parts.push(fragment.text.slice(at, splice.start));
    parts.push(...splice.parts);
    at = splice.end;
  }
  if (at < span.end) parts.push(fragment.text.slice(at, span.end));
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' && only.kind !== 'division'
    ? only
    : { kind: 'text', parts };
}

/** Row-level SQL: every name becomes an expression, every division a real one. */
export function rowTextExpr(piece: SqlPiece, resolve: (reference: ColumnReference) => Expr): Expr {
  const { references, divisions, parameters = [] } = piece.fragment;
  const names = references
    .filter((it) => isWithin(it, piece.span))
    .map((it) => ({ ...it, parts: [resolve(it)] }));
  return spliceSql(piece, [
    ...names,
    ...divisions.map((it) => ({ ...it, parts: [division] })),
    ...parameters.map(parameterSplice),
  ]);
}

/** The value in place of its name. */
export function parameterSplice({ name, bound, ...span }: ParameterReference): SqlSplice {
  if (bound === undefined) {
    const message = `Who asks would choose param.${name}, on which a row rule cannot depend`;
    throw queryError(
      'missing_parameter',
      message,
      'Write the value itself into the rule, or use a field without parameters.',
    );
  }
  const { address: parameter, value, choices } = bound;
  if (value !== undefined) return { ...span, parts: [{ kind: 'literal', parameter, value }] };
  const hint = `Give it as --parameter ${name}=value, or parameters: {${name}: value} in the query.`;
  throw queryError('missing_parameter', `The parameter ${parameter} has no value`, {
    hint,
    choices,
  });
}

/** Arithmetic over the columns of blocks, with something else in place of each. */
export function replaceResults(
  expr: Expr,
  replace: (result: Extract<Expr, { kind: 'result' }>) => Expr,
): Expr {
  if (expr.kind === 'result') return replace(expr);
  if (expr.kind !== 'text' && expr.kind !== 'call') return expr;
  const parts = expr.parts.map((part) =>
    typeof part === 'object' && part.kind !== 'division' ? replaceResults(part, replace) : part,
  );
  return { ...expr, parts };
}

export function quotient(numerator: Expr, denominator: Expr): Expr {
  return { kind: 'text', parts: [numerator, ' ', division, ' NULLIF(', denominator, ', 0)'] };
}

export function wholePiece(fragment: Fragment): SqlPiece {
  return { fragment, span: { start: 0, end: fragment.text.length } };
}

export function isWithin(inner: Span, outer: Span): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}
