import { asNode, type SqlNode } from '../../sql/analyzer.ts';
import type { Aggregate } from '../../sql/aggregates.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import type { AggregateUse, ResolveColumn } from './statement-use.ts';

/** Every node of a piece of a statement, without those of the queries inside it. */
export function* walkOwn(value: unknown): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (node?.kind === 'select' || node?.kind === 'subquery') return;
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value)) yield* walkOwn(child);
}

const functions: Readonly<Record<string, Aggregate>> = {
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
  count: 'count',
};
const signs: Readonly<Record<string, string>> = { add: ' + ', sub: ' - ', mul: ' * ', div: ' / ' };

interface AggregateScope {
  readonly resolveColumn: ResolveColumn;
  /** The table whose rows `count(*)` counts; undefined if there are several or others. */
  readonly only: TableSchema | undefined;
}

/** The aggregate that a node is, over columns of one table; undefined for any other node. */
export function readAggregate(
  { kind, body }: SqlNode,
  { resolveColumn, only }: AggregateScope,
): AggregateUse | undefined {
  const name = functions[kind];
  if (name === undefined) return undefined;
  if (kind === 'count' && body['star'] === true)
    return only && { table: only, function: 'count', terms: [] };
  const found: TableSchema[] = [];
  const terms = readTerms(body['this'], (value) => {
    const use = resolveColumn(value);
    if (use !== undefined) found.push(use.table);
    return use?.column;
  });
  const [table, ...others] = new Set(found);
  if (terms === undefined || table === undefined || others.length > 0) return undefined;
  const isDistinct = body['distinct'] === true;
  // The sum of distinct values is a mistake of whoever wrote it.
  if (isDistinct && kind !== 'count') return undefined;
  return { table, function: isDistinct ? 'count_distinct' : name, terms };
}

/** Columns with operators between them; undefined for everything else, such as a literal. */
function readTerms(
  value: unknown,
  columnOf: (value: unknown) => string | undefined,
  depth = 0,
): AggregateUse['terms'] | undefined {
  const node = asNode(value);
  if (node === undefined || depth > 20) return undefined;
  if (node.kind === 'column') {
    const column = columnOf(value);
    return column === undefined ? undefined : [{ column }];
  }
  const inner = (part: unknown) => readTerms(part, columnOf, depth + 1);
  if (node.kind === 'paren') {
    const terms = inner(node.body['this']);
    return terms && ['(', ...terms, ')'];
  }
  const sign = signs[node.kind];
  const left = sign === undefined ? undefined : inner(node.body['left']);
  const right = left === undefined ? undefined : inner(node.body['right']);
  return left && right && sign !== undefined ? [...left, sign, ...right] : undefined;
}
