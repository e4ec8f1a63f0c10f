import type { Dialect } from '../../sql/dialect.ts';
import {
  clauseLines,
  conditionsSql,
  exprSql,
  indented,
  listLines,
  queryLines,
  resultName,
} from './emit-expr.ts';
import type { Plan } from '../plan/plan.ts';

/** The SQL of a plan. Inside, columns are `d1…` and `m1…`; the outermost names are those that were asked for. */
export function emit(plan: Plan, dialect: Dialect): string {
  const bodies = plan.tables.map(
    ({ name, query }) =>
      `${dialect.quote(name)} AS (\n${queryLines(query, dialect).map(indented).join('\n')}\n)`,
  );
  const order = plan.order.map(({ expr, dir }) => dialect.order(exprSql(expr, dialect), dir));
  const items = plan.columns.map(
    ({ name, expr }, index) =>
      `${exprSql(expr, dialect)} AS ${dialect.quote(dialect.resultColumn(name, index))}`,
  );
  const lines = [
    `${(plan.isRecursive ? dialect.recursiveWith : undefined) ?? 'WITH'} ${bodies.join(',\n')}`,
    ...listLines('SELECT', items),
    `FROM ${dialect.quote(plan.tables.at(-1)?.name ?? '')} AS ${dialect.quote(resultName)}`,
    ...clauseLines('WHERE', conditionsSql(plan.having, dialect)),
    ...clauseLines('ORDER BY', order.join(', ')),
    ...(plan.limit === undefined ? [] : [dialect.limit(plan.limit, order.length > 0)]),
    ...(dialect.settings === undefined ? [] : [dialect.settings]),
  ];
  return lines.join('\n');
}
