import { tableKey } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import { checkValues } from './check-values.ts';
import type { QueryRows } from './driver.ts';
import type {
  Cell,
  ColumnSchema,
  ForeignKey,
  Scope,
  TableSchema,
  WarehouseSchema,
} from './warehouse.ts';

/** Runs a statement over an engine's own catalogs; returns its rows as objects. */
export type RunCatalogQuery = (sql: string) => Promise<readonly unknown[]>;

/** The rows of a result as objects, by the names of its columns. */
export function rowsAsObjects({ columns, rows }: QueryRows): readonly Record<string, Cell>[] {
  return rows.map((row) =>
    Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null])),
  );
}

/**
 * Runs a statement over an engine's own catalogs and hands over its rows, as objects, as they
 * arrive: what is taken from them is all that is kept.
 */
export type StreamCatalogRows = (sql: string, take: (row: unknown) => void) => Promise<void>;

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

/** What a driver kept of its catalogs' rows while they arrived. */
interface CatalogParts {
  readonly tables: readonly CatalogTableRow[];
  columnsOf(id: string | number): readonly ColumnSchema[];
  readonly keys: readonly CatalogKeyRow[];
  readonly queries: number;
}

/** The tables in scope. A foreign key to a table that the catalog does not have is left out. */
export function buildTableSchemas<Column extends CatalogColumnRow>(
  rows: CatalogRows<Column>,
  scope: Scope,
): WarehouseSchema {
  const columnsById = Map.groupBy(rows.columns, ({ id }) => id);
  const columnsOf = (id: string | number): ColumnSchema[] =>
    (columnsById.get(id) ?? []).map((column) => ({
      name: column.name,
      nativeType: column.nativeType,
      type: rows.fieldType(column),
      nullable: column.nullable,
      comment: column.comment ?? undefined,
      values: column.values ?? undefined,
    }));
  return joinCatalogParts({ ...rows, columnsOf }, scope);
}

/** As `buildTableSchemas`, for a driver that makes the columns itself. */
export function joinCatalogParts(parts: CatalogParts, { schemas }: Scope): WarehouseSchema {
  const keysById = Map.groupBy(parts.keys, ({ id }) => id);
  const knownTables = new Set(parts.tables.map(tableKey));
  const inScope = parts.tables.filter(({ schema }) => schemas?.includes(schema) ?? true);
  const tables = inScope.map((table): TableSchema => {
    const keys = Map.groupBy(keysById.get(table.id) ?? [], ({ kind }) => kind);
    const checks = keys.get('check') ?? [];
    return {
      ...describeTable(table),
      columns: withCheckedValues(parts.columnsOf(table.id), checks),
      primaryKey: keys.get('primary')?.[0]?.columns,
      uniqueKeys: (keys.get('unique') ?? []).map((key) => key.columns),
      foreignKeys: (keys.get('foreign') ?? []).flatMap(({ columns, to }) =>
        to && knownTables.has(tableKey(to.table)) ? [{ columns, to }] : [],
      ),
    };
  });
  return { tables, queries: parts.queries };
}

function withCheckedValues(
  columns: readonly ColumnSchema[],
  checks: readonly CatalogKeyRow[],
): readonly ColumnSchema[] {
  if (checks.length === 0) return columns;
  const valuesByColumn = new Map(
    checks.flatMap(({ definition }) => [...checkValues(definition ?? '')]),
  );
  return columns.map((column) => ({
    ...column,
    values: column.values ?? valuesByColumn.get(column.name),
  }));
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
