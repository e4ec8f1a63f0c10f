import { isRecord } from '../../lib/json.ts';
import { asNode, type SqlNode } from '../../sql/analyzer.ts';
import { walkOwn } from './read-aggregate.ts';
import {
  asList,
  type UsedColumn,
  type DeclaredCondition,
  type ConditionOperator,
  type FilterUse,
  type ResolveColumn,
} from './statement-use.ts';

interface Conditions {
  readonly filters: readonly FilterUse[];
  /** Columns that must be equal. */
  readonly pairs: readonly (readonly [UsedColumn, UsedColumn])[];
}

/** What the conditions say that every row has to meet: those joined by AND. */
export function readConditions(condition: unknown, resolve: ResolveColumn): Conditions {
  const filters: FilterUse[] = [];
  const pairs: (readonly [UsedColumn, UsedColumn])[] = [];
  const rest = [condition];
  while (rest.length > 0) {
    const node = asNode(rest.pop());
    if (node === undefined) continue;
    const { kind, body } = node;
    if (kind === 'and') rest.push(body['right'], body['left']);
    else if (kind === 'paren') rest.push(body['this']);
    else {
      const pair = readPair(node, resolve);
      const filter = pair === undefined ? readFilter(node, resolve) : undefined;
      if (pair !== undefined) pairs.push(pair);
      if (filter !== undefined) filters.push(filter);
    }
  }
  return { filters, pairs };
}

function readPair(
  { kind, body }: SqlNode,
  resolve: ResolveColumn,
): readonly [UsedColumn, UsedColumn] | undefined {
  if (kind !== 'eq') return undefined;
  const [a, b] = [resolve(body['left']), resolve(body['right'])];
  if (a === undefined || b === undefined) return undefined;
  return a.table === b.table && a.column === b.column ? undefined : [a, b];
}

const operators: Readonly<Record<string, ConditionOperator>> = {
  eq: 'equals',
  neq: 'differs',
  lt: 'range',
  lte: 'range',
  gt: 'range',
  gte: 'range',
  between: 'range',
  in: 'in',
  like: 'like',
  i_like: 'like',
  ilike: 'like',
  any: 'in',
  is_null: 'null',
  is_true: 'flag',
  is_false: 'flag',
  column: 'flag',
  not: 'flag',
};

/** One condition on one column; functions around the column, as in `lower(name)`, count as it. */
function readFilter(node: SqlNode, resolve: ResolveColumn): FilterUse | undefined {
  const { kind, body } = node;
  const isNegated = kind === 'not';
  const inner = isNegated ? asNode(body['this']) : node;
  const operator = inner === undefined ? undefined : operators[inner.kind];
  if (inner === undefined || operator === undefined) return undefined;
  const sides = inner.kind === 'column' ? [{ [inner.kind]: inner.body }] : [inner.body['this']];
  const operands = [...sides, inner.body['left'], inner.body['right']];
  const uses = operands.flatMap((side) =>
    [...walkOwn(side)].flatMap((part) => resolve({ [part.kind]: part.body }) ?? []),
  );
  const [first, ...others] = uses;
  const isOne = others.every(
    ({ table, column }) => table === first?.table && column === first.column,
  );
  if (first === undefined || !isOne) return undefined;
  const isPlain = operands.some((side) => resolve(side) !== undefined);
  const declared = isPlain ? declaredCondition(inner, { isNegated, use: first }) : undefined;
  return { ...first, operator, declared };
}

function declaredCondition(
  node: SqlNode,
  { isNegated, use }: { readonly isNegated: boolean; readonly use: UsedColumn },
): DeclaredCondition | undefined {
  const { kind, body } = node;
  const hasNot = body['not'] === true;
  if (kind === 'column') return { before: isNegated ? 'NOT ' : '', after: '', values: [] };
  if (kind === 'is_null') return after(hasNot === isNegated ? ' IS NULL' : ' IS NOT NULL');
  if (isNegated) return undefined;
  if (kind === 'is_true') return after(hasNot ? ' IS NOT TRUE' : ' IS TRUE');
  if (kind === 'is_false') return after(hasNot ? ' IS NOT FALSE' : ' IS FALSE');
  return comparedValues(node, use);
}

function after(text: string, values: readonly string[] = []): DeclaredCondition {
  return { before: '', after: text, values };
}

function comparedValues({ kind, body }: SqlNode, use: UsedColumn): DeclaredCondition | undefined {
  if (kind === 'in') {
    const values = declaredValues(asList(body['expressions']), use);
    return values && after(body['not'] === true ? ' NOT IN ' : ' IN ', values);
  }
  const sign = { eq: '=', neq: '<>' }[kind];
  if (sign === undefined) return undefined;
  const sides = [body['left'], body['right']];
  const flag = sides.map(booleanOf).find((value) => value !== undefined);
  if (flag !== undefined) return after(` ${sign} ${flag}`);
  const values = declaredValues(sides, use);
  return values && after(` ${sign} `, values);
}

function booleanOf(value: unknown): string | undefined {
  const node = asNode(value);
  if (node?.kind !== 'boolean') return undefined;
  return node.body['value'] === true ? 'TRUE' : 'FALSE';
}

/** The texts among the operands, if each is a value that the database declares for the column. */
function declaredValues(
  operands: readonly unknown[],
  { table, column }: UsedColumn,
): readonly string[] | undefined {
  const declared = new Set(table.columns.find(({ name }) => name === column)?.values);
  const others = operands.map(asNode).filter((node) => node?.kind !== 'column');
  const texts = others.map((node) => {
    const literal = node?.kind === 'literal' && isRecord(node.body) ? node.body : undefined;
    return literal?.['literal_type'] === 'string' ? String(literal['value']) : undefined;
  });
  const known = texts.filter((text) => text !== undefined && declared.has(text));
  return known.length === texts.length && texts.length > 0 ? (known as string[]) : undefined;
}
