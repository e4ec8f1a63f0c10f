import type { Dialect, TableRef } from '../sql/dialect.ts';
import type { FieldType } from '../sql/field-type.ts';
import type { WarehouseCaller } from './identity/statement-identity.ts';
import type { StatementHistory } from './history/statement-history.ts';

export interface ColumnSchema {
  readonly name: string;
  /** The engine's own spelling, e.g. `numeric(10,2)`. */
  readonly nativeType: string;
  readonly type: FieldType;
  readonly nullable: boolean;
  readonly comment?: string | undefined;
  /** Values that the database declares (enum type, CHECK … IN); never sampled values. */
  readonly values?: readonly string[] | undefined;
}

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly to: { readonly table: TableRef; readonly columns: readonly string[] };
}

export interface TableSchema extends TableRef {
  readonly kind: 'table' | 'view' | 'materialized_view' | 'foreign_table';
  readonly comment?: string | undefined;
  /** In the order of the table. */
  readonly columns: readonly ColumnSchema[];
  /** As declared, columns in key order. */
  readonly primaryKey?: readonly string[] | undefined;
  readonly uniqueKeys: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
  /**
   * Changes when the rows change (a file hash, statistics counters); undefined if the engine has
   * nothing like it.
   */
  readonly marker?: string | undefined;
  /** The engine's estimate, read without a scan; undefined if unknown. */
  readonly rowEstimate?: number | undefined;
  /** The size of the rows on disk, read without a scan; undefined if unknown. */
  readonly bytes?: number | undefined;
}

/** A file of the connection that could not be read. */
export interface UnreadFile {
  /** Its table, or what the names of its tables begin with. */
  readonly table: string;
  /** A sentence with the path. */
  readonly reason: string;
}

export interface WarehouseSchema {
  /** Sorted by catalog, schema, table. */
  readonly tables: readonly TableSchema[];
  /** Number of statements that the introspection sent. */
  readonly queries: number;
  readonly unreadFiles?: readonly UnreadFile[];
  /** Sentences about what was assumed of files that do not say it themselves. */
  readonly assumptions?: readonly string[];
}

export interface Scope {
  /** Undefined selects every schema except the system's. */
  readonly schemas?: readonly string[] | undefined;
}

export interface QueryLimits {
  /** The most rows to return. One more is fetched to find out if the result is truncated. */
  readonly maxRows: number;
  readonly timeoutMs: number;
  /**
   * The most bytes that the statement may read, where the engine can tell or limit that. Without
   * it, the limits of the connection count.
   */
  readonly maxBytes?: number | undefined;
  /**
   * Who asks, for the log of the warehouse. It stands in a comment of the statement, where the
   * engine keeps comments.
   */
  readonly asker?: string | undefined;
}

/**
 * Integers beyond 2^53 and decimals that a double cannot hold are strings; dates are ISO 8601 text.
 */
export type Cell = string | number | boolean | null;

export interface QueryResult {
  readonly queryId: string;
  readonly columns: readonly { readonly name: string; readonly type: FieldType }[];
  readonly rows: readonly (readonly Cell[])[];
  readonly truncated: boolean;
  /**
   * What the engine said about the result, such as values that it could not convert. A message can
   * quote values.
   */
  readonly warnings: readonly string[];
  /** What the statement read, where the engine tells. */
  readonly cost?: StatementCost | undefined;
  readonly ms: number;
}

interface StatementCost {
  readonly rowsRead?: number | undefined;
  readonly bytesRead?: number | undefined;
  /** What the provider bills, which is never less than it read. */
  readonly bytesBilled?: number | undefined;
  /** Milliseconds of one slot of computation. */
  readonly slotMs?: number | undefined;
}

export interface PrivilegeReport {
  /** False if the login could write without ktx's own protections. */
  readonly readOnly: boolean;
  /** Sentences for `ktx status` and `ktx doctor`, e.g. `role etl may write to 12 tables`. */
  readonly findings: readonly string[];
  /** If it could write: SQL that creates a login that can only read what the connection reads. */
  readonly remedy?: readonly string[] | undefined;
}

/** An open read-only connection. Every statement passes the gate. */
export interface Warehouse {
  readonly dialect: Dialect;
  /** Name of the connection in `ktx.yaml`. */
  readonly connection: string;
  introspect(scope: Scope, signal: AbortSignal): Promise<WarehouseSchema>;
  /**
   * The catalog tables that a statement reads. Throws the gate's error if the statement would be
   * refused.
   */
  reads(sql: string): Promise<readonly TableRef[]>;
  query(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<QueryResult>;
  /** As `TableSchema.marker`, where it can be had without a statement. */
  marker(table: string): string | undefined;
  privileges(): Promise<PrivilegeReport>;
  /** Undefined if the engine remembers no statements of others, or ktx cannot read them. */
  readonly history?: StatementHistory | undefined;
  /** What 2^40 bytes that a statement reads cost, in US dollars; undefined: nothing. */
  readonly usdPerTib?: number | undefined;
  /**
   * The same warehouse as a caller asks it. Where `identity` of the connection says so, statements
   * run as their role or person, and those that nobody can be named for are refused.
   */
  as(caller: WarehouseCaller): Warehouse;
  close(): Promise<void>;
}
