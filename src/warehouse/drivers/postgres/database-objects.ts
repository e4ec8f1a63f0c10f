/**
 * What the gate knows about the system's own objects. Read once, when the connection opens.
 *
 * Postgres calls a function for `row.f` and `(expression).f` if `f` is not a column. The gate
 * therefore needs to know which functions a name after a dot could call.
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

/** A cast that users made and that may do more than compute. */
export interface UserCast {
  readonly target: string;
  /** Null if values of the source type are everywhere, because it is one of the system's. */
  readonly source: string | null;
  /** The relations that have values of the source type, or may have. */
  readonly relations: readonly string[];
}

/**
 * What the gate knows about objects that users and extensions created. Read before every statement,
 * since new ones can appear. Operators, types and casts of extensions are trusted; functions of
 * extensions are checked one by one.
 */
export interface UserObjects {
  /**
   * `schema.name` of functions that have the name of a system function and could be called instead
   * of it.
   */
  readonly shadowingFunctions: readonly string[];
  /** Names of operators that users created. */
  readonly operators: readonly string[];
  /** As in `SystemObjects`. */
  readonly unaryFunctions: readonly string[];
  readonly rowFunctions: readonly string[];
  /**
   * `table.column` of columns that have the name of a row function. `table.column` then reads the
   * column.
   */
  readonly columnsNamedLikeRowFunctions: readonly string[];
  /**
   * Types that are safe to cast to (enums, and base types of extensions), each with and without its
   * schema.
   */
  readonly safeTypes: readonly string[];
  /**
   * Types that users made and that have the name of a safe type. Types with any other name are
   * refused anyway, so they need not be listed: there is one row type per table.
   */
  readonly unsafeTypes: readonly string[];
  readonly userCasts: readonly UserCast[];
}

/** The operator `#=` of hstore makes a row, which runs the checks of the row's types. */
const trustedOperator = `${fromTrustedExtension('pg_operator', 'o.oid', 'o.oprowner')}
  AND o.oprcode NOT IN (SELECT m.oid FROM pg_proc m WHERE m.proname = 'populate_record')`;
/**
 * Relations with a column of the type `s`, of its arrays, or of a type that users made of others.
 */
const relationsWithSource = `SELECT DISTINCT k.relname::text FROM pg_class k JOIN pg_attribute a ON a.attrelid = k.oid
    JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_type i ON i.oid = y.typelem AND i.oid >= 16384
  WHERE k.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT a.attisdropped
    AND (k.reltype = s.oid OR s.oid IN (y.oid, i.oid) OR y.oid >= 16384 AND y.typtype NOT IN ('e', 'b') OR i.typtype NOT IN ('e', 'b'))`;

export const systemObjectsSql = `SELECT current_database()::text AS database, current_schemas(false)::text[] AS "searchPath",
  ARRAY(SELECT DISTINCT o.oprname::text FROM pg_operator o WHERE o.oid < 16384 OR ${trustedOperator}) AS operators,
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesOneArgument('u')}) AS "unaryFunctions",
  ARRAY(SELECT DISTINCT u.proname::text FROM pg_proc u WHERE u.oid < 16384 AND ${takesOneRow('u')}) AS "rowFunctions"`;

/** Objects with an oid below 16384 belong to the system. */
export const userObjectsSql = `WITH f AS (SELECT u.*, ${fromTrustedExtension('pg_proc', 'u.oid', 'u.proowner')} AS from_extension FROM pg_proc u WHERE u.oid >= 16384),
  r AS (SELECT DISTINCT f.proname AS name FROM f WHERE ${takesOneRow('f')})
  SELECT ARRAY(SELECT f.pronamespace::regnamespace || '.' || f.proname FROM f WHERE NOT from_extension
      AND EXISTS (SELECT FROM pg_proc s WHERE s.proname = f.proname AND s.pronamespace = 'pg_catalog'::regnamespace)) AS "shadowingFunctions",
    ARRAY(SELECT o.oprname::text FROM pg_operator o WHERE o.oid >= 16384 AND NOT (${trustedOperator})) AS operators,
    ARRAY(SELECT f.proname::text FROM f WHERE ${takesOneArgument('f')}) AS "unaryFunctions", ARRAY(SELECT name::text FROM r) AS "rowFunctions",
    ARRAY(SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attname IN (SELECT name FROM r) AND NOT a.attisdropped GROUP BY c.relname, a.attname
      HAVING count(*) = (SELECT count(*) FROM pg_class n WHERE n.relname = c.relname)) AS "columnsNamedLikeRowFunctions",
    ARRAY(SELECT name FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace, unnest(ARRAY[t.typname::text, n.nspname || '.' || t.typname]) name
      WHERE t.oid >= 16384 AND (t.typtype = 'e' OR t.typtype = 'b' AND t.typcategory <> 'A' AND ${fromTrustedExtension('pg_type', 't.oid', 't.typowner')})) AS "safeTypes",
    ARRAY(SELECT DISTINCT t.typname::text FROM pg_type t WHERE t.oid >= 16384 AND t.typtype NOT IN ('e', 'b')
        AND CASE WHEN t.typname IN (SELECT s.typname FROM pg_type s WHERE s.oid < 16384 OR s.typtype IN ('e', 'b') AND s.typcategory <> 'A')
          THEN pg_type_is_visible(t.oid) END) AS "unsafeTypes",
    (SELECT coalesce(json_agg(json_build_object('target', coalesce((SELECT e.typname FROM pg_type e WHERE e.oid = t.typelem AND t.typcategory = 'A'), t.typname), 'source', CASE WHEN s.oid >= 16384 THEN s.typname END,
        'relations', CASE WHEN s.oid >= 16384 THEN ARRAY(${relationsWithSource}) ELSE '{}' END)), '[]')
      FROM pg_cast c JOIN f ON f.oid = c.castfunc JOIN pg_type t ON t.oid = c.casttarget JOIN pg_type s ON s.oid = c.castsource
      WHERE f.provolatile = 'v' AND NOT from_extension) AS "userCasts"`;

/**
 * A user can add a function of their own to an extension that they own, but not make it a
 * superuser's.
 */
export function fromTrustedExtension(catalog: string, id: string, owner: string): string {
  return `(${id} IN (${inExtension(catalog)}) AND ${owner} IN (SELECT super.oid FROM pg_roles super WHERE super.rolsuper))`;
}

function inExtension(catalog: string): string {
  return `SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND classid = '${catalog}'::regclass AND deptype = 'e'`;
}

function takesOneRow(alias: string): string {
  return `${takesOneArgument(alias)} AND EXISTS (SELECT FROM pg_type t WHERE t.oid = ${alias}.proargtypes[0] AND t.typtype IN ('c', 'p', 'd'))`;
}

function takesOneArgument(alias: string): string {
  return `${alias}.pronargs >= 1 AND ${alias}.pronargs - ${alias}.pronargdefaults <= 1`;
}
