import { trinoType } from './values.ts';

const types = [
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'HUGEINT',
  'UBIGINT',
  'FLOAT',
  'BLOB',
  'TIME',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
];
const typeCases = types.map((type) => `WHEN '${type}' THEN '${trinoType(type)}'`).join(' ');
const own = `schema_name <> 'trino_server' AND database_name NOT IN ('system', 'temp')`;

/** DuckDB's catalogs in the columns of Trino's. */
export const metadataScript = `
CREATE SCHEMA trino_server;
CREATE VIEW trino_server.schemata AS SELECT database_name AS catalog_name, schema_name
  FROM duckdb_schemas() WHERE ${own};
CREATE VIEW trino_server.tables AS
  SELECT database_name AS table_catalog, schema_name AS table_schema, table_name, 'BASE TABLE' AS table_type
  FROM duckdb_tables() WHERE NOT internal AND ${own}
  UNION ALL SELECT database_name, schema_name, view_name, 'VIEW' FROM duckdb_views() WHERE NOT internal AND ${own};
CREATE VIEW trino_server.columns AS
  SELECT database_name AS table_catalog, schema_name AS table_schema, table_name, column_name,
    CAST(column_index AS BIGINT) AS ordinal_position, CAST(NULL AS VARCHAR) AS column_default,
    CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS is_nullable,
    CASE data_type ${typeCases} ELSE lower(data_type) END AS data_type
  FROM duckdb_columns() WHERE NOT internal AND ${own};
CREATE VIEW trino_server.table_comments AS
  SELECT database_name AS catalog_name, schema_name, table_name, comment FROM duckdb_tables() WHERE NOT internal AND ${own};
CREATE VIEW trino_server.jdbc_columns AS
  SELECT database_name AS table_cat, schema_name AS table_schem, table_name, column_name, comment AS remarks
  FROM duckdb_columns() WHERE NOT internal AND ${own};
CREATE TABLE trino_server.materialized_views (catalog_name VARCHAR, schema_name VARCHAR, name VARCHAR);
CREATE TABLE trino_server.queries (query_id VARCHAR, state VARCHAR, "user" VARCHAR, source VARCHAR, query VARCHAR, created TIMESTAMP);
CREATE MACRO slice(items, first, size) AS list_slice(items, first, first + size - 1);
CREATE MACRO array_sort(items) AS list_sort(items);
`;

/** The statement with the names that its catalogs have in DuckDB. */
export function withOwnCatalogs(sql: string): string {
  return sql
    .replace(/^\s*TABLE\s+(?=["\w])/i, 'SELECT * FROM ')
    .replaceAll(
      /(?:("[^"]+"|\w+)\.)?\binformation_schema\.(tables|columns|schemata)\b/gi,
      (_, written: string | undefined, name: string) => {
        const catalog = written?.replaceAll('"', '');
        const column = name.toLowerCase() === 'schemata' ? 'catalog_name' : 'table_catalog';
        return `(SELECT * FROM memory.trino_server.${name} WHERE ${column} = '${catalog ?? 'memory'}')`;
      },
    )
    .replaceAll(/\bsystem\.metadata\.(table_comments|materialized_views)\b/g, 'trino_server.$1')
    .replaceAll(/\bsystem\.jdbc\.columns\b/g, 'trino_server.jdbc_columns')
    .replaceAll(/\bsystem\.runtime\.queries\b/g, 'trino_server.queries');
}

/** Mends what the analyzer leaves of Trino's functions. */
export function mendTranslation(sql: string): string {
  return sql
    .replaceAll(/\bTRANSFORM\(/g, 'list_transform(')
    .replaceAll(/\bELEMENT_AT\(/g, 'list_extract(')
    .replaceAll(/\bHEX\(MD5\(/g, 'upper(MD5(')
    .replaceAll('TIMESTAMP(12)', 'TIMESTAMP');
}
