import {
  type CatalogColumnRow,
  type CatalogKeyRow,
  type CatalogTableRow,
  joinCatalogParts,
  type StreamCatalogRows,
} from '../../table-schemas.ts';
import { postgres } from '../../../sql/dialects/postgres.ts';
import type { UnresolvedTable } from '../../gate/policy.ts';
import type { ColumnSchema, Scope, WarehouseSchema } from '../../warehouse.ts';
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
    a.atttypid AS type, o.description AS comment
  FROM pg_attribute a ${joinColumnComments}
  WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid FROM ${relations}) ORDER BY a.attrelid, a.attnum`;
/** Types that users made of others: few, so that no column need be joined with all types. */
const typesSql = `SELECT t.oid AS id, NULLIF(t.typbasetype, 0) AS base,
    ARRAY(SELECT e.enumlabel::text FROM pg_enum e WHERE e.enumtypid = t.oid ORDER BY e.enumsortorder) AS labels
  FROM pg_type t WHERE t.typtype IN ('d', 'e')`;
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

/** Keys refer to columns by number; `type` is the oid of the column's type. */
type NumberedColumn = Omit<CatalogColumnRow, 'values'> & { number: number; type: number };
/** A domain, with the type that it limits, or an enum with its labels. */
type MadeType = { readonly id: number; readonly base: number | null; readonly labels: string[] };
type NumberedKey = Omit<CatalogKeyRow, 'columns' | 'to'> & {
  numbers: number[] | null;
  target: number;
  targetNumbers: number[] | null;
};
type TableId = string | number;

/**
 * Sends four statements over the system's catalogs, however many tables there are. Every role can
 * read those catalogs. Rows of columns are dropped as they arrive: a warehouse of 10,000 tables has
 * hundreds of thousands.
 */
export async function introspectPostgres(
  stream: StreamCatalogRows,
  scope: Scope,
): Promise<WarehouseSchema> {
  const tables: (CatalogTableRow & { id: number })[] = [];
  await stream(tablesSql, (row) => void tables.push(row as (typeof tables)[number]));
  const tablesById = new Map(tables.map(({ id, schema, table }) => [id, { schema, table }]));
  const madeTypes = new Map<number, MadeType>();
  await stream(typesSql, (row) => {
    const type = row as MadeType;
    madeTypes.set(type.id, type);
  });
  const columns = keepColumns(madeTypes);
  await stream(columnsSql, (row) => columns.add(row as NumberedColumn));
  const keys: CatalogKeyRow[] = [];
  await stream(keysSql, (row) => {
    const { numbers, target, targetNumbers, ...key } = row as NumberedKey;
    const table = tablesById.get(target);
    const to = table && { table, columns: columns.names(target, targetNumbers) };
    keys.push({ ...key, columns: columns.names(key.id, numbers), to });
  });
  return joinCatalogParts({ tables, columnsOf: columns.of, keys, queries: 4 }, scope);
}

/** Tables of one kind have the same columns, of which each is kept once. */
function keepColumns(madeTypes: ReadonlyMap<number, MadeType>) {
  const byTable = new Map<TableId, ColumnSchema[]>();
  /** The numbers of a table's columns, if they do not count from 1: some were dropped. */
  const numbersOf = new Map<TableId, number[]>();
  const known = new Map<string, ColumnSchema>();
  return {
    add({ id, number, name, nativeType, nullable, type, comment }: NumberedColumn): void {
      const isPlain = comment === null;
      const key = isPlain ? `${type} ${nullable ? 1 : 0} ${nativeType}\n${name}` : '';
      const created = (): ColumnSchema => ({
        name,
        nativeType,
        nullable,
        comment: comment ?? undefined,
        ...typeAndValues(type, madeTypes),
      });
      const column = known.get(key) ?? created();
      if (isPlain) known.set(key, column);
      const list = byTable.get(id) ?? [];
      if (list.length === 0) byTable.set(id, list);
      list.push(column);
      const numbers = numbersOf.get(id);
      if (numbers !== undefined) numbers.push(number);
      else if (number !== list.length)
        numbersOf.set(id, [...list.slice(1).map((_, index) => index + 1), number]);
    },
    of: (id: TableId): readonly ColumnSchema[] => byTable.get(id) ?? [],
    names(id: TableId, positions: readonly number[] | null): string[] {
      const [list, numbers] = [byTable.get(id) ?? [], numbersOf.get(id)];
      return (positions ?? []).flatMap(
        (position) => list[numbers?.indexOf(position) ?? position - 1]?.name ?? [],
      );
    },
  };
}

const textId = 25;

/** A domain over a domain has the type at the end; an enum is text with known labels. */
function typeAndValues(
  id: number,
  madeTypes: ReadonlyMap<number, MadeType>,
): Pick<ColumnSchema, 'type' | 'values'> {
  let made = madeTypes.get(id);
  let last = id;
  while (made !== undefined && made.base !== null) {
    last = made.base;
    made = madeTypes.get(last);
  }
  return made === undefined
    ? { type: fieldType(last), values: undefined }
    : { type: fieldType(textId), values: made.labels.length === 0 ? undefined : made.labels };
}
