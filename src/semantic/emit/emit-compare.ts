import type { Dialect } from '../../sql/dialect.ts';
import type { FilterOperator } from '../query/query.ts';

interface ComparisonOperands {
  /** SQL of the field. */
  readonly left: string;
  /** SQL of the values that are not NULL. */
  readonly literals: readonly string[];
  /** True if NULL is among the values. */
  readonly hasNull: boolean;
  readonly dialect: Dialect;
}

/**
 * SQL that compares a field with literal values. `left` must be safe as an operand; see `exprSql`.
 */
export function compareSql(op: FilterOperator, operands: ComparisonOperands): string {
  return comparisons[op](operands);
}

const comparisons: Readonly<Record<FilterOperator, (operands: ComparisonOperands) => string>> = {
  '=': equalsAnySql,
  in: equalsAnySql,
  '!=': (operands) => `NOT (${equalsAnySql(operands)})`,
  not_in: (operands) => `NOT (${equalsAnySql(operands)})`,
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

/**
 * True for rows whose value is among `values`. NULL counts as a value: `= NULL` becomes IS NULL.
 */
function equalsAnySql({ left, literals, hasNull }: ComparisonOperands): string {
  const tests: string[] = [];
  if (literals.length > 0) tests.push(`${left} IN (${literals.join(', ')})`);
  if (hasNull) tests.push(`${left} IS NULL`);
  return tests.join(' OR ');
}
