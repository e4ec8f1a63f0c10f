import { fromTrustedExtension } from './database-objects.ts';

/** Extensions whose immutable functions only compute a value from their arguments. */
const computing =
  'btree_gin btree_gist citext cube earthdistance fuzzystrmatch hstore intarray isn ltree pg_trgm pgcrypto postgis seg unaccent uuid-ossp vector'.split(
    ' ',
  );
/** Extensions whose stable functions read no more than settings and dictionaries. */
const stable = ['citext', 'hstore', 'intarray', 'ltree', 'pg_trgm', 'unaccent'];
/** Functions that call the code of another type, by its checks, and so must never run. */
const calling = ['populate_record'];
/** Volatile functions that only draw random numbers. */
const random = ['uuid_generate_v4'];

const list = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');

/**
 * Names of extension functions that only compute, alone and with their schema. A name is listed
 * only if every function that has it is one of them: a user's function of the same name could be
 * called instead. Functions in SQL must have been parsed when they were made, since others look
 * their own functions up at each call.
 */
export const safeExtensionFunctionsSql = `WITH f AS (SELECT p.proname::text AS name, n.nspname || '.' || p.proname AS "fullName",
    ${fromTrustedExtension('pg_proc', 'p.oid', 'p.proowner')} AND p.prokind IN ('f', 'a', 'w')
    AND (l.lanname IN ('c', 'internal') OR l.lanname = 'sql' AND to_jsonb(p) ->> 'prosqlbody' IS NOT NULL)
    AND (p.provolatile = 'i' OR p.provolatile = 's' AND e.extname IN (${list(stable)}) OR p.proname IN (${list(random)}))
    AND e.extname IN (${list(computing)}) AND (e.extname <> 'postgis' OR p.proname ~ '^st_' AND p.provolatile = 'i')
    AND p.proname NOT IN (${list(calling)}) AS safe
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
    LEFT JOIN pg_extension e ON e.oid = d.refobjid WHERE p.pronamespace <> 'pg_catalog'::regnamespace)
  SELECT ARRAY(SELECT name FROM f WHERE name NOT IN (SELECT s.proname FROM pg_proc s WHERE s.pronamespace = 'pg_catalog'::regnamespace)
      GROUP BY name HAVING bool_and(coalesce(safe, false))
    UNION ALL SELECT "fullName" FROM f GROUP BY "fullName" HAVING bool_and(coalesce(safe, false))) AS names`;
