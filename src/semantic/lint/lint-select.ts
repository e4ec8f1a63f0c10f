import { isRecord } from '../../lib/json.ts';
import { asNode, identifierName, type SqlNode } from '../../sql/analyzer.ts';
import { findField, type ModelDataset, type SemanticModel } from '../model/model.ts';

/** A column of a table in a FROM, by the name that the table has there. */
export interface Column {
  readonly alias: string;
  readonly name: string;
}

/** What a SELECT says, as far as the model knows its tables. */
export interface Selected {
  readonly node: SqlNode;
  readonly tables: ReadonlyMap<string, ModelDataset>;
  readonly aggregates: readonly {
    readonly function: string;
    readonly column: Column | undefined;
  }[];
  /** Columns of GROUP BY. */
  readonly groups: readonly Column[];
  /** How many expressions GROUP BY has. */
  readonly isGrouped: number;
}

const aggregateKinds = ['sum', 'avg', 'count', 'min', 'max', 'median'];

export function selectedIn(node: SqlNode, model: SemanticModel): Selected {
  const { expressions, from, joins, group_by: grouping } = node.body;
  const tables = new Map(
    [...ownNodes(from), ...ownNodes(joins)].flatMap((table) => tableIn(table, model)),
  );
  const aggregates = [...ownNodes(expressions)].flatMap((call) =>
    aggregateKinds.includes(call.kind) ? [aggregateIn(call, tables)] : [],
  );
  const groups =
    isRecord(grouping) && Array.isArray(grouping['expressions']) ? grouping['expressions'] : [];
  const columns = groups.flatMap((one) => {
    const position = literalNumber(one);
    const item: unknown =
      position === undefined
        ? one
        : Array.isArray(expressions)
          ? expressions[position - 1]
          : undefined;
    return columnIn(withoutAlias(item), tables) ?? [];
  });
  return { node, tables, aggregates, groups: columns, isGrouped: groups.length };
}

/** Pairs of columns that the joins or the WHERE of a SELECT set equal; under OR nothing is certain. */
export function equalitiesIn(
  { body }: SqlNode,
  tables: Selected['tables'],
): readonly (readonly [Column, Column])[] {
  return [...ownNodes(body['joins'], 'or'), ...ownNodes(body['where_clause'], 'or')].flatMap(
    ({ kind, body: { left, right } }) => {
      const pair = kind === 'eq' ? [columnIn(left, tables), columnIn(right, tables)] : [];
      const [one, other] = pair;
      return one === undefined || other === undefined ? [] : [[one, other] as const];
    },
  );
}

/** The nodes of this SELECT alone. */
function* ownNodes(value: unknown, ...closed: readonly string[]): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  if (
    node !== undefined &&
    ['select', 'subquery', 'exists', 'union', ...closed].includes(node.kind)
  )
    return;
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value)) yield* ownNodes(child, ...closed);
}

function tableIn(
  { kind, body }: SqlNode,
  { datasets }: SemanticModel,
): readonly (readonly [string, ModelDataset])[] {
  if (kind !== 'table') return [];
  const parts = ['catalog', 'schema', 'name']
    .flatMap((key) => identifierName(body[key]) ?? [])
    .map((name) => name.toLowerCase());
  const isSame = ({ relation }: ModelDataset): boolean => {
    const own =
      relation.kind === 'table'
        ? relation.parts.map((part) => part.toLowerCase()).toReversed()
        : [];
    const asked = parts.toReversed();
    return (
      own.length > 0 &&
      asked.every((part, index) => own[index] === undefined || own[index] === part) &&
      own[0] === asked[0]
    );
  };
  const found = [...datasets.values()].filter(isSame);
  const [dataset] = found;
  const alias = (identifierName(body['alias']) ?? parts.at(-1) ?? '').toLowerCase();
  // Of several datasets over one table, none is meant for certain.
  return dataset === undefined || found.length > 1 ? [] : [[alias, dataset]];
}

function aggregateIn(
  { kind, body }: SqlNode,
  tables: Selected['tables'],
): Selected['aggregates'][number] {
  const column = columnIn(body['this'], tables);
  return {
    function: kind === 'count' && body['distinct'] === true ? 'count_distinct' : kind,
    column,
  };
}

/** A column whose table the model knows: named, or the only one that has such a field. */
function columnIn(value: unknown, tables: Selected['tables']): Column | undefined {
  const node = asNode(value);
  const name = node?.kind === 'column' ? identifierName(node.body['name']) : undefined;
  if (node === undefined || name === undefined) return undefined;
  const alias = identifierName(node.body['table'])?.toLowerCase();
  if (alias !== undefined) return tables.has(alias) ? { alias, name } : undefined;
  const [only, ...more] = [...tables].filter(
    ([, dataset]) => tables.size === 1 || findField(dataset, name) !== undefined,
  );
  return only === undefined || more.length > 0 ? undefined : { alias: only[0], name };
}

function withoutAlias(value: unknown): unknown {
  const node = asNode(value);
  return node?.kind === 'alias' ? node.body['this'] : value;
}

function literalNumber(value: unknown): number | undefined {
  const node = asNode(value);
  return node?.kind === 'literal' && node.body['literal_type'] === 'number'
    ? Number(node.body['value'])
    : undefined;
}
