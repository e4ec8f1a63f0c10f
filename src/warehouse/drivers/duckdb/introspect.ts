import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type RunCatalogQuery,
  type CatalogTableRow,
} from '../../table-schemas.ts';
import type { Scope, WarehouseSchema } from '../../warehouse.ts';
import { fieldType } from './field-type.ts';

/**
 * The statements call no function and no operator: the database may have macros that take their
 * place. What needs one is done here.
 */
const isOwn =
  'database_name IN (SELECT database_name FROM system.main.duckdb_databases() WHERE NOT internal)';
const tablesSql = `SELECT table_oid AS id, schema_name AS schema, table_name AS "table", 'table' AS kind, comment, estimated_size::DOUBLE AS "rowEstimate"
    FROM system.main.duckdb_tables() WHERE ${isOwn} AND NOT internal AND NOT temporary
  UNION ALL SELECT view_oid, schema_name, view_name, 'view', comment, NULL FROM system.main.duckdb_views() WHERE ${isOwn} AND NOT internal AND NOT temporary ORDER BY 2, 3`;
const columnsSql = `SELECT table_oid AS id, column_name AS name, data_type AS "nativeType", is_nullable AS nullable, comment
  FROM system.main.duckdb_columns() WHERE ${isOwn} AND NOT internal ORDER BY table_oid, column_index`;
/** Constraints, and unique indexes. */
const keysSql = `SELECT table_oid AS id, constraint_index AS place, constraint_column_names AS columns, constraint_text AS definition,
    constraint_type AS type, schema_name AS schema, referenced_table AS referenced, referenced_column_names AS "toColumns", NULL AS parts
  FROM system.main.duckdb_constraints() WHERE ${isOwn} AND constraint_type <> 'NOT NULL'
  UNION ALL SELECT table_oid, index_oid, NULL, NULL, 'UNIQUE', NULL, NULL, NULL, expressions::VARCHAR[] FROM system.main.duckdb_indexes()
  WHERE ${isOwn} AND is_unique ORDER BY 1, 2`;

interface ConstraintRow {
  readonly id: string | number;
  readonly columns: readonly string[] | null;
  readonly definition: string | null;
  readonly type: string;
  readonly schema: string | null;
  readonly referenced: string | null;
  readonly toColumns: readonly string[] | null;
  /** The expressions of an index. */
  readonly parts: readonly string[] | null;
}

const keyKinds: Readonly<Record<string, CatalogKeyRow['kind']>> = {
  'PRIMARY KEY': 'primary',
  'FOREIGN KEY': 'foreign',
  UNIQUE: 'unique',
  CHECK: 'check',
};

/**
 * DuckDB's foreign keys stay within one schema. A unique index is a key if all its parts are column
 * names, not expressions.
 */
function readKey({ parts, type, schema, referenced, ...row }: ConstraintRow): CatalogKeyRow[] {
  const kind = keyKinds[type];
  const columns = row.columns ?? parts?.map(columnOfPart) ?? [];
  if (kind === undefined || columns.some((column) => column === undefined)) return [];
  const to =
    referenced === null
      ? undefined
      : { table: { schema: schema ?? 'main', table: referenced }, columns: row.toColumns ?? [] };
  const { id, definition } = row;
  return [{ id, kind, columns: columns as string[], definition, to }];
}

/** The column, if the part of an index is its name; undefined for an expression. */
function columnOfPart(part: string): string | undefined {
  if (/^\w+$/u.test(part)) return part;
  return /^"(?:[^"]|"")+"$/u.test(part) ? part.slice(1, -1).replaceAll('""', '"') : undefined;
}

/** The values of a type like `ENUM('a', 'b')`. */
function enumValues(nativeType: string): string[] | null {
  if (!nativeType.startsWith('ENUM(')) return null;
  const values = nativeType.matchAll(/'(?<value>(?:[^']|'')*)'/gu);
  return [...values].map(({ groups }) => (groups?.['value'] ?? '').replaceAll("''", "'"));
}

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
  const columnRows = (await runQuery(columnsSql)) as Omit<CatalogColumnRow, 'values'>[];
  const columns = columnRows.map((row) => ({ ...row, values: enumValues(row.nativeType) }));
  const keys = ((await runQuery(keysSql)) as ConstraintRow[]).flatMap(readKey);
  return buildTableSchemas(
    { tables, columns, keys, queries: 3, fieldType: ({ nativeType }) => fieldType(nativeType) },
    scope,
  );
}
