/** The database that a login opens. */
export const ownDatabase = 'memory';
const base = `CASE WHEN data_type LIKE 'DECIMAL%' THEN 'DECIMAL' ELSE data_type END`;

/** DuckDB's catalogs in the columns of the catalog views, and functions that DuckDB lacks. */
export function catalogScript(database: string): string {
  const own = `schema_name NOT IN ('sys', 'sqlserver_server') AND database_name = '${database}'`;
  return `
USE "${database}";
CREATE SCHEMA sys;
CREATE SCHEMA sqlserver_server;
CREATE TABLE sqlserver_server.types AS SELECT * FROM (VALUES ('INTEGER', 'int', 56, 4), ('BIGINT', 'bigint', 127, 8), ('SMALLINT', 'smallint', 52, 2), ('TINYINT', 'smallint', 52, 2),
  ('BOOLEAN', 'bit', 104, 1), ('DECIMAL', 'decimal', 106, 17), ('DOUBLE', 'float', 62, 8), ('FLOAT', 'real', 59, 4), ('DATE', 'date', 40, 3), ('TIMESTAMP', 'datetime2', 42, 8),
  ('TIMESTAMP WITH TIME ZONE', 'datetimeoffset', 43, 10), ('TIME', 'time', 41, 5), ('UUID', 'uniqueidentifier', 36, 16), ('VARCHAR', 'nvarchar', 231, -1), ('BLOB', 'varbinary', 165, -1)) AS t(duckdb, name, id, size);
CREATE TABLE sqlserver_server.database_permissions (permission_name VARCHAR);
INSERT INTO sqlserver_server.database_permissions VALUES ('CONNECT'), ('SELECT'), ('SHOWPLAN');
CREATE TABLE sqlserver_server.settings (snapshots INTEGER, query_store VARCHAR);
INSERT INTO sqlserver_server.settings VALUES (0, 'READ_WRITE');
CREATE VIEW sys.schemas AS SELECT oid AS schema_id, schema_name AS name, CASE WHEN schema_name = 'main' THEN 1 ELSE 9 END AS principal_id FROM duckdb_schemas() WHERE ${own} AND NOT internal OR (database_name = '${database}' AND schema_name = 'main');
CREATE VIEW sys.objects AS SELECT table_oid AS object_id, schema_oid AS schema_id, table_name AS name, 'U' AS type, false AS is_shipped, 0 AS is_ms_shipped, estimated_size, comment FROM duckdb_tables() WHERE NOT internal AND ${own}
  UNION ALL SELECT view_oid, schema_oid, view_name, 'V', false, 0, NULL, comment FROM duckdb_views() WHERE NOT internal AND ${own};
CREATE VIEW sys.columns AS SELECT c.table_oid AS object_id, c.column_index AS column_id, c.column_name AS name, t.id AS user_type_id, t.size AS max_length,
  coalesce(c.numeric_precision, 0) AS precision, CASE WHEN c.data_type LIKE 'TIME%' THEN 7 ELSE coalesce(c.numeric_scale, 0) END AS scale, c.is_nullable, c.comment
  FROM duckdb_columns() c JOIN sqlserver_server.types t ON t.duckdb = ${base} WHERE NOT c.internal AND ${own};
CREATE VIEW sys.types AS SELECT DISTINCT name, id AS user_type_id, id AS system_type_id, 0 AS is_user_defined FROM sqlserver_server.types
  UNION ALL SELECT 'phone', 257, 231, 1;
CREATE VIEW sys.extended_properties AS SELECT 1 AS class, object_id AS major_id, 0 AS minor_id, 'MS_Description' AS name, comment AS value FROM sys.objects WHERE comment IS NOT NULL
  UNION ALL SELECT 1, object_id, column_id, 'MS_Description', comment FROM sys.columns WHERE comment IS NOT NULL;
CREATE VIEW sys.partitions AS SELECT object_id, object_id + 100000 AS partition_id, 1 AS index_id, estimated_size AS rows FROM sys.objects WHERE type = 'U';
CREATE VIEW sys.allocation_units AS SELECT partition_id AS container_id, 1 + rows // 100 AS used_pages FROM sys.partitions;
CREATE VIEW sqlserver_server.constraints AS SELECT *, constraint_index + 1 AS index_id FROM duckdb_constraints() WHERE ${own};
CREATE VIEW sys.indexes AS SELECT table_oid AS object_id, index_id, constraint_type = 'PRIMARY KEY' AS is_primary, CASE WHEN constraint_type = 'PRIMARY KEY' THEN true ELSE false END AS is_primary_key, 1 AS is_unique, 0 AS has_filter, 0 AS is_disabled
  FROM sqlserver_server.constraints WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE');
CREATE VIEW sqlserver_server.parts AS SELECT table_oid AS object_id, index_id, constraint_type, referenced_table, schema_oid, unnest(constraint_column_names) AS column_name, generate_subscripts(constraint_column_names, 1) AS place,
  unnest(CASE WHEN constraint_type = 'FOREIGN KEY' THEN referenced_column_names ELSE [NULL for c in constraint_column_names] END) AS referenced_column FROM sqlserver_server.constraints WHERE len(constraint_column_names) > 0;
CREATE VIEW sys.index_columns AS SELECT p.object_id, p.index_id, c.column_id, p.place AS key_ordinal, 0 AS is_included_column FROM sqlserver_server.parts p
  JOIN sys.columns c ON c.object_id = p.object_id AND c.name = p.column_name WHERE p.constraint_type IN ('PRIMARY KEY', 'UNIQUE');
CREATE VIEW sys.foreign_keys AS SELECT table_oid AS parent_object_id, table_oid * 1000 + index_id AS object_id, 0 AS is_disabled FROM sqlserver_server.constraints WHERE constraint_type = 'FOREIGN KEY';
CREATE VIEW sys.foreign_key_columns AS SELECT p.object_id * 1000 + p.index_id AS constraint_object_id, p.place AS constraint_column_id, p.object_id AS parent_object_id, c.column_id AS parent_column_id,
  o.object_id AS referenced_object_id, rc.column_id AS referenced_column_id FROM sqlserver_server.parts p JOIN sys.columns c ON c.object_id = p.object_id AND c.name = p.column_name
  JOIN sys.objects o ON o.name = p.referenced_table AND o.schema_id = p.schema_oid JOIN sys.columns rc ON rc.object_id = o.object_id AND rc.name = p.referenced_column WHERE p.constraint_type = 'FOREIGN KEY';
CREATE MACRO sqlserver_server.disjunction(name, list) AS '(' || list_aggregate(list_reverse([format('[{}]={}', name, v) for v in list]), 'string_agg', ' OR ') || ')';
CREATE VIEW sys.check_constraints AS SELECT table_oid AS parent_object_id, table_oid * 1000 + index_id AS object_id, 0 AS is_disabled, 0 AS is_not_trusted,
  sqlserver_server.disjunction(constraint_column_names[1], regexp_extract_all(expression, '''(?:[^'']|'''')*''')) AS definition
  FROM sqlserver_server.constraints WHERE constraint_type = 'CHECK';
CREATE VIEW sys.databases AS SELECT CASE WHEN database_name = '${ownDatabase}' THEN 5 ELSE database_oid + 5 END AS database_id, database_name AS name, snapshots AS snapshot_isolation_state
  FROM duckdb_databases(), sqlserver_server.settings WHERE NOT internal;
CREATE TABLE sys.database_permissions (class INTEGER, major_id BIGINT, grantee_principal_id INTEGER, permission_name VARCHAR, state VARCHAR);
CREATE TABLE sys.user_token (principal_id INTEGER, name VARCHAR);
INSERT INTO sys.user_token VALUES (5, 'ktx_reader'), (0, 'public');
CREATE MACRO sys.fn_my_permissions(thing, kind) AS TABLE SELECT permission_name FROM sqlserver_server.database_permissions;
CREATE TABLE sys.query_store_query_text (query_text_id INTEGER, query_sql_text VARCHAR);
CREATE TABLE sys.query_store_query (query_id INTEGER, query_text_id INTEGER, object_id INTEGER, is_internal_query INTEGER);
CREATE TABLE sys.query_store_plan (plan_id INTEGER, query_id INTEGER);
CREATE TABLE sys.query_store_runtime_stats (plan_id INTEGER, count_executions BIGINT, execution_type INTEGER, first_execution_time TIMESTAMPTZ);
CREATE VIEW sys.database_query_store_options AS SELECT query_store AS actual_state_desc FROM sqlserver_server.settings;
CREATE MACRO schema_name() AS 'main';
CREATE MACRO db_id() AS 5;
CREATE MACRO hash12(x) AS left(md5(x), 12);
CREATE MACRO string_escape(x, kind) AS CAST(to_json(x) AS VARCHAR)[2:-2];
CREATE MACRO iif(c, a, b) AS CASE WHEN c THEN a ELSE b END;
CREATE MACRO sysutcdatetime() AS CAST(now() AS TIMESTAMP);
USE "${ownDatabase}";
`;
}

/** Mends what the analyzer leaves of T-SQL. */
export function mendTranslation(sql: string): string {
  return sql
    .replaceAll(/\bTEXT\((?:MAX|\d+)\)/g, 'TEXT')
    .replaceAll('CAST(MD5(', 'CAST(hash12(')
    .replaceAll(/\bOFFSET (\d+) ROWS\b/g, 'OFFSET $1')
    .replaceAll(/\bSTRPTIME\(("[^"]+"|\w+), '[^']*'\)/g, 'CAST($1 AS TEXT)')
    .replaceAll(/\bAS BIT\)/g, 'AS BOOLEAN)')
    .replaceAll("'00010101'", "'0001-01-01'")
    .replaceAll(/\bINNER JOIN LATERAL\b/g, 'CROSS JOIN LATERAL')
    .replaceAll(/ COLLATE \w+/g, '')
    .replaceAll(
      /("[^"]+"|\w+) TABLESAMPLE \((\S+) PERCENT\)/g,
      '$1 USING SAMPLE $2 PERCENT (bernoulli)',
    );
}
