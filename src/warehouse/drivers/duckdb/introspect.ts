import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type RunCatalogQuery,
  type CatalogTableRow,
} from '../../table-schemas.ts';
import type { Scope, WarehouseSchema } from '../../warehouse.ts';
import { fieldType } from './field-type.ts';

const inCurrentDatabase = 'database_name = current_database()';
const tablesSql = `SELECT table_oid AS id, schema_name AS schema, table_name AS "table", 'table' AS kind, comment, estimated_size::DOUBLE AS "rowEstimate"
    FROM duckdb_tables() WHERE ${inCurrentDatabase} AND NOT internal AND NOT temporary
  UNION ALL SELECT view_oid, schema_name, view_name, 'view', comment, NULL FROM duckdb_views() WHERE ${inCurrentDatabase} AND NOT internal AND NOT temporary ORDER BY 2, 3`;
const columnsSql = `SELECT table_oid AS id, column_name AS name, data_type AS "nativeType", is_nullable AS nullable, comment, CASE WHEN data_type LIKE 'ENUM(%' THEN
    list_transform(regexp_extract_all(data_type, '''((?:[^'']|'''')*)''', 1), lambda value: replace(value, '''''', '''')) END AS "values"
  FROM duckdb_columns() WHERE ${inCurrentDatabase} AND NOT internal ORDER BY table_oid, column_index`;
/**
 * DuckDB's foreign keys stay within one schema. A unique index is a key if all its parts are column
 * names, not expressions.
 */
const keysSql = `SELECT table_oid AS id, constraint_index AS place, constraint_column_names AS columns, constraint_text AS definition,
    CASE constraint_type WHEN 'PRIMARY KEY' THEN 'primary' WHEN 'FOREIGN KEY' THEN 'foreign' ELSE lower(constraint_type) END AS kind,
    CASE WHEN referenced_table IS NOT NULL THEN {'table': {'schema': schema_name, 'table': referenced_table}, 'columns': referenced_column_names} END AS "to"
  FROM duckdb_constraints() WHERE ${inCurrentDatabase} AND constraint_type <> 'NOT NULL'
  UNION ALL SELECT table_oid, index_oid, list_transform(parts, lambda part: replace(regexp_replace(part, '^"(.*)"$', '\\1'), '""', '"')), NULL, 'unique', NULL
  FROM (SELECT *, expressions::VARCHAR[] AS parts FROM duckdb_indexes() WHERE ${inCurrentDatabase} AND is_unique)
  WHERE list_bool_and(list_transform(parts, lambda part: regexp_full_match(part, '\\w+|"(?:[^"]|"")+"'))) ORDER BY 1, 2`;

/**
 * Sends three statements, however many tables there are. `marker` returns the change marker of a
 * table.
 */
export async function introspectDuckdb(
  runQuery: RunCatalogQuery,
  scope: Scope,
  marker: (table: string) => string | undefined,
): Promise<WarehouseSchema> {
  const tableRows = (await runQuery(tablesSql)) as CatalogTableRow[];
  const tables = tableRows.map((row) => ({
    ...row,
    marker: row.kind === 'table' ? (marker(row.table) ?? null) : null,
  }));
  const columns = (await runQuery(columnsSql)) as CatalogColumnRow[];
  const keys = (await runQuery(keysSql)) as CatalogKeyRow[];
  return buildTableSchemas(
    { tables, columns, keys, queries: 3, fieldType: ({ nativeType }) => fieldType(nativeType) },
    scope,
  );
}
