/**
 * What the gate knows about the system's own objects. Read once, when the connection opens.
 *
 * Postgres calls a function for `row.f` and `(expression).f` if `f` is not a column. The gate therefore needs to know which
 * functions a name after a dot could call.
 */
export interface SystemObjects {
  readonly database: string;
  /** The schemas in which Postgres looks for a table without schema, in order. */
  readonly searchPath: readonly string[];
  /** Names of the operators of the system and of extensions; all of them only compute. */
  readonly operators: readonly string[];
  /** Names of functions that can be called with one argument: `(expression).f` calls them. */
  readonly unaryFunctions: readonly string[];
  /** Names of functions that can be called with one row: `table.f` calls them. */
  readonly rowFunctions: readonly string[];
}

/**
 * What the gate knows about objects that users and extensions created. Read before every statement, since new ones can appear.
 * Operators, types and casts of extensions are trusted; functions of extensions are not.
 */
export interface UserObjects {
  /** `schema.name` of functions that have the name of a system function and could be called instead of it. */
  readonly shadowingFunctions: readonly string[];
  /** Names of operators that users created. */
  readonly operators: readonly string[];
  /** As in `SystemObjects`. */
  readonly unaryFunctions: readonly string[];
  readonly rowFunctions: readonly string[];
  /** `table.column` of columns that have the name of a row function. `table.column` then reads the column. */
  readonly columnsNamedLikeRowFunctions: readonly string[];
  /** Types that are safe to cast to (enums, and base types of extensions), each with and without its schema. */
  readonly safeTypes: readonly string[];
  /**
   * Types whose cast may call user code and that have the name of a safe type. Types with any other name are refused
   * anyway, so they need not be listed: there is one row type per table.
   */
  readonly unsafeTypes: readonly string[];
}

export const systemObjectsSql = `SELECT current_database()::text AS database, current_schemas(false)::text[] AS "searchPath",
  ARRAY(SELECT DISTINCT o.oprname::text FROM pg_operator o WHERE o.oid < 16384 OR o.oid IN (${inExtension('pg_operator')})) AS operators,
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesOneArgument('u')}) AS "unaryFunctions",
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesOneRow('u')}) AS "rowFunctions"`;

/** Objects with an oid below 16384 belong to the system. */
export const userObjectsSql = `WITH f AS (SELECT u.*, u.oid IN (${inExtension('pg_proc')}) AS from_extension FROM pg_proc u WHERE u.oid >= 16384),
  r AS (SELECT DISTINCT f.proname AS name FROM f WHERE ${takesOneRow('f')})
  SELECT ARRAY(SELECT f.pronamespace::regnamespace || '.' || f.proname FROM f WHERE NOT from_extension
      AND EXISTS (SELECT FROM pg_proc s WHERE s.proname = f.proname AND s.pronamespace = 'pg_catalog'::regnamespace)) AS "shadowingFunctions",
    ARRAY(SELECT o.oprname::text FROM pg_operator o WHERE o.oid >= 16384 AND o.oid NOT IN (${inExtension('pg_operator')})) AS operators,
    ARRAY(SELECT f.proname::text FROM f WHERE ${takesOneArgument('f')}) AS "unaryFunctions", ARRAY(SELECT name::text FROM r) AS "rowFunctions",
    ARRAY(SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attname IN (SELECT name FROM r) AND NOT a.attisdropped GROUP BY c.relname, a.attname
      HAVING count(*) = (SELECT count(*) FROM pg_class n WHERE n.relname = c.relname)) AS "columnsNamedLikeRowFunctions",
    ARRAY(SELECT name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace, unnest(ARRAY[t.typname::text, n.nspname || '.' || t.typname]) name
      WHERE t.oid >= 16384 AND (t.typtype = 'e' OR t.typtype = 'b' AND t.typcategory <> 'A' AND t.oid IN (${inExtension('pg_type')}))) AS "safeTypes",
    ARRAY(SELECT DISTINCT t.typname::text FROM pg_type t WHERE t.oid >= 16384 AND t.typtype NOT IN ('e', 'b')
        AND CASE WHEN t.typname IN (SELECT s.typname FROM pg_type s WHERE s.oid < 16384 OR s.typtype IN ('e', 'b') AND s.typcategory <> 'A')
          THEN pg_type_is_visible(t.oid) END
      UNION SELECT t.typname::text FROM pg_cast c JOIN f ON f.oid = c.castfunc JOIN pg_type t ON t.oid = c.casttarget
        WHERE f.provolatile = 'v' AND NOT from_extension) AS "unsafeTypes"`;

function inExtension(catalog: string): string {
  return `SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND classid = '${catalog}'::regclass AND deptype = 'e'`;
}

function takesOneRow(alias: string): string {
  return `${takesOneArgument(alias)} AND EXISTS (SELECT FROM pg_type t WHERE t.oid = ${alias}.proargtypes[0] AND t.typtype IN ('c', 'p', 'd'))`;
}

function takesOneArgument(alias: string): string {
  return `${alias}.pronargs >= 1 AND ${alias}.pronargs - ${alias}.pronargdefaults <= 1`;
}
