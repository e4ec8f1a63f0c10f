import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import { asNode, identifierName, parseSql, type SqlNode, walkSql } from '../../sql/analyzer.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import { readAggregate, walkOwn } from './read-aggregate.ts';
import { readConditions } from './read-conditions.ts';
import { asList, type UsedColumn, type ResolveColumn, type SelectUse } from './statement-use.ts';
import { parseableStatement } from './template.ts';

/** Finds a table by the last parts of its name, in lower case. */
type ResolveTable = (path: readonly string[]) => TableSchema | undefined;

/** A name that several tables have finds none of them. */
export function tableResolver(tables: readonly TableSchema[]): ResolveTable {
  const byName = Map.groupBy(tables, ({ table }) => table.toLowerCase());
  return (path) => {
    const [schema, table] = [path.at(-2), path.at(-1) ?? ''];
    const sameName = byName.get(table) ?? [];
    const matches =
      schema === undefined
        ? sameName
        : sameName.filter((candidate) => candidate.schema.toLowerCase() === schema);
    return matches.length === 1 ? matches[0] : undefined;
  };
}

/**
 * What each SELECT of a statement asks of tables of the catalog; undefined if it cannot be parsed.
 * Names that are not in the catalog are skipped. Runs inside `withAnalyzer`.
 */
export function readStatement(
  sql: string,
  resolve: ResolveTable,
  dialect: Dialect,
): readonly SelectUse[] | undefined {
  const trees = parseTrees(parseableStatement(sql), dialect);
  if (trees === undefined) return undefined;
  const nodes = [...walkSql(trees)];
  // A CTE hides a table of the same name.
  const cteNames = new Set(nodes.flatMap(({ body }) => namesOfCtes(body['with'])));
  const resolveTable: ResolveTable = (path) =>
    path.length === 1 && cteNames.has(path[0] ?? '') ? undefined : resolve(path);
  return nodes
    .filter(({ kind }) => kind === 'select')
    .map((select) => readSelect(select, resolveTable))
    .filter(({ tables }) => tables.length > 0);
}

/** The syntax trees in the parser's JSON form. */
function parseTrees(sql: string, dialect: Dialect): readonly unknown[] | undefined {
  try {
    return parseSql(sql, dialect).map(({ kind, body }) => ({ [kind]: body }));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const lowerCaseName = (value: unknown): string => identifierName(value)?.toLowerCase() ?? '';

function namesOfCtes(clause: unknown): string[] {
  const ctes = isRecord(clause) ? asList(clause['ctes']) : [];
  return ctes.map((cte) => (isRecord(cte) ? lowerCaseName(cte['alias']) : ''));
}

/** The tables of one FROM clause, by alias or name; undefined if the catalog has no such table. */
type FromTables = ReadonlyMap<string, TableSchema | undefined>;

function readSelect({ body }: SqlNode, resolveTable: ResolveTable): SelectUse {
  const joins = asList(body['joins']).filter(isRecord);
  const from = isRecord(body['from']) ? asList(body['from']['expressions']) : [];
  const sources = [...from, ...joins.map((join) => join['this'])];
  const fromTables: FromTables = new Map(
    sources.map((source, index) => aliasedTable(source, { resolveTable, index })),
  );
  const resolveColumn: ResolveColumn = (value) => findColumn(value, fromTables);
  const where = isRecord(body['where_clause']) ? body['where_clause']['this'] : undefined;
  const conditions = [where, ...joins.map((join) => join['on'])].map((condition) =>
    readConditions(condition, resolveColumn),
  );
  const using = joins.flatMap((join) => usingPairs(join, { fromTables, resolveTable }));
  const filters = conditions.flatMap((read) => read.filters);
  const selected = [body['expressions'], body['having'], body['order_by']];
  const tables = [...new Set(fromTables.values())].filter((table) => table !== undefined);
  const groups = [...walkOwn(body['group_by'])].flatMap((node) => columnsOf(node, resolveColumn));
  return {
    tables,
    columns: uniqueColumns([...walkOwn(body)].flatMap((node) => columnsOf(node, resolveColumn))),
    joins: [...conditions.flatMap((read) => read.pairs), ...using],
    filters,
    aggregates: [...walkOwn(selected)].flatMap((node) => {
      const only = tables.length === 1 && fromTables.size === 1 ? tables[0] : undefined;
      return readAggregate(node, { resolveColumn, only }) ?? [];
    }),
    times: uniqueColumns([
      ...groups,
      ...filters.filter(({ operator }) => operator === 'range'),
    ]).filter(isTime),
  };
}

function columnsOf({ kind, body }: SqlNode, resolveColumn: ResolveColumn): UsedColumn[] {
  return kind === 'column'
    ? [resolveColumn({ [kind]: body })].filter((use) => use !== undefined)
    : [];
}

function uniqueColumns(uses: readonly UsedColumn[]): UsedColumn[] {
  const seen = new Map<TableSchema, Set<string>>();
  return uses.flatMap(({ table, column }) => {
    const columns = seen.get(table) ?? new Set();
    seen.set(table, columns);
    if (columns.has(column)) return [];
    columns.add(column);
    return [{ table, column }];
  });
}

function isTime({ table, column }: UsedColumn): boolean {
  const type = table.columns.find(({ name }) => name === column)?.type;
  return type === 'date' || type === 'datetime' || type === 'datetime_tz';
}

function aliasedTable(
  source: unknown,
  { resolveTable, index }: { readonly resolveTable: ResolveTable; readonly index: number },
): [string, TableSchema | undefined] {
  const node = asNode(source);
  if (node?.kind !== 'table') return [lowerCaseName(node?.body['alias']) || `#${index}`, undefined];
  const path = [node.body['schema'], node.body['name']]
    .map(lowerCaseName)
    .filter((name) => name !== '');
  return [lowerCaseName(node.body['alias']) || (path.at(-1) ?? ''), resolveTable(path)];
}

function findColumn(value: unknown, fromTables: FromTables): UsedColumn | undefined {
  const node = asNode(value);
  if (node?.kind !== 'column') return undefined;
  const qualifier = lowerCaseName(node.body['table']);
  const tables = qualifier === '' ? [...fromTables.values()] : [fromTables.get(qualifier)];
  const name = lowerCaseName(node.body['name']);
  const found = tables.flatMap((table) => {
    const column = table && columnNamed(table, name);
    return table === undefined || column === undefined ? [] : [{ table, column }];
  });
  const isOne = new Set(found.map(({ table }) => table)).size === 1;
  return isOne ? found[0] : undefined;
}

const columnNamed = ({ columns }: TableSchema, name: string): string | undefined =>
  columns.find((column) => column.name.toLowerCase() === name)?.name;

/**
 * The pairs that USING makes equal: a column of the joined table, and the columns of that name in
 * the other tables.
 */
function usingPairs(
  join: Readonly<Record<string, unknown>>,
  {
    fromTables,
    resolveTable,
  }: { readonly fromTables: FromTables; readonly resolveTable: ResolveTable },
): (readonly [UsedColumn, UsedColumn])[] {
  const [, joined] = aliasedTable(join['this'], { resolveTable, index: 0 });
  if (joined === undefined) return [];
  return asList(join['using']).flatMap((value) => {
    const own = columnNamed(joined, lowerCaseName(value));
    return [...fromTables.values()].flatMap((table) => {
      const column = table && columnNamed(table, lowerCaseName(value));
      if (table === undefined || column === undefined || own === undefined || table === joined)
        return [];
      return [
        [
          { table: joined, column: own },
          { table, column },
        ] as const,
      ];
    });
  });
}
