import type { UserError } from '../../lib/error.ts';
import type { Aggregate } from '../../sql/aggregates.ts';
import type { DatePart, Period, TimeGrain, TruncateOptions } from '../../sql/dialect.ts';
import type { KeyAssumption } from '../keys/key-assumption.ts';
import type { FilterOperator } from '../query/query.ts';

/** A query as data. Only `emit` turns it into SQL text. */
export type Query = Select | Union;

export interface Select {
  readonly kind: 'select';
  readonly distinct?: boolean;
  /** True to select every column of `from` before `columns`. */
  readonly hasAllColumns?: boolean;
  /** Empty selects every column of `from`. */
  readonly columns: readonly NamedColumn<Expr>[];
  readonly from: FromItem;
  readonly joins: readonly JoinClause[];
  /** All must hold. */
  readonly where: readonly Expr[];
  /** GROUP BY this many of the first columns. */
  readonly groups?: number;
}

interface Union {
  readonly kind: 'union';
  /** True for UNION ALL; false removes duplicate rows. */
  readonly all: boolean;
  readonly parts: readonly Select[];
}

export interface NamedColumn<Value> {
  readonly column: string;
  readonly expr: Value;
}

/** What stands in FROM under an alias; `common` names a common table of the plan. */
export interface FromItem {
  readonly alias: string;
  readonly relation:
    | Exclude<ReadableRows, { readonly kind: 'denied' }>
    | { readonly kind: 'common'; readonly name: string }
    | { readonly kind: 'select'; readonly select: Query };
}

export interface JoinClause extends FromItem {
  readonly on: Expr;
  /** `inner` only if rows without a partner must disappear. */
  readonly kind: 'left' | 'inner' | 'cross';
}

/** A named query in WITH; later ones can read from it. */
export interface CommonTable {
  readonly name: string;
  readonly query: Query;
}

/** Where a dataset's rows come from: a table (name parts, unquoted) or a query. */
export type Relation =
  | { readonly kind: 'table'; readonly parts: readonly string[] }
  | { readonly kind: 'query'; readonly sql: string };

/**
 * The rows of a dataset that a role may read; `denied` holds the error to throw when a query
 * touches it.
 */
export type ReadableRows =
  | Relation
  | {
      readonly kind: 'guarded';
      readonly select: Query;
      /** The keys that its row rules rely on. */
      readonly assumes: readonly KeyAssumption[];
    }
  | { readonly kind: 'denied'; readonly error: UserError };

/** A typed expression of a plan. */
export type Expr =
  /** A column of a relation; alias and name are quoted. */
  | { readonly kind: 'column'; readonly alias: string; readonly name: string }
  /** A physical column, spelled as in the model file. */
  | { readonly kind: 'raw_column'; readonly alias: string; readonly text: string }
  /** SQL text in which expressions replace the names; always in parentheses. */
  | { readonly kind: 'text'; readonly parts: readonly ExprPart[] }
  /** Like `text`, but a single function call, which needs no parentheses. */
  | { readonly kind: 'call'; readonly parts: readonly ExprPart[] }
  /** NULL with the type of a column of a common table. */
  | { readonly kind: 'typed_null'; readonly table: string; readonly column: string }
  /** The greatest value of a column of a common table. */
  | { readonly kind: 'greatest'; readonly table: string; readonly column: string }
  /** A stored time. If the engine allows any value in a time column, other values fail. */
  | { readonly kind: 'time'; readonly of: Expr }
  /** A stored number. If the engine allows text in a number column, other values fail. */
  | { readonly kind: 'number'; readonly of: Expr }
  | {
      readonly kind: 'truncate';
      readonly grain: TimeGrain;
      readonly of: Expr;
      readonly options: TruncateOptions;
    }
  | { readonly kind: 'date_part'; readonly part: DatePart; readonly of: Expr }
  | {
      readonly kind: 'add';
      readonly of: Expr;
      readonly period: Period;
      readonly type: TruncateOptions['type'];
    }
  /** True if the clocks of the time zone show this local time; summer time skips an hour. */
  | { readonly kind: 'is_shown'; readonly of: Expr; readonly timezone: string }
  /** Adds the period `times` times; `times` is a column of whole numbers. */
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
      /** `null` is SQL's NULL, which `=` and `in` find too. */
      readonly values: readonly (Expr | null)[];
    }
  /**
   * A literal time: `YYYY-MM-DD` for a date, else `YYYY-MM-DD HH:MM:SS.fff`; a `datetime_tz` is in
   * UTC.
   */
  | { readonly kind: 'moment'; readonly type: TruncateOptions['type']; readonly text: string }
  | AggregateExpr
  /** A boolean: a stored one, or a condition. Engines without booleans turn one into the other. */
  | { readonly kind: 'boolean'; readonly of: Expr; readonly isCondition: boolean }
  /** A boolean as an operand of AND, OR, NOT or WHEN. */
  | { readonly kind: 'truth'; readonly of: Extract<Expr, { kind: 'boolean' }> }
  /** TRUE or FALSE in SQL of a dataset file, as written. */
  | { readonly kind: 'boolean_word'; readonly text: string }
  /** `value`, or NULL unless all conditions hold. */
  | { readonly kind: 'conditional'; readonly where: readonly Expr[]; readonly value: Expr }
  /** The number of a row; rows of equal order are numbered in any order. */
  | {
      readonly kind: 'row_number';
      readonly partition: readonly Expr[];
      readonly order: readonly Expr[];
    }
  /** An item of ORDER BY; NULLs come last. */
  | { readonly kind: 'ordering'; readonly of: Expr; readonly dir: 'asc' | 'desc' }
  /** RANK() of a row in its partition: ties share a rank, 1 is the first. */
  | {
      readonly kind: 'rank';
      readonly partition: readonly Expr[];
      readonly order: readonly Expr[];
      readonly isDescending: boolean;
    }
  /**
   * True if one of the joined rows fits; the condition of the first join refers to the outer query.
   * Never stands under a NOT: with `equal` it is `IN`, which is NULL where EXISTS is false.
   */
  | {
      readonly kind: 'exists';
      readonly joins: readonly JoinClause[];
      readonly where: Expr;
      /** Set if equality of these two is all that connects the rows with the outer query. */
      readonly equal?: { readonly outer: Expr; readonly inner: Expr } | undefined;
    }
  /**
   * A value; `parameter` is the address of the model parameter that it belongs to, `dataset.name`.
   */
  | {
      readonly kind: 'literal';
      readonly parameter?: string;
      readonly value: string | number | boolean;
    }
  /** An output column of a fact query: a dimension `d1`, or an aggregate. */
  | { readonly kind: 'output_column'; readonly column: string };

export interface AggregateExpr {
  readonly kind: 'aggregate';
  readonly function: Aggregate;
  /** Undefined counts rows. */
  readonly of: Expr | undefined;
  /** Of a percentile, 0 to 1. */
  readonly fraction: number | undefined;
}

/** True if the value is a boolean of a declared field, or a condition. */
export function isBoolean(expr: Expr): boolean {
  return expr.kind === 'boolean' || (expr.kind === 'conditional' && isBoolean(expr.value));
}

/** The operator of real division; dialects spell it differently. */
export const division = { kind: 'division' } as const;
export type ExprPart = string | Expr | typeof division;

/** Behind the order of a window: all rows of the partition. */
export const wholeFrame = ' ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING';

/** Division with decimals; NULL if the denominator is 0. */
export function quotient(numerator: Expr, denominator: Expr): Expr {
  return { kind: 'text', parts: [numerator, ' ', division, ' NULLIF(', denominator, ', 0)'] };
}

/** The expressions joined by AND; a single one is returned as it is. */
export function conjunctionOf(conditions: readonly Expr[]): Expr {
  return joinByOperator(conditions, ' AND ');
}

/** The expressions joined by OR; a single one is returned as it is. */
export function disjunctionOf(conditions: readonly Expr[]): Expr {
  return joinByOperator(conditions, ' OR ');
}

function joinByOperator(operands: readonly Expr[], operator: string): Expr {
  const [only] = operands;
  if (only !== undefined && operands.length === 1) return only;
  return {
    kind: 'text',
    parts: operands.flatMap((operand, index) => (index === 0 ? [operand] : [operator, operand])),
  };
}

/** Replaces each output column in arithmetic over the columns of fact queries. */
export function replaceOutputColumns(
  expr: Expr,
  replace: (output: Extract<Expr, { kind: 'output_column' }>) => Expr,
): Expr {
  if (expr.kind === 'output_column') return replace(expr);
  if (expr.kind === 'ordering') return { ...expr, of: replaceOutputColumns(expr.of, replace) };
  if (expr.kind !== 'text' && expr.kind !== 'call') return expr;
  const parts = expr.parts.map((part) =>
    typeof part === 'object' && part.kind !== 'division'
      ? replaceOutputColumns(part, replace)
      : part,
  );
  return { ...expr, parts };
}
