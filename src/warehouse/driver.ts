import type { Dialect } from '../sql/dialect.ts';
import type { GatePolicy } from './gate/policy.ts';
import type { StatementIdentity } from './identity/statement-identity.ts';
import type { StatementHistory } from './history/statement-history.ts';
import type {
  PrivilegeReport,
  QueryLimits,
  QueryResult,
  Scope,
  WarehouseSchema,
} from './warehouse.ts';

export interface OpenContext {
  /** Name of the connection in `ktx.yaml`. */
  readonly connection: string;
  /** Absolute; relative paths in the configuration start here. */
  readonly projectDir: string;
  /** Absolute; the driver creates it when it writes something there. */
  readonly cacheDir: string;
  /** Resolves `env:NAME` and `file:path`. */
  readonly secrets: (reference: string) => string;
  /** `scan`: tables are read once, so that an embedded engine keeps little of them in memory. */
  readonly workload?: 'scan' | undefined;
}

/** A column whose values may mean something else than they seem to. */
export interface DoubtfulColumn {
  readonly table: string;
  readonly column: string;
  /** A sentence; it quotes no value. */
  readonly text: string;
}

export type QueryRows = Pick<QueryResult, 'columns' | 'rows' | 'truncated'> &
  Partial<Pick<QueryResult, 'warnings' | 'cost'>>;

/** How a statement is run, and as whom. */
export interface RunLimits extends QueryLimits {
  /** Undefined: as the login. Only drivers whose `identity` is configurable get one. */
  readonly identity?: StatementIdentity | undefined;
}

/** What the engine says that a statement would read. */
export interface StatementEstimate {
  /** Undefined if the engine does not tell. */
  readonly bytes?: number | undefined;
  /** What the provider would bill for that, if it is more. */
  readonly bytesBilled?: number | undefined;
  readonly rows?: number | undefined;
  /** `upper`: no more than that; `guess`: from statistics. */
  readonly kind: 'exact' | 'upper' | 'guess';
}

/**
 * An open connection, behind wall 1 (the engine opens read-only) and wall 3 (protocol, limits,
 * cancel). Wall 2, the gate, is not in it: the caller of `run` must have checked the statement.
 */
export interface DriverSession {
  readonly dialect: Dialect;
  readonly policy: GatePolicy;
  /** The catalog of tables that name none, where a server has several. */
  readonly catalog?: string;
  introspect(scope: Scope, signal: AbortSignal): Promise<WarehouseSchema>;
  run(sql: string, limits: RunLimits, signal: AbortSignal): Promise<QueryRows>;
  /**
   * What the statement would read, without running it. Throws the engine's error for a statement
   * that it would not run.
   */
  readonly estimate?: (
    sql: string,
    signal: AbortSignal,
    identity?: StatementIdentity,
  ) => Promise<StatementEstimate>;
  /** True if `run` itself ends a statement that reads more than `maxBytes`. */
  readonly limitsBytes?: true;
  /** As `TableSchema.marker`, where it can be had without a statement. */
  readonly marker?: (table: string) => string | undefined;
  /** Answers that use such a column say so. */
  readonly doubts?: readonly DoubtfulColumn[];
  privileges(): Promise<PrivilegeReport>;
  /** Undefined if the engine remembers no statements of others, or ktx cannot read them. */
  readonly history?: StatementHistory | undefined;
  close(): Promise<void>;
}
