import { tableKey } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import { checkValues } from './check-values.ts';
import type { ColumnSchema, ForeignKey, Scope, TableSchema, WarehouseSchema } from './warehouse.ts';

/** Asks an engine for rows of its catalogs. */
export type Ask = (sql: string) => Promise<readonly unknown[]>;

/** A row of an engine's catalogs, NULL where there is none; `id` is the table's. */
type Row<Fields> = { readonly id: string | number } & {
  readonly [Name in keyof Fields]-?: undefined extends Fields[Name]
    ? NonNullable<Fields[Name]> | null
    : Fields[Name];
};
export type TableRow = Row<
  Pick<TableSchema, 'schema' | 'table' | 'kind' | 'comment' | 'rowEstimate' | 'bytes' | 'marker'>
>;
export type ColumnRow = Row<Omit<ColumnSchema, 'type'>>;
export interface KeyRow {
  readonly id: string | number;
  readonly kind: 'primary' | 'unique' | 'foreign' | 'check';
  readonly columns: readonly string[];
  readonly to?: ForeignKey['to'] | null | undefined;
  /** Of a check. */
  readonly definition?: string | null;
}

/** What a driver reads, in the order that tables, columns and keys shall have. */
export interface CatalogRows<Column extends ColumnRow> {
  readonly tables: readonly TableRow[];
  readonly columns: readonly Column[];
  readonly keys: readonly KeyRow[];
  /** Statements sent. */
  readonly queries: number;
  fieldType(column: Column): FieldType;
}

/** The tables in scope; a foreign key to a table that the catalog does not have is left out. */
export function tableSchemas<Column extends ColumnRow>(
  rows: CatalogRows<Column>,
  { schemas }: Scope,
): WarehouseSchema {
  const columns = Map.groupBy(rows.columns, ({ id }) => id);
  const keys = Map.groupBy(rows.keys, ({ id }) => id);
  const known = new Set(rows.tables.map(tableKey));
  const tables = rows.tables.map(
    ({ id, comment, rowEstimate, bytes, marker, ...table }): TableSchema => {
      const own = Map.groupBy(keys.get(id) ?? [], ({ kind }) => kind);
      const checked = new Map(
        (own.get('check') ?? []).flatMap(({ definition }) => [...checkValues(definition ?? '')]),
      );
      return {
        ...table,
        comment: comment ?? undefined,
        columns: (columns.get(id) ?? []).map((column) => ({
          name: column.name,
          nativeType: column.nativeType,
          type: rows.fieldType(column),
          nullable: column.nullable,
          comment: column.comment ?? undefined,
          values: column.values ?? checked.get(column.name),
        })),
        primaryKey: own.get('primary')?.[0]?.columns,
        uniqueKeys: (own.get('unique') ?? []).map((key) => key.columns),
        foreignKeys: (own.get('foreign') ?? []).flatMap((key) =>
          key.to && known.has(tableKey(key.to.table)) ? [{ columns: key.columns, to: key.to }] : [],
        ),
        marker: marker ?? undefined,
        rowEstimate: rowEstimate ?? undefined,
        bytes: bytes ?? undefined,
      };
    },
  );
  return {
    tables: tables.filter(({ schema }) => schemas?.includes(schema) ?? true),
    queries: rows.queries,
  };
}
