import { mysql } from '../../../sql/dialects/mysql.ts';
import {
  type Ask,
  type ColumnRow,
  type KeyRow,
  type TableRow,
  tableSchemas,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { declaredType } from './values.ts';

const tableOf = (schema: string, table: string): string =>
  `CONCAT(LENGTH(${schema}), ':', ${schema}, ${table})`;
const own = tableOf('table_schema', 'table_name');
const bytes = (name: string): string => `CAST(${name} AS BINARY)`;

/** The names of the result's columns are spelled out: MySQL writes those of its catalogs in capitals. */
const tablesSql = (
  among: string,
): string => `SELECT ${own} AS id, table_schema AS \`schema\`, table_name AS \`table\`,
    IF(table_type = 'VIEW', NULL, NULLIF(table_comment, '')) AS comment, IF(table_type = 'VIEW', 'view', 'table') AS kind, table_rows AS rowEstimate, data_length AS bytes,
    IF(update_time IS NULL, NULL, CONCAT_WS(':', create_time, update_time, data_length, auto_increment)) AS marker
  FROM information_schema.tables WHERE table_schema ${among} AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  ORDER BY ${bytes('table_schema')}, ${bytes('table_name')}`;
const columnsSql = (
  among: string,
): string => `SELECT ${own} AS id, column_name AS name, column_type AS nativeType, is_nullable = 'YES' AS isNullable,
    NULLIF(column_comment, '') AS comment FROM information_schema.columns WHERE table_schema ${among} ORDER BY table_schema, table_name, ordinal_position`;
/** A part of a unique index that is an expression, or the first characters of a column, makes no key. */
const keysSql = (
  among: string,
): string => `SELECT ${own} AS id, IF(index_name = 'PRIMARY', 'primary', 'unique') AS kind, index_name AS name, seq_in_index AS place,
    IF(sub_part IS NULL, column_name, NULL) AS \`column\`, NULL AS toSchema, NULL AS toTable, NULL AS toColumn
  FROM information_schema.statistics WHERE table_schema ${among} AND non_unique = 0
  UNION ALL SELECT ${own}, 'foreign', constraint_name, ordinal_position, column_name, referenced_table_schema, referenced_table_name, referenced_column_name
  FROM information_schema.key_column_usage WHERE table_schema ${among} AND referenced_table_name IS NOT NULL ORDER BY 1, 2, 3, 4`;
/** On MariaDB a check is named within its table, on MySQL within its schema, and its table stands elsewhere. */
const checksSql = (among: string, isMariadb: boolean): string =>
  isMariadb
    ? `SELECT ${tableOf('constraint_schema', 'table_name')} AS id, check_clause AS clause FROM information_schema.check_constraints WHERE constraint_schema ${among}`
    : `SELECT ${own} AS id, REGEXP_REPLACE(check_clause, '\\\\\\\\(.)', '$1') AS clause FROM information_schema.check_constraints
      JOIN information_schema.table_constraints USING (constraint_schema, constraint_name) WHERE table_schema ${among}`;

type Column = Omit<ColumnRow, 'nullable' | 'values'> & { isNullable: number };
interface KeyPart {
  readonly id: string;
  readonly kind: 'primary' | 'unique' | 'foreign';
  readonly name: string;
  readonly column: string | null;
  readonly toSchema: string;
  readonly toTable: string;
  readonly toColumn: string;
}

/** Four statements over the system's catalogs, whatever the number of tables. */
export async function introspectMysql(
  ask: Ask,
  schemas: readonly string[],
  isMariadb: boolean,
): Promise<WarehouseSchema> {
  const among = `IN (${schemas.map((schema) => mysql.literal(schema)).join(', ')})`;
  const listed = (await ask(tablesSql(among))) as TableRow[];
  const written = (await ask(columnsSql(among))) as Column[];
  const parts = (await ask(keysSql(among))) as KeyPart[];
  const checks = (await ask(checksSql(among, isMariadb))) as { id: string; clause: string }[];
  const columns = written.map(({ isNullable, ...column }) => ({
    ...column,
    nullable: isNullable === 1,
    values: column.nativeType.startsWith('enum(') ? textsIn(column.nativeType) : null,
  }));
  // A view that no longer resolves has none.
  const described = new Set(columns.map(({ id }) => id));
  const tables = listed.filter(({ id }) => described.has(id));
  const keys = [
    ...keysOf(parts),
    ...checks.map(({ id, clause }) => ({
      id,
      kind: 'check' as const,
      columns: [],
      definition: `CHECK (${plain(clause)})`,
    })),
  ];
  return tableSchemas(
    { tables, columns, keys, queries: 4, fieldType: ({ nativeType }) => declaredType(nativeType) },
    { schemas },
  );
}

function keysOf(parts: readonly KeyPart[]): KeyRow[] {
  const groups = Map.groupBy(parts, ({ id, kind, name }) =>
    JSON.stringify([id, kind, name]),
  ).values();
  return [...groups].flatMap((group) => {
    const [first] = group;
    const columns = group.flatMap(({ column }) => column ?? []);
    if (first === undefined || columns.length < group.length) return [];
    const { id, kind, toSchema: schema, toTable: table } = first;
    const to =
      kind === 'foreign'
        ? { table: { schema, table }, columns: group.map(({ toColumn }) => toColumn) }
        : undefined;
    return [{ id, kind, columns, to }];
  });
}

/** `_utf8mb4'it\'s'` as standard SQL writes it. */
function plain(clause: string): string {
  return clause.replaceAll(/_\w+(?=')/g, '').replaceAll(String.raw`\'`, "''");
}

function textsIn(list: string): string[] {
  return Array.from(list.matchAll(/'((?:[^']|'')*)'/g), ([, text = '']) =>
    text.replaceAll("''", "'"),
  );
}
