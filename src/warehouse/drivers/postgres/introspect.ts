import type { ColumnSchema, ForeignKey, Scope, TableSchema, WarehouseSchema } from '../../warehouse.ts';
import { checkValues } from '../../check-values.ts';
import { fieldType } from './values.ts';

type Ask = (sql: string) => Promise<readonly unknown[]>;

const relations = `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition`;
const tablesSql = `SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS table, c.relkind AS kind, obj_description(c.oid, 'pg_class') AS comment,
    c.reltuples::float8 AS rows, CASE WHEN c.relkind = 'r' THEN c.relfilenode || ':' || pg_stat_get_tuples_inserted(c.oid) || ':' ||
    pg_stat_get_tuples_updated(c.oid) || ':' || pg_stat_get_tuples_deleted(c.oid) END AS marker
  FROM ${relations} AND has_schema_privilege(n.oid, 'USAGE') AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;
const columnsSql = `SELECT a.attrelid::int8 AS oid, a.attnum AS number, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS native, a.attnotnull AS required,
    COALESCE(NULLIF(t.typbasetype, 0), t.oid)::int8 AS type, t.typtype AS sort, col_description(a.attrelid, a.attnum) AS comment
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attrelid IN (SELECT c.oid FROM ${relations})
  ORDER BY a.attrelid, a.attnum`;
const keysSql = `SELECT conrelid::int8 AS oid, contype AS sort, conkey::int[] AS key, confrelid::int8 AS target, confkey::int[] AS "targetKey",
    CASE contype WHEN 'c' THEN pg_get_constraintdef(oid) END AS definition, conname AS name FROM pg_constraint WHERE conrelid <> 0 AND contype IN ('p', 'u', 'f', 'c')
  UNION ALL SELECT i.indrelid::int8, 'u', (i.indkey::int2[])[0:i.indnkeyatts - 1]::int[], 0, NULL, NULL, c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indrelid >= 16384
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u')) ORDER BY 1, 2, 7`;
const enumsSql = `SELECT enumtypid::int8 AS oid, array_agg(enumlabel::text ORDER BY enumsortorder) AS labels FROM pg_enum GROUP BY 1`;

type TableRow = { oid: string; schema: string; table: string; kind: string; comment: string | null; rows: number; marker: string | null };
type ColumnRow = {
  oid: string;
  number: number;
  name: string;
  native: string;
  required: boolean;
  type: string;
  sort: string;
  comment: string | null;
};
type KeyRow = {
  oid: string;
  sort: 'p' | 'u' | 'f' | 'c';
  key: number[] | null;
  target: string;
  targetKey: number[] | null;
  definition: string | null;
};

const kinds: Readonly<Record<string, TableSchema['kind']>> = { v: 'view', m: 'materialized_view', f: 'foreign_table' };

/** Four statements over the system's catalogs, whatever the number of tables; keys by ordered column numbers, visible to every role. */
export async function introspectPostgres(ask: Ask, scope: Scope): Promise<WarehouseSchema> {
  const tables = (await ask(tablesSql)) as TableRow[];
  const columns = Map.groupBy((await ask(columnsSql)) as ColumnRow[], ({ oid }) => oid);
  const keys = Map.groupBy((await ask(keysSql)) as KeyRow[], ({ oid }) => oid);
  const enums = new Map(((await ask(enumsSql)) as { oid: string; labels: string[] }[]).map(({ oid, labels }) => [oid, labels]));
  const byOid = new Map(tables.map((table) => [table.oid, table]));
  const names = (oid: string, numbers: readonly number[] | null): string[] => {
    const named = new Map((columns.get(oid) ?? []).map(({ number, name }) => [number, name]));
    return (numbers ?? []).flatMap((number) => named.get(number) ?? []);
  };
  const foreignKey = ({ oid, key, target, targetKey }: KeyRow): ForeignKey[] => {
    const table = byOid.get(target);
    if (table === undefined) return [];
    return [{ columns: names(oid, key), to: { table: { schema: table.schema, table: table.table }, columns: names(target, targetKey) } }];
  };
  const result = tables
    .filter(({ schema }) => scope.schemas?.includes(schema) ?? true)
    .map((table): TableSchema => {
      const own = Map.groupBy(keys.get(table.oid) ?? [], ({ sort }) => sort);
      const values = new Map((own.get('c') ?? []).flatMap(({ definition }) => [...checkValues(definition ?? '')]));
      const primary = own.get('p')?.[0];
      return {
        schema: table.schema,
        table: table.table,
        kind: kinds[table.kind] ?? 'table',
        comment: table.comment ?? undefined,
        columns: (columns.get(table.oid) ?? []).map((column) => columnOf(column, enums.get(column.type) ?? values.get(column.name))),
        primaryKey: primary === undefined ? undefined : names(table.oid, primary.key),
        uniqueKeys: (own.get('u') ?? []).map(({ key }) => names(table.oid, key)),
        foreignKeys: (own.get('f') ?? []).flatMap(foreignKey),
        marker: table.marker ?? undefined,
        rowEstimate: table.rows < 0 ? undefined : table.rows,
      };
    });
  return { tables: result.sort(bySchemaAndName), queries: 4 };
}

function columnOf(row: ColumnRow, values: readonly string[] | undefined): ColumnSchema {
  return {
    name: row.name,
    nativeType: row.native,
    type: row.sort === 'e' ? 'string' : fieldType(Number(row.type)),
    nullable: !row.required,
    comment: row.comment ?? undefined,
    values,
  };
}

function bySchemaAndName(a: TableSchema, b: TableSchema): number {
  if (a.schema !== b.schema) return a.schema < b.schema ? -1 : 1;
  return a.table < b.table ? -1 : 1;
}
