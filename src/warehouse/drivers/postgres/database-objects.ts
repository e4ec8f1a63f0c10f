/** What a connection keeps while it is open. */
export interface PostgresPlace {
  readonly database: string;
  /** Where the engine looks for a table without schema. */
  readonly searchPath: readonly string[];
  /** Names of the operators of the system and of extensions; all of them only compute. */
  readonly operators: readonly string[];
  /** Names of the system's functions that one argument is enough for, which `(x).f` calls; and of those that take any row, which `t.f` calls. */
  readonly ofOne: readonly string[];
  readonly ofRow: readonly string[];
}

/** What people made in the database: some of it runs without the node of a call. What an extension brings is trusted, its functions apart. */
export interface OwnObjects {
  /** `schema.name` of functions that are named like one of the system's, and might be called in its place. */
  readonly shadows: readonly string[];
  /** Names of operators. */
  readonly operators: readonly string[];
  /** Names of functions that one argument is enough for; and of those that take a row, which `t.f` calls. */
  readonly ofOne: readonly string[];
  readonly ofRow: readonly string[];
  /** `table.column` where the column is named like a function of a row: it stands before the function. */
  readonly columns: readonly string[];
  /** Types that only compute, with and without their schema. */
  readonly types: readonly string[];
  /** Names of types to which a cast may run code that may do more than compute, as far as another type of that name only computes: the row type of every table would be a list without end. */
  readonly castTypes: readonly string[];
}

export const placeSql = `SELECT current_database()::text AS database, current_schemas(false)::text[] AS "searchPath",
  ARRAY(SELECT DISTINCT o.oprname::text FROM pg_operator o WHERE o.oid < 16384 OR o.oid IN (${ofExtension('pg_operator')})) AS operators,
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesOne('u')}) AS "ofOne",
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesRow('u')}) AS "ofRow"`;

export const ownObjectsSql = `WITH f AS (SELECT u.*, u.oid IN (${ofExtension('pg_proc')}) AS brought FROM pg_proc u WHERE u.oid >= 16384),
  r AS (SELECT DISTINCT f.proname AS name FROM f WHERE ${takesRow('f')})
  SELECT ARRAY(SELECT f.pronamespace::regnamespace || '.' || f.proname FROM f WHERE NOT brought
      AND EXISTS (SELECT FROM pg_proc s WHERE s.proname = f.proname AND s.pronamespace = 'pg_catalog'::regnamespace)) AS shadows,
    ARRAY(SELECT o.oprname::text FROM pg_operator o WHERE o.oid >= 16384 AND o.oid NOT IN (${ofExtension('pg_operator')})) AS operators,
    ARRAY(SELECT f.proname::text FROM f WHERE ${takesOne('f')}) AS "ofOne", ARRAY(SELECT name::text FROM r) AS "ofRow",
    ARRAY(SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attname IN (SELECT name FROM r) AND NOT a.attisdropped GROUP BY c.relname, a.attname
      HAVING count(*) = (SELECT count(*) FROM pg_class n WHERE n.relname = c.relname)) AS columns,
    ARRAY(SELECT name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace, unnest(ARRAY[t.typname::text, n.nspname || '.' || t.typname]) name
      WHERE t.oid >= 16384 AND (t.typtype = 'e' OR t.typtype = 'b' AND t.typcategory <> 'A' AND t.oid IN (${ofExtension('pg_type')}))) AS types,
    ARRAY(SELECT DISTINCT t.typname::text FROM pg_type t WHERE t.oid >= 16384 AND t.typtype NOT IN ('e', 'b')
        AND CASE WHEN t.typname IN (SELECT s.typname FROM pg_type s WHERE s.oid < 16384 OR s.typtype IN ('e', 'b') AND s.typcategory <> 'A')
          THEN pg_type_is_visible(t.oid) END
      UNION SELECT t.typname::text FROM pg_cast c JOIN f ON f.oid = c.castfunc JOIN pg_type t ON t.oid = c.casttarget
        WHERE f.provolatile = 'v' AND NOT brought) AS "castTypes"`;

function ofExtension(catalog: string): string {
  return `SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND classid = '${catalog}'::regclass AND deptype = 'e'`;
}

function takesRow(alias: string): string {
  return `${takesOne(alias)} AND EXISTS (SELECT FROM pg_type t WHERE t.oid = ${alias}.proargtypes[0] AND t.typtype IN ('c', 'p', 'd'))`;
}

function takesOne(alias: string): string {
  return `${alias}.pronargs >= 1 AND ${alias}.pronargs - ${alias}.pronargdefaults <= 1`;
}
