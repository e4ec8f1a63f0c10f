import type { Dialect } from '../sql/dialect.ts';
import type { AggregateExpr, Expr, Part } from './expr.ts';
import type { FilterOperator } from './query.ts';

/** Before every column of a block: bare, `m1` would mean an output that was given this name. */
export const resultName = 'ktx';

/** SQL of an expression, safe as an operand: it is one name, one call, or in parentheses. */
export function exprSql(expr: Expr, dialect: Dialect): string {
  switch (expr.kind) {
    case 'column':
      return `${dialect.quote(expr.alias)}.${dialect.quote(expr.name)}`;
    case 'written':
      return `${dialect.quote(expr.alias)}.${expr.text.startsWith('"') ? dialect.quote(unquoted(expr.text)) : expr.text}`;
    case 'text': {
      const text = expr.parts.map((part) => partSql(part, dialect)).join('');
      return /^[\w.]+$/.test(text) ? text : `(${text})`;
    }
    case 'truncate':
      return dialect.truncate(expr.grain, exprSql(expr.of, dialect), expr.options);
    case 'compare':
      return `(${compareSql(expr, dialect)})`;
    case 'aggregate':
      return aggregateSql(expr, dialect);
    case 'result':
      return `${dialect.quote(resultName)}.${dialect.quote(expr.column)}`;
  }
  return expr satisfies never;
}

function partSql(part: Part, dialect: Dialect): string {
  if (typeof part === 'string') return part;
  return part.kind === 'division' ? dialect.division : exprSql(part, dialect);
}

export function conditionsSql(conditions: readonly Expr[], dialect: Dialect): string {
  return conditions.map((condition) => exprSql(condition, dialect)).join(' AND ');
}

function aggregateSql(expr: AggregateExpr, dialect: Dialect): string {
  const value = expr.of === undefined ? undefined : exprSql(expr.of, dialect);
  const where = conditionsSql(expr.where, dialect);
  const argument = where === '' ? (value ?? '*') : `CASE WHEN ${where} THEN ${value ?? '1'} END`;
  if (expr.function === 'avg') return dialect.average(argument);
  if (expr.function === 'count_distinct') return `count(DISTINCT ${argument})`;
  if (expr.function === 'median' || expr.function === 'percentile') return dialect.percentile(argument, expr.fraction ?? 0.5);
  return `${expr.function}(${argument})`;
}

type Compare = Extract<Expr, { kind: 'compare' }>;
interface Operands {
  readonly left: string;
  readonly values: Compare['values'];
  readonly literals: readonly string[];
  readonly dialect: Dialect;
}

const comparisons: Readonly<Record<FilterOperator, (operands: Operands) => string>> = {
  '=': isAmong,
  in: isAmong,
  '!=': (operands) => `NOT (${isAmong(operands)})`,
  not_in: (operands) => `NOT (${isAmong(operands)})`,
  '<': ({ left, literals }) => `${left} < ${literals[0]}`,
  '<=': ({ left, literals }) => `${left} <= ${literals[0]}`,
  '>': ({ left, literals }) => `${left} > ${literals[0]}`,
  '>=': ({ left, literals }) => `${left} >= ${literals[0]}`,
  between: ({ left, literals }) => `${left} BETWEEN ${literals[0]} AND ${literals[1]}`,
  is_null: ({ left }) => `${left} IS NULL`,
  is_not_null: ({ left }) => `${left} IS NOT NULL`,
  contains: ({ left, literals: [part = ''], dialect }) => dialect.text.contains(left, part),
  starts_with: ({ left, literals: [part = ''], dialect }) => dialect.text.startsWith(left, part),
  ends_with: ({ left, literals: [part = ''], dialect }) => dialect.text.endsWith(left, part),
};

function compareSql({ op, left, values }: Compare, dialect: Dialect): string {
  const literals = values.filter((value) => value !== null).map((value) => dialect.literal(value));
  return comparisons[op]({ left: exprSql(left, dialect), values, literals, dialect });
}

/** NULL among the values is meant as a value: `= NULL` is IS NULL, `!= NULL` is IS NOT NULL. */
function isAmong({ left, values, literals }: Operands): string {
  const tests = literals.length === 0 ? [] : [`${left} IN (${literals.join(', ')})`];
  return (values.includes(null) ? [...tests, `${left} IS NULL`] : tests).join(' OR ');
}

/** People quote names with `"` whatever the dialect. */
function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}
