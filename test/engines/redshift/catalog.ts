/**
 * What a database of Postgres needs to look like one of Redshift: its system views, with the
 * columns of the documentation, and the functions that ktx sends. A superuser runs it.
 */
export const redshiftCatalog = `
  SET allow_system_table_mods = on;
  CREATE VIEW pg_catalog.svv_tables AS SELECT table_catalog::text, table_schema::text, table_name::text,
      CASE table_type WHEN 'FOREIGN' THEN 'EXTERNAL TABLE' ELSE table_type END::text AS table_type,
      obj_description(format('%I.%I', table_schema, table_name)::regclass, 'pg_class') AS remarks
    FROM information_schema.tables;
  CREATE VIEW pg_catalog.svv_columns AS SELECT table_catalog::text, table_schema::text, table_name::text, column_name::text,
      ordinal_position::int, column_default::text, is_nullable::text, data_type::text, character_maximum_length::int,
      numeric_precision::int, numeric_precision_radix::int, numeric_scale::int, datetime_precision::int,
      col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position) AS remarks
    FROM information_schema.columns;
  CREATE VIEW pg_catalog.svv_table_info AS SELECT current_database()::text AS database, n.nspname::text AS schema, c.oid AS table_id,
      c.relname::text AS "table", 'Y'::text AS encoded, 'AUTO(ALL)'::text AS diststyle, 'AUTO(SORTKEY)'::text AS sortkey1,
      ceil(c.relpages * 8192 / 1048576.0)::bigint AS size, c.reltuples::numeric(38,0) AS tbl_rows
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.reltuples > 0 AND n.nspname !~ '^(pg_|information_schema)';
  CREATE VIEW pg_catalog.svv_user_info AS SELECT u.usename::text AS user_name, u.usesysid::int AS user_id, u.usecreatedb AS createdb,
      u.usesuper AS superuser,
      CASE WHEN pg_has_role(u.usesysid, 'pg_read_all_stats', 'USAGE') THEN 'UNRESTRICTED' ELSE 'RESTRICTED' END::text AS syslog_access
    FROM pg_user u;
  CREATE VIEW pg_catalog.svv_user_grants AS SELECT u.usesysid::int AS user_id, u.usename::text AS user_name, r.oid::int AS role_id,
      r.rolname::text AS role_name, m.admin_option
    FROM pg_auth_members m JOIN pg_user u ON u.usesysid = m.member JOIN pg_roles r ON r.oid = m.roleid;
  CREATE TABLE pg_catalog.sys_query_history (user_id int, query_id bigint, query_label text, database_name text, query_type text,
    status text, start_time timestamp, query_text varchar(4000));
  GRANT SELECT ON pg_catalog.svv_tables, pg_catalog.svv_columns, pg_catalog.svv_user_info, pg_catalog.svv_user_grants,
    pg_catalog.sys_query_history TO PUBLIC;
  CREATE FUNCTION pg_catalog.refuse_like_redshift(code text, message text) RETURNS int LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION USING ERRCODE = code, MESSAGE = message; END $$;
  CREATE FUNCTION pg_catalog.add_to_list(list text, value text, delimiter text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE longer text := CASE WHEN list IS NULL THEN value WHEN value IS NULL THEN list ELSE list || delimiter || value END;
    BEGIN IF octet_length(longer) > 65535 THEN RAISE EXCEPTION 'Result size exceeds LISTAGG limit'; END IF; RETURN longer; END $$;
  CREATE AGGREGATE pg_catalog.listagg(text, text) (SFUNC = add_to_list, STYPE = text);
  CREATE FUNCTION pg_catalog.getdate() RETURNS timestamp LANGUAGE sql STABLE AS 'SELECT localtimestamp(0)';
  CREATE FUNCTION pg_catalog.len(text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT length($1)';
  CREATE FUNCTION pg_catalog.nvl(anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, $2)';
  CREATE FUNCTION pg_catalog.dateadd(unit text, count int, at timestamp) RETURNS timestamp LANGUAGE sql IMMUTABLE AS
    $$ SELECT at + (count || ' ' || unit)::interval $$;
  CREATE FUNCTION pg_catalog.datediff(unit text, a timestamp, b timestamp) RETURNS bigint LANGUAGE sql IMMUTABLE AS
    $$ SELECT floor(extract(epoch FROM date_trunc(unit, b) - date_trunc(unit, a)) / extract(epoch FROM ('1 ' || unit)::interval))::bigint $$;
  RESET allow_system_table_mods;
`;
