import { isRecord } from '../../lib/json.ts';
import { asNode, identifierName, type SqlNode } from '../../sql/analyzer.ts';
import { findField, type ModelDataset, type SemanticModel } from '../model/model.ts';

/** A column of a table in FROM. `alias` is the name that the table has there, in lower case. */
export interface TableColumn {
  readonly alias: string;
  readonly name: string;
}

export interface SelectAggregate {
  /** `count_distinct` for count(DISTINCT …). */
  readonly name: string;
  /** Undefined if it aggregates more than one column, or a table that the model does not know. */
  readonly column: TableColumn | undefined;
}

/** A SELECT, as far as the model knows its tables. */
export interface ParsedSelect {
  readonly node: SqlNode;
  /** The datasets by alias. */
  readonly tables: ReadonlyMap<string, ModelDataset>;
  readonly aggregates: readonly SelectAggregate[];
  /** The columns of GROUP BY. */
  readonly groupColumns: readonly TableColumn[];
  /** How many expressions GROUP BY has, columns or not. */
  readonly groupCount: number;
}

const aggregateKinds = ['sum', 'avg', 'count', 'min', 'max', 'median'];

export function parseSelect(node: SqlNode, model: SemanticModel): ParsedSelect {
  const { expressions, from, joins } = node.body;
  const tableNodes = [...nodesOfSelect(from), ...nodesOfSelect(joins)];
  const tables = new Map(tableNodes.flatMap((table) => findTable(table, model)));
  const aggregates = [...nodesOfSelect(expressions)]
    .filter(({ kind }) => aggregateKinds.includes(kind))
    .map((call) => parseAggregate(call, tables));
  const groups = groupExpressions(node);
  return {
    node,
    tables,
    aggregates,
    groupColumns: groups.flatMap((group) => findColumn(group, tables) ?? []),
    groupCount: groups.length,
  };
}

/** The expressions of GROUP BY; a position stands for the item of SELECT. */
function groupExpressions({ body }: SqlNode): readonly unknown[] {
  const { group_by: groupBy, expressions: items } = body;
  const groups: unknown = isRecord(groupBy) ? groupBy['expressions'] : undefined;
  if (!Array.isArray(groups)) return [];
  return groups.map((group: unknown) => {
    const position = literalNumber(group);
    if (position === undefined) return withoutAlias(group);
    return Array.isArray(items) ? withoutAlias(items[position - 1]) : undefined;
  });
}

/**
 * Pairs of columns that joins or WHERE set equal. Conditions under OR do not count: they need not
 * hold.
 */
export function equalColumns(
  { body }: SqlNode,
  tables: ParsedSelect['tables'],
): readonly (readonly [TableColumn, TableColumn])[] {
  const conditions = [
    ...nodesOfSelect(body['joins'], 'or'),
    ...nodesOfSelect(body['where_clause'], 'or'),
  ];
  return conditions
    .filter(({ kind }) => kind === 'eq')
    .flatMap((equality) => {
      const left = findColumn(equality.body['left'], tables);
      const right = findColumn(equality.body['right'], tables);
      return left === undefined || right === undefined ? [] : [[left, right] as const];
    });
}

/** The nodes of this SELECT, without those of subqueries and of the given kinds. */
function* nodesOfSelect(value: unknown, ...skippedKinds: readonly string[]): Generator<SqlNode> {
  if (typeof value !== 'object' || value === null) return;
  const node = asNode(value);
  const skipped = ['select', 'subquery', 'exists', 'union', ...skippedKinds];
  if (node !== undefined && skipped.includes(node.kind)) return;
  if (node !== undefined) yield node;
  for (const child of Object.values(node?.body ?? value))
    yield* nodesOfSelect(child, ...skippedKinds);
}

/** The alias and the dataset of a table; empty if no dataset, or more than one, is on the table. */
function findTable(
  { kind, body }: SqlNode,
  { datasets }: SemanticModel,
): readonly (readonly [alias: string, dataset: ModelDataset])[] {
  if (kind !== 'table') return [];
  const parts = ['catalog', 'schema', 'name']
    .flatMap((key) => identifierName(body[key]) ?? [])
    .map((name) => name.toLowerCase());
  const [dataset, ...others] = [...datasets.values()].filter((candidate) =>
    isOnTable(candidate, parts),
  );
  if (dataset === undefined || others.length > 0) return [];
  const alias = identifierName(body['alias']) ?? parts.at(-1) ?? '';
  return [[alias.toLowerCase(), dataset]];
}

/** The names must agree as far as both are qualified. */
function isOnTable({ relation }: ModelDataset, parts: readonly string[]): boolean {
  if (relation.kind !== 'table') return false;
  const ownParts = relation.parts.map((part) => part.toLowerCase()).toReversed();
  const tableParts = parts.toReversed();
  return (
    ownParts.length > 0 &&
    ownParts[0] === tableParts[0] &&
    tableParts.every((part, index) => ownParts[index] === undefined || ownParts[index] === part)
  );
}

function parseAggregate({ kind, body }: SqlNode, tables: ParsedSelect['tables']): SelectAggregate {
  const isDistinctCount = kind === 'count' && body['distinct'] === true;
  return {
    name: isDistinctCount ? 'count_distinct' : kind,
    column: findColumn(body['this'], tables),
  };
}

/** A column whose table is known: by its alias, or as the only table that has such a field. */
function findColumn(value: unknown, tables: ParsedSelect['tables']): TableColumn | undefined {
  const node = asNode(value);
  const name = node?.kind === 'column' ? identifierName(node.body['name']) : undefined;
  if (node === undefined || name === undefined) return undefined;
  const alias = identifierName(node.body['table'])?.toLowerCase();
  if (alias !== undefined) return tables.has(alias) ? { alias, name } : undefined;
  const [only, ...others] = [...tables].filter(
    ([, dataset]) => tables.size === 1 || findField(dataset, name) !== undefined,
  );
  return only === undefined || others.length > 0 ? undefined : { alias: only[0], name };
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
