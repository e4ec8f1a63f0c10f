import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type RunCatalogQuery,
  type CatalogTableRow,
} from '../../table-schemas.ts';
import { postgres } from '../../../sql/dialects/postgres.ts';
import type { UnresolvedTable } from '../../gate/policy.ts';
import type { Scope, WarehouseSchema } from '../../warehouse.ts';
import { fieldType } from '../../postgres-wire/values.ts';

/**
 * Looked up for each table, by the index. Where the server knows nothing about its own catalog yet,
 * a join compares every table with every comment: 10,000 tables took three seconds.
 */
const tableComment = `(SELECT o.description FROM pg_description o WHERE o.classoid = 'pg_class'::regclass AND o.objoid = c.oid AND o.objsubid = 0)`;
/** There are many more columns, for which a join is faster. */
const joinColumnComments = `LEFT JOIN pg_description o ON o.classoid = 'pg_class'::regclass AND o.objoid = a.attrelid AND o.objsubid = a.attnum`;
/** TimescaleDB keeps the rows of its tables in schemas of its own. */
const relations = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT LIKE 'pg\\_%'
    AND n.nspname NOT LIKE '\\_timescaledb\\_%' AND n.nspname <> 'information_schema' WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition`;
/**
 * A table from which others inherit has their rows too. Its own counters, which say nothing about
 * them, are no marker.
 */
const withParts = (column: string): string =>
  `CASE WHEN c.relkind = 'r' AND c.relhassubclass
      THEN (SELECT sum(greatest(p.${column}, 0))::float8 FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid WHERE i.inhparent = c.oid) + greatest(c.${column}, 0)
      ELSE NULLIF(c.${column}::float8, -1) END`;
const tablesSql = `SELECT c.oid AS id, n.nspname AS schema, c.relname AS table, ${tableComment} AS comment,
    CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table' ELSE 'table' END AS kind,
    ${withParts('reltuples')} AS "rowEstimate", NULLIF(${withParts('relpages')}, 0) * current_setting('block_size')::int AS bytes,
    CASE WHEN c.relkind = 'r' AND NOT c.relhassubclass THEN c.relfilenode || ':' || pg_stat_get_tuples_inserted(c.oid) || ':' ||
    pg_stat_get_tuples_updated(c.oid) || ':' || pg_stat_get_tuples_deleted(c.oid) END AS marker
  FROM ${relations} AND has_schema_privilege(n.oid, 'USAGE')
  AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') ORDER BY 2, 3`;
const columnsSql = `SELECT a.attrelid AS id, a.attnum AS number, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS "nativeType", NOT a.attnotnull AS nullable,
    CASE t.typtype WHEN 'e' THEN 'text'::regtype::oid ELSE COALESCE(NULLIF(t.typbasetype, 0), t.oid) END AS type,
    o.description AS comment, e.labels AS "values"
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    ${joinColumnComments} LEFT JOIN (SELECT enumtypid, array_agg(enumlabel::text ORDER BY enumsortorder) AS labels
    FROM pg_enum GROUP BY 1) e ON e.enumtypid = COALESCE(NULLIF(t.typbasetype, 0), t.oid)
  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid FROM ${relations}) ORDER BY a.attrelid, a.attnum`;
const keysSql = `SELECT conrelid AS id, CASE contype WHEN 'p' THEN 'primary' WHEN 'u' THEN 'unique' WHEN 'f' THEN 'foreign' ELSE 'check' END AS kind,
    conkey::int[] AS numbers, confrelid AS target, confkey::int[] AS "targetNumbers",
    CASE contype WHEN 'c' THEN pg_get_constraintdef(oid) END AS definition, conname AS name FROM pg_constraint WHERE conrelid <> 0 AND contype IN ('p', 'u', 'f', 'c')
  UNION ALL SELECT i.indrelid, 'unique', (i.indkey::int2[])[0:i.indnkeyatts - 1]::int[], 0, NULL, NULL, c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indrelid >= 16384
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u')) ORDER BY 1, 2, 7`;

/**
 * Selects schema and name of the table of which the name is a partition, at any depth. No row if it
 * is none.
 */
export function partitionedTableSql({ schema, table }: UnresolvedTable): string {
  const parts = schema === undefined ? [table] : [schema, table];
  const name = postgres.literal(parts.map((part) => postgres.quote(part)).join('.'));
  return `SELECT n.nspname AS schema, r.relname AS table FROM pg_class c JOIN pg_class r ON r.oid = pg_partition_root(c.oid)
    JOIN pg_namespace n ON n.oid = r.relnamespace WHERE c.oid = to_regclass(${name}) AND c.relispartition`;
}

/** Keys refer to columns by number; `type` is the oid of the column's (base) type. */
type NumberedColumn = CatalogColumnRow & { number: number; type: number };
type NumberedKey = Omit<CatalogKeyRow, 'columns' | 'to'> & {
  numbers: number[] | null;
  target: number;
  targetNumbers: number[] | null;
};

/**
 * Sends three statements over the system's catalogs, however many tables there are. Every role can
 * read those catalogs.
 */
export async function introspectPostgres(
  runQuery: RunCatalogQuery,
  scope: Scope,
): Promise<WarehouseSchema> {
  const tables = (await runQuery(tablesSql)) as (CatalogTableRow & { id: number })[];
  const columns = (await runQuery(columnsSql)) as NumberedColumn[];
  const numberedKeys = (await runQuery(keysSql)) as NumberedKey[];
  const tablesById = new Map(tables.map(({ id, schema, table }) => [id, { schema, table }]));
  const columnsByTable = Map.groupBy(columns, ({ id }) => id);
  const keys = numberedKeys.map(({ numbers, target, targetNumbers, ...key }) => {
    const columnNames = (id: number | string, positions: readonly number[] | null): string[] =>
      (positions ?? []).flatMap(
        (position) => columnsByTable.get(id)?.find(({ number }) => number === position)?.name ?? [],
      );
    const table = tablesById.get(target);
    return {
      ...key,
      columns: columnNames(key.id, numbers),
      to: table && { table, columns: columnNames(target, targetNumbers) },
    };
  });
  return buildTableSchemas(
    { tables, columns, keys, queries: 3, fieldType: ({ type }) => fieldType(type) },
    scope,
  );
}
