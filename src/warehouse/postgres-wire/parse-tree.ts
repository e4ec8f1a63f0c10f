import { isRecord } from '../../lib/json.ts';
import { recordsIn, type TreeNode } from '../gate/statement-facts.ts';

/** Every record in the tree, in breadth-first order. */
export function nodesIn(tree: unknown): readonly TreeNode[] {
  const values: unknown[] = [tree];
  for (const value of values)
    if (typeof value === 'object' && value !== null) values.push(...Object.values(value));
  return values.filter((value) => isRecord(value));
}

/** The strings in a list of String nodes: the parts of a dotted name. */
export function namesIn(parts: unknown): string[] {
  return recordsIn(parts).flatMap(
    ({ String: part }) => (part as { sval?: string } | undefined)?.sval ?? [],
  );
}

/** The dotted name, without `pg_catalog`. */
export function unqualifiedSystemName(parts: unknown): string {
  const names = namesIn(parts);
  return (names[0] === 'pg_catalog' ? names.slice(1) : names).join('.');
}

/**
 * The operators that a node calls, with those that the grammar implies: `=` in USING, NATURAL JOIN,
 * IN and CASE x WHEN.
 */
export function operatorsOf({
  A_Expr: expression,
  SubLink: subquery,
  SortBy: sort,
  CaseExpr: caseExpression,
  JoinExpr: join,
}: TreeNode): string[] {
  if (isRecord(expression)) {
    const isBetween = String(expression['kind']).includes('BETWEEN');
    return isBetween ? ['<', '<=', '>', '>='] : [unqualifiedSystemName(expression['name'])];
  }
  if (isRecord(subquery)) {
    const name = subquery['operName'];
    return name === undefined ? ['='] : [unqualifiedSystemName(name)];
  }
  if (isRecord(sort)) {
    const name = sort['useOp'];
    return name === undefined ? [] : [unqualifiedSystemName(name)];
  }
  const comparesImplicitly =
    (isRecord(caseExpression) && caseExpression['arg'] !== undefined) ||
    (isRecord(join) && (join['usingClause'] ?? join['isNatural']) !== undefined);
  return comparesImplicitly ? ['='] : [];
}
