import type { Dialect } from '../sql/dialect.ts';
import type { AggregateExpr, Expr } from './expr.ts';
import type { FilterValue } from './query.ts';

/** SQL of an expression, safe as an operand: it is one name, one call, or in parentheses. */
export function exprSql(expr: Expr, dialect: Dialect): string {
  switch (expr.kind) {
    case 'column':
      return `${dialect.quote(expr.alias)}.${dialect.quote(expr.name)}`;
    case 'written':
      return `${dialect.quote(expr.alias)}.${expr.text}`;
    case 'text': {
      const text = expr.parts.map((part) => (typeof part === 'string' ? part : exprSql(part, dialect))).join('');
      return /^[\w.]+$/.test(text) ? text : `(${text})`;
    }
    case 'truncate':
      return dialect.truncate(expr.grain, exprSql(expr.of, dialect), expr.options);
    case 'divide':
      return `(${dialect.divide(exprSql(expr.numerator, dialect), exprSql(expr.denominator, dialect))})`;
    case 'equal':
      return `${exprSql(expr.left, dialect)} = ${exprSql(expr.right, dialect)}`;
    case 'compare':
      return `(${compareSql(expr, dialect)})`;
    case 'aggregate':
      return aggregateSql(expr, dialect);
    case 'result':
      return dialect.quote(expr.column);
  }
  return unreachable(expr);
}

function unreachable(expr: never): never {
  throw new Error(`unknown expression ${JSON.stringify(expr)}`);
}

function aggregateSql(expr: AggregateExpr, dialect: Dialect): string {
  const value = expr.of === undefined ? undefined : exprSql(expr.of, dialect);
  const where = expr.where.map((condition) => exprSql(condition, dialect)).join(' AND ');
  const argument = where === '' ? value : `CASE WHEN ${where} THEN ${value ?? '1'} END`;
  if (argument === undefined) return 'count(*)';
  switch (expr.function) {
    case 'count_distinct':
      return `count(DISTINCT ${argument})`;
    case 'median':
      return dialect.percentile(argument, 0.5);
    case 'percentile':
      return dialect.percentile(argument, expr.fraction ?? 0.5);
    case 'sum':
    case 'count':
    case 'avg':
    case 'min':
    case 'max':
      return `${expr.function}(${argument})`;
  }
  throw new Error('unknown aggregate');
}

type Compare = Extract<Expr, { kind: 'compare' }>;

/** NULL among the values is meant as a value: `= NULL` is IS NULL, `!= NULL` is IS NOT NULL. */
function compareSql(expr: Compare, dialect: Dialect): string {
  const left = exprSql(expr.left, dialect);
  const literals = expr.values.filter((value) => value !== null).map((value) => dialect.literal(value));
  const [first = 'NULL', second = 'NULL'] = literals;
  const hasNull = expr.values.includes(null);
  switch (expr.op) {
    case '=':
    case 'in':
      return joined(
        [...(literals.length > 0 ? [`${left} IN (${literals.join(', ')})`] : []), ...(hasNull ? [`${left} IS NULL`] : [])],
        ' OR ',
      );
    case '!=':
    case 'not_in':
      return joined(
        [...(literals.length > 0 ? [`${left} NOT IN (${literals.join(', ')})`] : []), ...(hasNull ? [`${left} IS NOT NULL`] : [])],
        ' AND ',
      );
    case '<':
    case '<=':
    case '>':
    case '>=':
      return `${left} ${expr.op} ${first}`;
    case 'between':
      return `${left} BETWEEN ${first} AND ${second}`;
    case 'is_null':
      return `${left} IS NULL`;
    case 'is_not_null':
      return `${left} IS NOT NULL`;
    case 'contains':
      return `replace(${left}, ${first}, '') <> ${left}`;
    case 'starts_with':
      return `substr(${left}, 1, ${lengthOf(expr.values[0])}) = ${first}`;
    case 'ends_with':
      return `substr(${left}, length(${left}) - ${lengthOf(expr.values[0])} + 1) = ${first}`;
  }
  throw new Error('unknown operator');
}

function joined(conditions: readonly string[], separator: string): string {
  return conditions.join(separator);
}

/** In characters, as SQL counts them. */
function lengthOf(value: FilterValue | undefined): number {
  return Array.from(String(value)).length;
}
