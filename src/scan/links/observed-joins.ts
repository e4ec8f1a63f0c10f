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

/** The number of statements that join two columns, by `columnPairKey`. */
export type ObservedJoins = ReadonlyMap<string, number>;

export const columnPairKey = (a: ColumnFacts, b: ColumnFacts): string =>
  [a.id, b.id].sort().join('\n');

/**
 * Counts joins of columns by equality. Statements that cannot be parsed, and names that cannot be
 * resolved, are skipped.
 */
export async function countObservedJoins(
  statements: readonly string[],
  tables: readonly TableFacts[],
  dialect: Dialect,
): Promise<ObservedJoins> {
  const resolveTable = tableResolver(tables);
  const counts = new Map<string, number>();
  for (const statement of statements) {
    const parsed = await withAnalyzer(() => parseTrees(statement, dialect));
    const selects = [...walkSql(parsed)].filter(({ kind }) => kind === 'select');
    // A CTE hides a table of the same name.
    const cteNames = new Set([...walkSql(parsed)].flatMap(({ body }) => namesOfCtes(body['with'])));
    const pairs = new Set(
      selects.flatMap((select) =>
        joinedPairs(select, (path) =>
          cteNames.has(path.at(-1) ?? '') ? undefined : resolveTable(path),
        ),
      ),
    );
    for (const pair of pairs) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/** The syntax trees in the parser's JSON form; empty if the statement cannot be parsed. */
function parseTrees(statement: string, dialect: Dialect): readonly unknown[] {
  try {
    return parseSql(statement, dialect).map(({ kind, body }) => ({ [kind]: body }));
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const lowerCaseName = (value: unknown): string => identifierName(value)?.toLowerCase() ?? '';

function namesOfCtes(clause: unknown): string[] {
  const ctes = isRecord(clause) ? asList(clause['ctes']) : [];
  return ctes.map((cte) => (isRecord(cte) ? lowerCaseName(cte['alias']) : ''));
}

/** Finds a table by the last parts of its name. */
type ResolveTable = (path: readonly string[]) => TableFacts | undefined;

/** A name that several tables have finds none of them. */
function tableResolver(tables: readonly TableFacts[]): ResolveTable {
  const byName = Map.groupBy(tables, ({ ref }) => ref.table.toLowerCase());
  return (path) => {
    const [schema, table] = [path.at(-2), path.at(-1) ?? ''];
    const sameName = byName.get(table) ?? [];
    const matches =
      schema === undefined
        ? sameName
        : sameName.filter(({ ref }) => ref.schema.toLowerCase() === schema);
    return matches.length === 1 ? matches[0] : undefined;
  };
}

/** The tables of one FROM clause, by alias or name. */
type FromTables = ReadonlyMap<string, TableFacts>;

function joinedPairs({ body }: SqlNode, resolveTable: ResolveTable): string[] {
  const joins = asList(body['joins']).filter(isRecord);
  const from = isRecord(body['from']) ? asList(body['from']['expressions']) : [];
  const sources = [...from, ...joins.map((join) => join['this'])];
  const fromTables: FromTables = new Map(
    sources.flatMap((source) => aliasedTable(source, resolveTable)),
  );
  const where = isRecord(body['where_clause']) ? body['where_clause']['this'] : undefined;
  const conditions = [where, ...joins.map((join) => join['on'])];
  const using = joins.flatMap((join) => usingPairs(join, fromTables, resolveTable));
  return [...conditions.flatMap((condition) => equalPairs(condition, fromTables)), ...using];
}

function aliasedTable(source: unknown, resolveTable: ResolveTable): [string, TableFacts][] {
  const node = asNode(source);
  if (node?.kind !== 'table') return [];
  const path = [node.body['schema'], node.body['name']]
    .map(lowerCaseName)
    .filter((name) => name !== '');
  const table = resolveTable(path);
  return table ? [[lowerCaseName(node.body['alias']) || (path.at(-1) ?? ''), table]] : [];
}

/** The pairs of columns that must be equal: conditions joined by AND. */
function equalPairs(condition: unknown, fromTables: FromTables): string[] {
  const node = asNode(condition);
  if (node === undefined) return [];
  const { left, right } = node.body;
  if (node.kind === 'and') return [left, right].flatMap((side) => equalPairs(side, fromTables));
  if (node.kind === 'paren') return equalPairs(node.body['this'], fromTables);
  const [a, b] =
    node.kind === 'eq' ? [resolveColumn(left, fromTables), resolveColumn(right, fromTables)] : [];
  return a && b && a !== b ? [columnPairKey(a, b)] : [];
}

function resolveColumn(value: unknown, fromTables: FromTables): ColumnFacts | undefined {
  const node = asNode(value);
  if (node?.kind !== 'column') return undefined;
  const qualifier = lowerCaseName(node.body['table']);
  const owner = fromTables.get(qualifier);
  const tables = qualifier === '' ? [...fromTables.values()] : owner ? [owner] : [];
  const found = new Set(
    tables.flatMap((table) => columnNamed(table, lowerCaseName(node.body['name'])) ?? []),
  );
  return found.size === 1 ? [...found][0] : undefined;
}

const columnNamed = ({ columns }: TableFacts, name: string): ColumnFacts | undefined =>
  columns.find((column) => column.name.toLowerCase() === name);

/**
 * The pairs that USING makes equal: a column of the joined table, and the columns of that name in
 * the other tables.
 */
function usingPairs(
  join: Readonly<Record<string, unknown>>,
  fromTables: FromTables,
  resolveTable: ResolveTable,
): string[] {
  const [entry] = aliasedTable(join['this'], resolveTable);
  if (!entry) return [];
  const [, joined] = entry;
  return asList(join['using']).flatMap((name) => {
    const own = columnNamed(joined, lowerCaseName(name));
    const others = [...fromTables.values()].flatMap((table) =>
      table === joined ? [] : (columnNamed(table, lowerCaseName(name)) ?? []),
    );
    return own ? others.map((column) => columnPairKey(own, column)) : [];
  });
}
