import { isRecord } from '../../lib/json.ts';
import { UserError } from '../../lib/error.ts';
import {
  asNode,
  identifierName,
  parseSql,
  walkSql,
  withAnalyzer,
  type SqlNode,
} from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { ColumnFacts, TableFacts } from '../facts/table-facts.ts';

/** In how many statements two columns were joined, by `columnPairKey` their ids. */
export type ObservedJoins = ReadonlyMap<string, number>;

export const columnPairKey = (a: ColumnFacts, b: ColumnFacts): string =>
  [a.id, b.id].sort().join('\n');

/** Equalities between columns of two tables that statements join. What cannot be parsed or resolved says nothing. */
export async function countObservedJoins(
  statements: readonly string[],
  tables: readonly TableFacts[],
  dialect: Dialect,
): Promise<ObservedJoins> {
  const find = tableFinder(tables);
  const counts = new Map<string, number>();
  for (const statement of statements) {
    const parsed = await withAnalyzer(() => parsedOf(statement, dialect));
    const selects = [...walkSql(parsed)].filter(({ kind }) => kind === 'select');
    // What a WITH defines hides a table of that name.
    const hidden = new Set([...walkSql(parsed)].flatMap(({ body }) => definedIn(body['with'])));
    const pairs = new Set(
      selects.flatMap((select) =>
        joinsOf(select, (path) => (hidden.has(path.at(-1) ?? '') ? undefined : find(path))),
      ),
    );
    for (const pair of pairs) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/** The syntax trees as the parser's JSON, which can be walked. */
function parsedOf(statement: string, dialect: Dialect): readonly unknown[] {
  try {
    return parseSql(statement, dialect).map(({ kind, body }) => ({ [kind]: body }));
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const nameIn = (value: unknown): string => identifierName(value)?.toLowerCase() ?? '';

function definedIn(clause: unknown): string[] {
  const ctes = isRecord(clause) ? listOf(clause['ctes']) : [];
  return ctes.map((cte) => (isRecord(cte) ? nameIn(cte['alias']) : ''));
}

type Find = (path: readonly string[]) => TableFacts | undefined;

/** By the last names of its path, where these are one table's. */
function tableFinder(tables: readonly TableFacts[]): Find {
  const byName = Map.groupBy(tables, ({ ref }) => ref.table.toLowerCase());
  return (path) => {
    const [schema, table] = [path.at(-2), path.at(-1) ?? ''];
    const named = byName.get(table) ?? [];
    const found =
      schema === undefined ? named : named.filter(({ ref }) => ref.schema.toLowerCase() === schema);
    return found.length === 1 ? found[0] : undefined;
  };
}

/** The tables of one FROM, by the names that its columns are qualified with. */
type Scope = ReadonlyMap<string, TableFacts>;

function joinsOf({ body }: SqlNode, find: Find): string[] {
  const joins = listOf(body['joins']).filter(isRecord);
  const from = isRecord(body['from']) ? listOf(body['from']['expressions']) : [];
  const sources = [...from, ...joins.map((join) => join['this'])];
  const scope: Scope = new Map(sources.flatMap((source) => namedTable(source, find)));
  const where = isRecord(body['where_clause']) ? body['where_clause']['this'] : undefined;
  const conditions = [where, ...joins.map((join) => join['on'])];
  const shared = joins.flatMap((join) => sharedColumns(join, scope, find));
  return [...conditions.flatMap((condition) => equalities(condition, scope)), ...shared];
}

function namedTable(source: unknown, find: Find): [string, TableFacts][] {
  const node = asNode(source);
  if (node?.kind !== 'table') return [];
  const path = [node.body['schema'], node.body['name']].map(nameIn).filter((name) => name !== '');
  const table = find(path);
  return table ? [[nameIn(node.body['alias']) || (path.at(-1) ?? ''), table]] : [];
}

/** Of the conditions that all have to hold. */
function equalities(condition: unknown, scope: Scope): string[] {
  const node = asNode(condition);
  if (node === undefined) return [];
  const { left, right } = node.body;
  if (node.kind === 'and') return [left, right].flatMap((side) => equalities(side, scope));
  if (node.kind === 'paren') return equalities(node.body['this'], scope);
  const [a, b] = node.kind === 'eq' ? [columnOf(left, scope), columnOf(right, scope)] : [];
  return a && b && a !== b ? [columnPairKey(a, b)] : [];
}

function columnOf(value: unknown, scope: Scope): ColumnFacts | undefined {
  const node = asNode(value);
  if (node?.kind !== 'column') return undefined;
  const qualifier = nameIn(node.body['table']);
  const owner = scope.get(qualifier);
  const tables = qualifier === '' ? [...scope.values()] : owner ? [owner] : [];
  const found = new Set(
    tables.flatMap((table) => columnNamed(table, nameIn(node.body['name'])) ?? []),
  );
  return found.size === 1 ? [...found][0] : undefined;
}

const columnNamed = ({ columns }: TableFacts, name: string): ColumnFacts | undefined =>
  columns.find((column) => column.name.toLowerCase() === name);

/** USING: the joined table's columns, and those of the tables before it that have them too. */
function sharedColumns(
  join: Readonly<Record<string, unknown>>,
  scope: Scope,
  find: Find,
): string[] {
  const [joined] = namedTable(join['this'], find);
  if (!joined) return [];
  return listOf(join['using']).flatMap((name) => {
    const own = columnNamed(joined[1], nameIn(name));
    const others = [...scope.values()].flatMap((table) =>
      table === joined[1] ? [] : (columnNamed(table, nameIn(name)) ?? []),
    );
    return own ? others.map((other) => columnPairKey(own, other)) : [];
  });
}
