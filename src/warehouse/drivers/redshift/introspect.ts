import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type CatalogTableRow,
  type RunCatalogQueries,
} from '../../table-schemas.ts';
import type { Scope, TableSchema, WarehouseSchema } from '../../warehouse.ts';
import { UserError } from '../../../lib/error.ts';
import { fieldTypeNamed } from './values.ts';

/** `column` holds the name of a schema. */
export function isUserSchema(column: string): string {
  return `${column} <> 'information_schema' AND SUBSTRING(${column}, 1, 3) <> 'pg_'`;
}

const tablesSql = `SELECT table_schema AS "schema", table_name AS "table", table_type AS "kind", remarks AS "comment"
  FROM svv_tables WHERE ${isUserSchema('table_schema')} ORDER BY 1, 2`;
const columnsSql = `SELECT table_schema AS "schema", table_name AS "table", column_name AS "name", ordinal_position AS "number",
    is_nullable AS "nullable", data_type AS "type", character_maximum_length AS "length", numeric_precision AS "precision",
    numeric_scale AS "scale", remarks AS "comment"
  FROM svv_columns WHERE ${isUserSchema('table_schema')} ORDER BY 1, 2, 4`;
/** Nobody enforces them: they say what the owner of the table promises. */
const keysSql = `SELECT n.nspname AS "schema", c.relname AS "table", k.contype AS "kind", k.conkey AS "numbers",
    m.nspname AS "toSchema", t.relname AS "toTable", k.confkey AS "toNumbers"
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_class t ON t.oid = k.confrelid LEFT JOIN pg_namespace m ON m.oid = t.relnamespace
  WHERE k.contype IN ('p', 'u', 'f') ORDER BY 1, 2, k.conname`;
/** Has no row for an empty table. Only superusers see it, unless somebody was granted it. */
const sizesSql = `SELECT "schema", "table", tbl_rows AS "rows", size AS "megabytes" FROM svv_table_info`;

interface TableInSchema {
  readonly schema: string;
  readonly table: string;
}
interface RedshiftTable extends TableInSchema {
  readonly kind: string;
  readonly comment: string | null;
}
interface RedshiftColumn extends TableInSchema {
  readonly name: string;
  readonly number: number | string;
  readonly nullable: string | boolean;
  readonly type: string;
  readonly length: number | string | null;
  readonly precision: number | string | null;
  readonly scale: number | string | null;
  readonly comment: string | null;
}
/** Positions of columns, as a list or as the text `{1,2}`. */
type Positions = readonly number[] | string | null;
interface RedshiftKey extends TableInSchema {
  readonly kind: string;
  readonly numbers: Positions;
  readonly toSchema: string | null;
  readonly toTable: string | null;
  readonly toNumbers: Positions;
}
interface RedshiftSize extends TableInSchema {
  readonly rows: number | string | null;
  readonly megabytes: number | string | null;
}

/** Where a materialized view keeps its rows. */
const viewStorage = /^mv_tbl__.+__\d+$/;

/** Sends four statements over the system's views, however many tables there are. */
export async function introspectRedshift(
  run: RunCatalogQueries,
  scope: Scope,
  signal: AbortSignal,
): Promise<WarehouseSchema> {
  const [tableRows, columnRows, keyRows] = await run(
    signal,
    async (query) =>
      [
        (await query(tablesSql)) as RedshiftTable[],
        (await query(columnsSql)) as RedshiftColumn[],
        (await query(keysSql)) as RedshiftKey[],
      ] as const,
  );
  const sizes = new Map((await readSizes(run, signal)).map((row) => [idOf(row), row]));
  const tables = tableRows
    .filter(({ table }) => !viewStorage.test(table))
    .map((row): CatalogTableRow => {
      const { rows, megabytes } = sizes.get(idOf(row)) ?? { rows: null, megabytes: null };
      return {
        id: idOf(row),
        schema: row.schema,
        table: row.table,
        kind: tableKind(row.kind),
        comment: row.comment || null,
        rowEstimate: rows === null ? null : Number(rows),
        bytes: megabytes === null ? null : Number(megabytes) * 2 ** 20,
        // Nothing that every login can read changes with each change of the rows.
        marker: null,
      };
    });
  const columns = columnRows.map((row) => ({ ...columnOf(row), type: row.type }));
  return buildTableSchemas(
    {
      tables: tables.toSorted(byName),
      columns,
      keys: keysOf(keyRows, columnRows),
      queries: 4,
      fieldType: ({ type }) => fieldTypeNamed(type),
    },
    scope,
  );
}

/** Empty if the login may not read them. */
function readSizes(run: RunCatalogQueries, signal: AbortSignal): Promise<readonly RedshiftSize[]> {
  return run(signal, (query) => query(sizesSql) as Promise<RedshiftSize[]>).catch(
    (error: unknown) => {
      const isHidden = error instanceof UserError && error.code === 'warehouse_privilege';
      if (isHidden) return [];
      throw error;
    },
  );
}

function idOf({ schema, table }: TableInSchema): string {
  return JSON.stringify([schema, table]);
}

/** By code units, as other drivers have it: the server's collation can differ. */
function byName(a: CatalogTableRow, b: CatalogTableRow): number {
  if (a.schema !== b.schema) return a.schema < b.schema ? -1 : 1;
  return a.table < b.table ? -1 : 1;
}

function tableKind(type: string): TableSchema['kind'] {
  if (/view/i.test(type)) return 'view';
  return /external|shared/i.test(type) ? 'foreign_table' : 'table';
}

function columnOf(row: RedshiftColumn): CatalogColumnRow {
  return {
    id: idOf(row),
    name: row.name,
    nativeType: nativeType(row),
    nullable: !/^(?:no|f|false)$/i.test(String(row.nullable)),
    comment: row.comment || null,
    values: null,
  };
}

/** `numeric(10,2)`, `character varying(20)`. */
function nativeType({ type, length, precision, scale }: RedshiftColumn): string {
  if (type.includes('(')) return type;
  if (/^(?:numeric|decimal)$/i.test(type) && precision !== null)
    return `${type}(${precision},${scale ?? 0})`;
  return length === null || fieldTypeNamed(type) !== 'string' ? type : `${type}(${length})`;
}

const keyKinds: Readonly<Record<string, CatalogKeyRow['kind']>> = {
  p: 'primary',
  u: 'unique',
  f: 'foreign',
};

function keysOf(rows: readonly RedshiftKey[], columns: readonly RedshiftColumn[]): CatalogKeyRow[] {
  const byTable = Map.groupBy(columns, idOf);
  const names = (id: string, numbers: Positions): string[] =>
    positionsOf(numbers).flatMap(
      (position) => byTable.get(id)?.find(({ number }) => Number(number) === position)?.name ?? [],
    );
  return rows.flatMap((row): CatalogKeyRow[] => {
    const kind = keyKinds[row.kind];
    const id = idOf(row);
    const key = kind === undefined ? [] : names(id, row.numbers);
    if (kind === undefined || key.length !== positionsOf(row.numbers).length) return [];
    if (kind !== 'foreign') return [{ id, kind, columns: key }];
    if (row.toSchema === null || row.toTable === null) return [];
    const table = { schema: row.toSchema, table: row.toTable };
    return [{ id, kind, columns: key, to: { table, columns: names(idOf(table), row.toNumbers) } }];
  });
}

function positionsOf(numbers: Positions): readonly number[] {
  if (typeof numbers === 'string') return (numbers.match(/\d+/g) ?? []).map(Number);
  return numbers ?? [];
}
