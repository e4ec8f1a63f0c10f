import { tableKey } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import { checkValues } from './check-values.ts';
import type { ColumnSchema, ForeignKey, Scope, TableSchema, WarehouseSchema } from './warehouse.ts';

/** Runs a statement over an engine's own catalogs; returns its rows as objects. */
export type RunCatalogQuery = (sql: string) => Promise<readonly unknown[]>;

/** Does the work with statements that share one read-only transaction. */
export type RunCatalogQueries = <T>(
  signal: AbortSignal,
  work: (query: RunCatalogQuery) => Promise<T>,
) => Promise<T>;

/** A row of an engine's catalogs. NULL where `Fields` are optional; `id` identifies the table. */
type CatalogRow<Fields> = { readonly id: string | number } & {
  readonly [Name in keyof Fields]-?: undefined extends Fields[Name]
    ? NonNullable<Fields[Name]> | null
    : Fields[Name];
};
export type CatalogTableRow = CatalogRow<
  Pick<TableSchema, 'schema' | 'table' | 'kind' | 'comment' | 'rowEstimate' | 'bytes' | 'marker'>
>;
export type CatalogColumnRow = CatalogRow<Omit<ColumnSchema, 'type'>>;
export interface CatalogKeyRow {
  readonly id: string | number;
  readonly kind: 'primary' | 'unique' | 'foreign' | 'check';
  readonly columns: readonly string[];
  readonly to?: ForeignKey['to'] | null | undefined;
  /** The SQL text; only for kind `check`. */
  readonly definition?: string | null;
}

/** What a driver read from its catalogs; the order is kept. */
export interface CatalogRows<Column extends CatalogColumnRow> {
  readonly tables: readonly CatalogTableRow[];
  readonly columns: readonly Column[];
  readonly keys: readonly CatalogKeyRow[];
  /** Number of statements sent. */
  readonly queries: number;
  fieldType(column: Column): FieldType;
}

/** The tables in scope. A foreign key to a table that the catalog does not have is left out. */
export function buildTableSchemas<Column extends CatalogColumnRow>(
  rows: CatalogRows<Column>,
  { schemas }: Scope,
): WarehouseSchema {
  const columnsById = Map.groupBy(rows.columns, ({ id }) => id);
  const keysById = Map.groupBy(rows.keys, ({ id }) => id);
  const knownTables = new Set(rows.tables.map(tableKey));
  const tables = rows.tables.map((table): TableSchema => {
    const keys = Map.groupBy(keysById.get(table.id) ?? [], ({ kind }) => kind);
    const valuesByColumn = new Map(
      (keys.get('check') ?? []).flatMap(({ definition }) => [...checkValues(definition ?? '')]),
    );
    return {
      ...describeTable(table),
      columns: (columnsById.get(table.id) ?? []).map((column) => ({
        name: column.name,
        nativeType: column.nativeType,
        type: rows.fieldType(column),
        nullable: column.nullable,
        comment: column.comment ?? undefined,
        values: column.values ?? valuesByColumn.get(column.name),
      })),
      primaryKey: keys.get('primary')?.[0]?.columns,
      uniqueKeys: (keys.get('unique') ?? []).map((key) => key.columns),
      foreignKeys: (keys.get('foreign') ?? []).flatMap(({ columns, to }) =>
        to && knownTables.has(tableKey(to.table)) ? [{ columns, to }] : [],
      ),
    };
  });
  return {
    tables: tables.filter(({ schema }) => schemas?.includes(schema) ?? true),
    queries: rows.queries,
  };
}

function describeTable({
  id: _id,
  comment,
  rowEstimate,
  bytes,
  marker,
  ...table
}: CatalogTableRow) {
  return {
    ...table,
    comment: comment ?? undefined,
    marker: marker ?? undefined,
    rowEstimate: rowEstimate ?? undefined,
    bytes: bytes ?? undefined,
  };
}
