import type { Scope, ColumnSchema, ForeignKey, TableSchema, WarehouseSchema } from '../../warehouse.ts';
import { checkValues } from '../../check-values.ts';
import { declaredType } from './types.ts';

type Ask = (sql: string) => Promise<readonly Record<string, unknown>[]>;

const tablesSql = `SELECT l.name, l.type, l.wr, m.sql FROM pragma_table_list l JOIN sqlite_schema m ON m.name = l.name AND m.type = l.type
  WHERE l.schema = 'main' AND l.type IN ('table', 'view') AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name`;
const columnsSql = (type: string): string =>
  `SELECT m.name AS "table", c.name, c.type, c."notnull", c.pk, c.hidden FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
  WHERE m.type = '${type}' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND c.hidden <> 1 ORDER BY m.name, c.cid`;
const uniqueSql = `SELECT m.name AS "table", i.name AS "index", k.name FROM sqlite_schema m JOIN pragma_index_list(m.name) i JOIN pragma_index_info(i.name) k
  WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' AND i."unique" = 1 AND i.partial = 0 AND i.origin <> 'pk' ORDER BY m.name, i.name, k.seqno`;
const foreignSql = `SELECT m.name AS "table", f.id, f."table" AS target, f."from", f."to" FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f
  WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.name, f.id, f.seq`;

type TableRow = { name: string; type: 'table' | 'view'; wr: number; sql: string };
type ColumnRow = { table: string; name: string; type: string; notnull: number; pk: number };
type ForeignRow = { table: string; id: number; target: string; from: string; to: string | null };

/** Four statements plus one for views; a view that no longer resolves costs one more a view and is left out. */
export async function introspectSqlite(
  ask: Ask,
  { scope, schema, marker }: { scope: Scope; schema: string; marker: string },
): Promise<WarehouseSchema> {
  if (scope.schemas !== undefined && !scope.schemas.includes(schema)) return { tables: [], queries: 0 };
  let queries = 0;
  const rowsOf = async <Row>(sql: string): Promise<Row[]> => {
    queries += 1;
    return (await ask(sql)) as Row[];
  };
  const tables = await rowsOf<TableRow>(tablesSql);
  const columns = await rowsOf<ColumnRow>(columnsSql('table'));
  columns.push(...(await viewColumns(tables, rowsOf)));
  const unique = await rowsOf<{ table: string; index: string; name: string | null }>(uniqueSql);
  const foreign = await rowsOf<ForeignRow>(foreignSql);

  const columnsByTable = Map.groupBy(columns, ({ table }) => table);
  const uniqueByTable = Map.groupBy(unique, ({ table }) => table);
  const foreignByTable = Map.groupBy(foreign, ({ table }) => table);
  const keyOf = (name: string): string[] => primaryKey(columnsByTable.get(name) ?? []);
  const names = new Map(tables.map(({ name }) => [name.toLowerCase(), name]));
  const result = tables
    .filter(({ name }) => columnsByTable.has(name))
    .map((table): TableSchema => {
      const key = keyOf(table.name);
      const values = checkValues(table.sql);
      return {
        schema,
        table: table.name,
        kind: table.type,
        columns: (columnsByTable.get(table.name) ?? []).map((column) => columnOf(column, { values, strictKey: table.wr === 1 })),
        primaryKey: key.length > 0 ? key : undefined,
        uniqueKeys: keysOf(uniqueByTable.get(table.name) ?? []),
        foreignKeys: foreignKeys(foreignByTable.get(table.name) ?? [], { schema, names, keyOf }),
        marker: table.type === 'table' ? marker : undefined,
      };
    });
  return { tables: result.sort((a, b) => (a.table < b.table ? -1 : 1)), queries };
}

async function viewColumns(tables: readonly TableRow[], rowsOf: <Row>(sql: string) => Promise<Row[]>): Promise<ColumnRow[]> {
  const views = tables.filter(({ type }) => type === 'view');
  if (views.length === 0) return [];
  try {
    return await rowsOf<ColumnRow>(columnsSql('view'));
  } catch {
    // One view that no longer resolves fails the whole statement: ask for each, and leave out those that fail.
    const perView = await Promise.all(
      views.map(({ name }) =>
        rowsOf<ColumnRow>(columnsSql('view').replace('ORDER BY', `AND m.name = '${name.replaceAll("'", "''")}' ORDER BY`)).catch(() => []),
      ),
    );
    return perView.flat();
  }
}

function columnOf(
  row: ColumnRow,
  { values, strictKey }: { values: ReadonlyMap<string, readonly string[]>; strictKey: boolean },
): ColumnSchema {
  const isRowId = row.pk === 1 && row.type.toUpperCase() === 'INTEGER';
  return {
    name: row.name,
    nativeType: row.type,
    type: declaredType(row.type),
    nullable: row.notnull === 0 && !isRowId && !(strictKey && row.pk > 0),
    values: values.get(row.name),
  };
}

function primaryKey(columns: readonly ColumnRow[]): string[] {
  return columns
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name);
}

/** An index over an expression has a key part without a name: no key of columns. */
function keysOf(rows: readonly { index: string; name: string | null }[]): string[][] {
  const keys = [...Map.groupBy(rows, ({ index }) => index).values()].map((parts) => parts.map(({ name }) => name));
  return keys.filter((key): key is string[] => key.every((name) => name !== null)).sort((a, b) => (a.join('\0') < b.join('\0') ? -1 : 1));
}

/** `REFERENCES t` without columns means the primary key of t; a target that does not exist is no key. */
function foreignKeys(
  rows: readonly ForeignRow[],
  { schema, names, keyOf }: { schema: string; names: ReadonlyMap<string, string>; keyOf: (table: string) => string[] },
): ForeignKey[] {
  const keys = [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((parts): ForeignKey[] => {
    const table = names.get((parts[0]?.target ?? '').toLowerCase());
    if (table === undefined) return [];
    const implicit = keyOf(table);
    const to = parts.map((part, index) => part.to ?? implicit[index]);
    if (!to.every((name) => name !== undefined)) return [];
    return [{ columns: parts.map(({ from }) => from), to: { table: { schema, table }, columns: to } }];
  });
  return keys.sort((a, b) => (a.columns.join('\0') < b.columns.join('\0') ? -1 : 1));
}
