import type { Dialect, TableRef } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';

export interface ColumnSchema {
  readonly name: string;
  /** The engine's own spelling, e.g. `numeric(10,2)`. */
  readonly nativeType: string;
  readonly type: FieldType;
  readonly nullable: boolean;
  readonly comment?: string | undefined;
  /** Values that the database declares (enum type, CHECK … IN). Never sampled. */
  readonly values?: readonly string[] | undefined;
}

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly to: { readonly table: TableRef; readonly columns: readonly string[] };
}

export interface TableSchema extends TableRef {
  readonly kind: 'table' | 'view' | 'materialized_view' | 'foreign_table';
  readonly comment?: string | undefined;
  /** In the table's own order. */
  readonly columns: readonly ColumnSchema[];
  /** Declared; ordered columns. */
  readonly primaryKey?: readonly string[] | undefined;
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Engine's change marker for the rows (file hash, statistics counters); undefined where the engine has none. */
  readonly marker?: string | undefined;
  /** The engine's own estimate, free of cost; undefined where unknown. */
  readonly rowEstimate?: number | undefined;
  /** What its rows take on the engine's disks, free of cost; undefined where unknown. */
  readonly bytes?: number | undefined;
}

export interface WarehouseSchema {
  /** Sorted by catalog, schema, table. */
  readonly tables: readonly TableSchema[];
  /** Statements that the introspection sent. */
  readonly queries: number;
}

export interface Scope {
  /** Only these schemas; undefined means every schema that is not the system's. */
  readonly schemas?: readonly string[] | undefined;
}

export interface QueryLimits {
  /** Rows returned at most; one more is fetched to know whether the result is truncated. */
  readonly maxRows: number;
  readonly timeoutMs: number;
}

/** A cell: integers beyond 2^53 and decimals that a double cannot hold come as strings; dates as ISO 8601 text. */
export type Cell = string | number | boolean | null;

export interface QueryResult {
  readonly queryId: string;
  readonly columns: readonly { readonly name: string; readonly type: FieldType }[];
  readonly rows: readonly (readonly Cell[])[];
  readonly truncated: boolean;
  readonly ms: number;
}

export interface PrivilegeReport {
  /** False where the login could write if ktx's own walls were absent. */
  readonly readOnly: boolean;
  /** Sentences for `ktx status` and `ktx doctor`, e.g. `role etl may INSERT into 12 tables`. */
  readonly findings: readonly string[];
  /** Where it could write: the statements that make a login which only reads what the connection reads. */
  readonly remedy?: readonly string[] | undefined;
}

/** An open, gated, read-only connection. Every statement passes the three walls. */
export interface Warehouse {
  readonly dialect: Dialect;
  /** Name of the connection in `ktx.yaml`. */
  readonly connection: string;
  introspect(scope: Scope, signal: AbortSignal): Promise<WarehouseSchema>;
  /** The tables of the catalog that a statement reads; throws what the gate would. */
  reads(sql: string): Promise<readonly TableRef[]>;
  query(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<QueryResult>;
  privileges(): Promise<PrivilegeReport>;
  close(): Promise<void>;
}
