import { sqlserver } from '../../../sql/dialects/sqlserver.ts';
import {
  buildTableSchemas,
  type CatalogColumnRow,
  type CatalogKeyRow,
  type CatalogTableRow,
  type RunCatalogQuery,
} from '../../table-schemas.ts';
import type { WarehouseSchema } from '../../warehouse.ts';
import { type SqlServerDeclaredType, nativeType, sqlserverFieldType } from './values.ts';

/** Every statement below joins these two, and ends with this condition. */
const objects = `sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id`;
const isOwn = `o.type IN ('U', 'V') AND o.is_ms_shipped = 0`;
const comment = (id: string, place: string): string =>
  `LEFT JOIN sys.extended_properties AS p ON p.class = 1 AND p.major_id = ${id}
  AND p.minor_id = ${place} AND p.name = N'MS_Description'`;

/** Rows and pages by what every login sees of its tables; `sys.dm_…` would need a permission. */
const sizes = `SELECT r.object_id, SUM(CASE WHEN r.index_id IN (0, 1) THEN r.rows ELSE 0 END)
  AS row_estimate FROM sys.partitions AS r GROUP BY r.object_id`;
const pages = `SELECT r.object_id, SUM(a.used_pages) * 8192 AS bytes FROM sys.partitions AS r
  JOIN sys.allocation_units AS a ON a.container_id = r.partition_id GROUP BY r.object_id`;

const tablesSql = (inScope: string): string =>
  `SELECT o.object_id AS id, s.name AS [schema], o.name AS [table], o.type AS kind,
  CAST(p.value AS nvarchar(4000)) AS comment, z.row_estimate, g.bytes
  FROM ${objects} ${comment('o.object_id', '0')}
  LEFT JOIN (${sizes}) AS z ON z.object_id = o.object_id
  LEFT JOIN (${pages}) AS g ON g.object_id = o.object_id
  WHERE ${isOwn}${inScope} ORDER BY s.name, o.name`;
const columnsSql = (inScope: string): string =>
  `SELECT c.object_id AS id, c.name, COALESCE(b.name, t.name) AS type_name, c.max_length,
  c.precision, c.scale, c.is_nullable, CAST(p.value AS nvarchar(4000)) AS comment
  FROM ${objects} JOIN sys.columns AS c ON c.object_id = o.object_id
  JOIN sys.types AS t ON t.user_type_id = c.user_type_id
  LEFT JOIN sys.types AS b ON t.is_user_defined = 1
  AND b.user_type_id = t.system_type_id ${comment('c.object_id', 'c.column_id')}
  WHERE ${isOwn}${inScope} ORDER BY c.object_id, c.column_id`;
/** A key with a filter, or one that is switched off, holds for no table. */
const keysSql = (inScope: string): string =>
  `SELECT i.object_id AS id, i.index_id AS key_id, i.is_primary_key AS is_primary,
  c.name AS column_name
  FROM ${objects} JOIN sys.indexes AS i ON i.object_id = o.object_id
  JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id
  JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
  WHERE ${isOwn}${inScope} AND i.is_unique = 1 AND i.has_filter = 0 AND i.is_disabled = 0
  AND x.is_included_column = 0
  ORDER BY i.object_id, i.is_primary_key DESC, i.index_id, x.key_ordinal`;
const foreignKeysSql = (inScope: string): string =>
  `SELECT f.parent_object_id AS id, f.object_id AS key_id, c.name AS column_name,
  rs.name AS to_schema, r.name AS to_table, rc.name AS to_column
  FROM ${objects} JOIN sys.foreign_keys AS f ON f.parent_object_id = o.object_id
  JOIN sys.foreign_key_columns AS k ON k.constraint_object_id = f.object_id
  JOIN sys.columns AS c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id
  JOIN sys.objects AS r ON r.object_id = k.referenced_object_id
  JOIN sys.schemas AS rs ON rs.schema_id = r.schema_id
  JOIN sys.columns AS rc ON rc.object_id = k.referenced_object_id
  AND rc.column_id = k.referenced_column_id
  WHERE ${isOwn}${inScope} AND f.is_disabled = 0
  ORDER BY f.parent_object_id, f.object_id, k.constraint_column_id`;
const checksSql = (inScope: string): string =>
  `SELECT h.parent_object_id AS id, h.definition FROM ${objects}
  JOIN sys.check_constraints AS h ON h.parent_object_id = o.object_id
  WHERE ${isOwn}${inScope} AND h.is_disabled = 0 AND h.is_not_trusted = 0
  ORDER BY h.parent_object_id, h.object_id`;

interface SqlServerTableRow {
  readonly id: number;
  readonly schema: string;
  readonly table: string;
  readonly kind: string;
  readonly comment: string | null;
  readonly row_estimate: number | null;
  readonly bytes: number | null;
}
interface SqlServerColumnRow extends SqlServerDeclaredType {
  readonly id: number;
  readonly name: string;
  readonly is_nullable: boolean;
  readonly comment: string | null;
}
interface SqlServerKeyRow {
  readonly id: number;
  readonly key_id: number;
  readonly is_primary: boolean;
  readonly column_name: string;
}
interface SqlServerForeignKeyRow {
  readonly id: number;
  readonly key_id: number;
  readonly column_name: string;
  readonly to_schema: string;
  readonly to_table: string;
  readonly to_column: string;
}
interface SqlServerCheckRow {
  readonly id: number;
  readonly definition: string | null;
}

/** Sends five statements over the catalog views, however many tables there are. */
export async function introspectSqlserver(
  query: RunCatalogQuery,
  schemas: readonly string[] | undefined,
): Promise<WarehouseSchema> {
  const names = schemas?.map((schema) => sqlserver.literal(schema)).join(', ');
  const inScope = names === undefined ? '' : ` AND s.name IN (${names})`;
  const tables = (await query(tablesSql(inScope))) as SqlServerTableRow[];
  const columns = (await query(columnsSql(inScope))) as SqlServerColumnRow[];
  const keys = (await query(keysSql(inScope))) as SqlServerKeyRow[];
  const foreignKeys = (await query(foreignKeysSql(inScope))) as SqlServerForeignKeyRow[];
  const checks = (await query(checksSql(inScope))) as SqlServerCheckRow[];
  const valuesOf = checkedValues(checks);
  return buildTableSchemas(
    {
      tables: tables.map((row): CatalogTableRow => {
        const isView = row.kind.trim() === 'V';
        return {
          id: row.id,
          schema: row.schema,
          table: row.table,
          kind: isView ? 'view' : 'table',
          comment: row.comment || null,
          rowEstimate: isView ? null : row.row_estimate,
          bytes: isView ? null : row.bytes,
          // What counts changes is lost with a restart, or needs a permission.
          marker: null,
        };
      }),
      columns: columns.map((row) => ({
        id: row.id,
        name: row.name,
        nativeType: nativeType(row),
        nullable: row.is_nullable,
        comment: row.comment || null,
        values: valuesOf.get(row.id)?.get(row.name) ?? null,
      })) satisfies CatalogColumnRow[],
      keys: [...keyRows(keys), ...foreignKeyRows(foreignKeys)],
      queries: 5,
      fieldType: ({ nativeType: type }) => sqlserverFieldType(type.replace(/\(.*/, '')),
    },
    { schemas: undefined },
  );
}

/** The rows are ordered by table, key and place. */
function keyRows(parts: readonly SqlServerKeyRow[]): CatalogKeyRow[] {
  return groupsOf(parts).map(([{ id, is_primary: isPrimary }, group]) => ({
    id,
    kind: isPrimary ? 'primary' : 'unique',
    columns: group.map(({ column_name: column }) => column),
  }));
}

function foreignKeyRows(parts: readonly SqlServerForeignKeyRow[]): CatalogKeyRow[] {
  return groupsOf(parts).map(([first, group]) => ({
    id: first.id,
    kind: 'foreign',
    columns: group.map(({ column_name: column }) => column),
    to: {
      table: { schema: first.to_schema, table: first.to_table },
      columns: group.map(({ to_column: column }) => column),
    },
  }));
}

function groupsOf<Row extends { readonly id: number; readonly key_id: number }>(
  rows: readonly Row[],
): readonly (readonly [Row, readonly Row[]])[] {
  const groups = Map.groupBy(rows, ({ id, key_id: key }) => `${id} ${key}`).values();
  return [...groups].flatMap((group) => (group[0] === undefined ? [] : [[group[0], group]]));
}

const one = String.raw`\[(?<name>(?:[^\]]|\]\])+)\]=N?'(?:[^']|'')*'`;
const allowedList = new RegExp(String.raw`^\(*${one}(?: OR \[\k<name>\]=N?'(?:[^']|'')*')*\)*$`);

/**
 * The values that checks allow, by table and column. The server keeps `state IN ('a', 'b')` as
 * `([state]='b' OR [state]='a')`; other checks declare no values.
 */
function checkedValues(
  checks: readonly SqlServerCheckRow[],
): ReadonlyMap<number, ReadonlyMap<string, readonly string[]>> {
  const found = checks.flatMap(({ id, definition }) => {
    const column = allowedList.exec(definition ?? '')?.groups?.['name'];
    if (column === undefined) return [];
    const literals = (definition ?? '').matchAll(/\]=N?'((?:[^']|'')*)'/g);
    const values = Array.from(literals, ([, text = '']) => text.replaceAll("''", "'")).toReversed();
    return [{ id, column: column.replaceAll(']]', ']'), values }];
  });
  return new Map(
    [...Map.groupBy(found, ({ id }) => id)].map(([id, list]) => [
      id,
      new Map(list.map(({ column, values }) => [column, values])),
    ]),
  );
}
