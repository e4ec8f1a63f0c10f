import { postgres } from '../../../sql/dialects/postgres.ts';

/** One row, `finding`, per way in which the login could write. */
export const privilegesSql = `WITH own AS (SELECT * FROM pg_roles WHERE rolname = current_user)
  SELECT 'role ' || current_user || ' ' || f.power AS finding FROM (
    SELECT unnest(array_remove(ARRAY[CASE WHEN rolsuper THEN 'is a superuser' END, CASE WHEN rolcreatedb THEN 'may create databases' END,
      CASE WHEN rolcreaterole THEN 'may create roles' END, CASE WHEN rolreplication THEN 'may replicate' END], NULL)) AS power FROM own
    UNION ALL SELECT 'is a member of ' || g.rolname FROM own JOIN pg_roles g ON NOT own.rolsuper AND pg_has_role(g.oid, 'MEMBER')
      AND g.rolname IN ('pg_write_all_data', 'pg_write_server_files', 'pg_read_server_files', 'pg_execute_server_program')
    UNION ALL SELECT 'may write to ' || count(*) || CASE count(*) WHEN 1 THEN ' table' ELSE ' tables' END FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'f') AND oid >= 16384
      AND has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE') HAVING count(*) > 0
    UNION ALL SELECT 'may create objects in ' || count(*) || CASE count(*) WHEN 1 THEN ' schema' ELSE ' schemas' END FROM pg_namespace
      WHERE nspname !~ '^(pg_|information_schema)' AND has_schema_privilege(oid, 'CREATE') HAVING count(*) > 0) f`;

/**
 * SQL that creates a read-only login. The owner of the schemas runs it; `ktx status` and `ktx
 * setup` print it.
 */
export function createReaderSql(schemas: readonly string[]): string[] {
  const grants = schemas
    .map((schema) => postgres.quote(schema))
    .flatMap((schema) => [
      `GRANT USAGE ON SCHEMA ${schema} TO ktx_reader;`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ktx_reader;`,
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT ON TABLES TO ktx_reader;`,
    ]);
  return [`CREATE ROLE ktx_reader LOGIN PASSWORD '…';`, ...grants];
}
