import { mysql } from '../../../sql/dialects/mysql.ts';
import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type RunCatalogQuery,
  type CatalogTableRow,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { declaredType } from './values.ts';

/** An id that no two tables share, whatever characters their names have. */
const tableId = (schema: string, table: string): string =>
  `CONCAT(LENGTH(${schema}), ':', ${schema}, ${table})`;
const ownTableId = tableId('table_schema', 'table_name');
const bytes = (name: string): string => `CAST(${name} AS BINARY)`;

/** Every column has an alias: MySQL returns the columns of its catalogs in capitals. */
const tablesSql = (
  inSchemas: string,
): string => `SELECT ${ownTableId} AS id, table_schema AS \`schema\`, table_name AS \`table\`,
    IF(table_type = 'VIEW', NULL, NULLIF(table_comment, '')) AS comment, IF(table_type = 'VIEW', 'view', 'table') AS kind, table_rows AS rowEstimate, data_length AS bytes,
    IF(update_time IS NULL, NULL, CONCAT_WS(':', create_time, update_time, data_length, auto_increment)) AS marker
  FROM information_schema.tables WHERE table_schema ${inSchemas} AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  ORDER BY ${bytes('table_schema')}, ${bytes('table_name')}`;
const columnsSql = (
  inSchemas: string,
): string => `SELECT ${ownTableId} AS id, column_name AS name, column_type AS nativeType, is_nullable = 'YES' AS isNullable,
    NULLIF(column_comment, '') AS comment FROM information_schema.columns WHERE table_schema ${inSchemas} ORDER BY table_schema, table_name, ordinal_position`;
/**
 * `column` is NULL if a part of a unique index is an expression or a prefix of a column; such an
 * index is no key.
 */
const keysSql = (
  inSchemas: string,
): string => `SELECT ${ownTableId} AS id, IF(index_name = 'PRIMARY', 'primary', 'unique') AS kind, index_name AS name, seq_in_index AS place,
    IF(sub_part IS NULL, column_name, NULL) AS \`column\`, NULL AS toSchema, NULL AS toTable, NULL AS toColumn
  FROM information_schema.statistics WHERE table_schema ${inSchemas} AND non_unique = 0
  UNION ALL SELECT ${ownTableId}, 'foreign', constraint_name, ordinal_position, column_name, referenced_table_schema, referenced_table_name, referenced_column_name
  FROM information_schema.key_column_usage WHERE table_schema ${inSchemas} AND referenced_table_name IS NOT NULL ORDER BY 1, 2, 3, 4`;
/**
 * Check names are unique per table on MariaDB and per schema on MySQL, where another catalog has
 * the table.
 */
const checksSql = (inSchemas: string, isMariadb: boolean): string =>
  isMariadb
    ? `SELECT ${tableId('constraint_schema', 'table_name')} AS id, check_clause AS clause FROM information_schema.check_constraints WHERE constraint_schema ${inSchemas}`
    : `SELECT ${ownTableId} AS id, REGEXP_REPLACE(check_clause, '\\\\\\\\(.)', '$1') AS clause FROM information_schema.check_constraints
      JOIN information_schema.table_constraints USING (constraint_schema, constraint_name) WHERE table_schema ${inSchemas}`;

type MysqlColumnRow = Omit<CatalogColumnRow, 'nullable' | 'values'> & { isNullable: number };
interface KeyPart {
  readonly id: string;
  readonly kind: 'primary' | 'unique' | 'foreign';
  readonly name: string;
  readonly column: string | null;
  readonly toSchema: string;
  readonly toTable: string;
  readonly toColumn: string;
}

/** Sends four statements over the system's catalogs, however many tables there are. */
export async function introspectMysql(
  runQuery: RunCatalogQuery,
  schemas: readonly string[],
  isMariadb: boolean,
): Promise<WarehouseSchema> {
  const inSchemas = `IN (${schemas.map((schema) => mysql.literal(schema)).join(', ')})`;
  const tableRows = (await runQuery(tablesSql(inSchemas))) as CatalogTableRow[];
  const columnRows = (await runQuery(columnsSql(inSchemas))) as MysqlColumnRow[];
  const parts = (await runQuery(keysSql(inSchemas))) as KeyPart[];
  const checks = (await runQuery(checksSql(inSchemas, isMariadb))) as {
    id: string;
    clause: string;
  }[];
  const columns = columnRows.map(({ isNullable, ...column }) => ({
    ...column,
    nullable: isNullable === 1,
    values: column.nativeType.startsWith('enum(') ? literalsIn(column.nativeType) : null,
  }));
  // A view that no longer resolves has no columns and is left out.
  const tablesWithColumns = new Set(columns.map(({ id }) => id));
  const tables = tableRows.filter(({ id }) => tablesWithColumns.has(id));
  const keys = [
    ...keyRows(parts),
    ...checks.map(({ id, clause }) => ({
      id,
      kind: 'check' as const,
      columns: [],
      definition: `CHECK (${standardLiterals(clause)})`,
    })),
  ];
  return buildTableSchemas(
    { tables, columns, keys, queries: 4, fieldType: ({ nativeType }) => declaredType(nativeType) },
    { schemas },
  );
}

function keyRows(parts: readonly KeyPart[]): CatalogKeyRow[] {
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

/** Turns literals like `_utf8mb4'it\'s'` into standard SQL. */
function standardLiterals(clause: string): string {
  return clause.replaceAll(/_\w+(?=')/g, '').replaceAll(String.raw`\'`, "''");
}

function literalsIn(list: string): string[] {
  return Array.from(list.matchAll(/'((?:[^']|'')*)'/g), ([, text = '']) =>
    text.replaceAll("''", "'"),
  );
}
