const own = `schema_name <> 'databricks_server' AND database_name NOT IN ('system', 'temp')`;
const typeText = `CASE data_type WHEN 'INTEGER' THEN 'int' WHEN 'VARCHAR' THEN 'string' WHEN 'TIMESTAMP' THEN 'timestamp_ntz'
  WHEN 'TIMESTAMP WITH TIME ZONE' THEN 'timestamp' WHEN 'BLOB' THEN 'binary' ELSE lower(data_type) END`;
const table = `database_name AS table_catalog, schema_name AS table_schema`;

/** DuckDB's catalogs in the columns of Unity Catalog's information schema. */
export const metadataScript = `
CREATE SCHEMA databricks_server;
CREATE VIEW databricks_server.tables AS
  SELECT ${table}, table_name, 'MANAGED' AS table_type, comment, 'owner@example.com' AS table_owner FROM duckdb_tables() WHERE NOT internal AND ${own}
  UNION ALL SELECT ${table}, view_name, 'VIEW', comment, 'owner@example.com' FROM duckdb_views() WHERE NOT internal AND ${own};
CREATE VIEW databricks_server.columns AS
  SELECT ${table}, table_name, column_name, column_index - 1 AS ordinal_position,
    CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS is_nullable, ${typeText} AS full_data_type, comment
  FROM duckdb_columns() WHERE NOT internal AND ${own};
CREATE VIEW databricks_server.keys AS
  SELECT ${table}, table_name, constraint_type, constraint_name, unnest(constraint_column_names) AS column_name,
    generate_subscripts(constraint_column_names, 1) AS ordinal_position, referenced_table,
    unnest(CASE WHEN constraint_type = 'FOREIGN KEY' THEN referenced_column_names ELSE [NULL for c in constraint_column_names] END) AS referenced_column
  FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') AND ${own};
CREATE VIEW databricks_server.table_constraints AS
  SELECT DISTINCT table_catalog, table_schema AS constraint_schema, table_name || '_' || constraint_name AS constraint_name, table_schema, table_name, constraint_type FROM databricks_server.keys;
CREATE VIEW databricks_server.key_column_usage AS
  SELECT k.table_catalog, k.table_schema AS constraint_schema, k.table_name || '_' || k.constraint_name AS constraint_name, k.table_schema, k.table_name, k.column_name,
    k.ordinal_position, p.ordinal_position AS position_in_unique_constraint
  FROM databricks_server.keys k LEFT JOIN databricks_server.keys p ON p.constraint_type = 'PRIMARY KEY' AND p.table_catalog = k.table_catalog AND p.table_schema = k.table_schema
    AND p.table_name = k.referenced_table AND p.column_name = k.referenced_column;
CREATE VIEW databricks_server.referential_constraints AS
  SELECT DISTINCT k.table_catalog, k.table_schema AS constraint_schema, k.table_name || '_' || k.constraint_name AS constraint_name,
    p.table_schema AS unique_constraint_schema, p.table_name || '_' || p.constraint_name AS unique_constraint_name
  FROM databricks_server.keys k JOIN databricks_server.keys p ON p.constraint_type = 'PRIMARY KEY' AND p.table_catalog = k.table_catalog AND p.table_schema = k.table_schema AND p.table_name = k.referenced_table
  WHERE k.constraint_type = 'FOREIGN KEY';
CREATE VIEW databricks_server.schemata AS SELECT database_name AS catalog_name, schema_name, 'owner@example.com' AS schema_owner FROM duckdb_schemas() WHERE NOT internal AND ${own};
CREATE TABLE databricks_server.catalogs (catalog_name VARCHAR, catalog_owner VARCHAR);
INSERT INTO databricks_server.catalogs VALUES ('memory', 'owner@example.com');
CREATE TABLE databricks_server.table_privileges (grantee VARCHAR, table_schema VARCHAR, table_name VARCHAR, privilege_type VARCHAR);
CREATE TABLE databricks_server.schema_privileges (grantee VARCHAR, schema_name VARCHAR, privilege_type VARCHAR);
CREATE TABLE databricks_server.catalog_privileges (grantee VARCHAR, catalog_name VARCHAR, privilege_type VARCHAR);
INSERT INTO databricks_server.schema_privileges VALUES ('ktx', 'main', 'SELECT'), ('ktx', 'main', 'USE_SCHEMA'), ('etl', 'main', 'MODIFY');
CREATE TABLE databricks_server.groups (name VARCHAR);
CREATE MACRO is_account_group_member(asked) AS asked IN (SELECT name FROM databricks_server.groups);
CREATE MACRO collect_set(x) AS list_distinct(array_agg(x) FILTER (WHERE x IS NOT NULL));
CREATE MACRO collect_list(x) AS array_agg(x) FILTER (WHERE x IS NOT NULL);
CREATE MACRO slice(items, first, size) AS list_slice(items, first, first + size - 1);
CREATE MACRO array_sort(items) AS list_sort(items);
`;

/** What one catalog has of its own; of privileges and schemas the test has one list. */
const ofCatalog =
  /^(?:tables|columns|table_constraints|key_column_usage|referential_constraints)$/i;

/** The statement with the names that its catalogs have in DuckDB. */
export function withOwnCatalogs(sql: string): string {
  return sql
    .replaceAll('/* ktx */', '')
    .replace(/^\s*TABLE\s+(?=[`\w])/i, 'SELECT * FROM ')
    .replaceAll(
      /(?:`?(\w+)`?\.)?\binformation_schema\.(\w+)/gi,
      (_, catalog: string | undefined, name: string) => {
        const source = `memory.databricks_server.${name}`;
        if (!ofCatalog.test(name)) return source;
        return `(SELECT * FROM ${source} WHERE table_catalog = '${catalog ?? 'memory'}')`;
      },
    )
    .replaceAll(/\bcurrent_user\(\)/gi, "'ktx'");
}

/** Mends what the analyzer leaves of Databricks' functions. */
export function mendTranslation(sql: string): string {
  return sql.replaceAll(/\bQUANTILE\(/g, 'QUANTILE_CONT(').replaceAll('TIMESTAMP_NTZ', 'TIMESTAMP');
}
