/** A value of a statement of the shared state. */
type StateValue = string | number | null;

export type StateRow = Readonly<Record<string, unknown>>;

/**
 * A database that keeps shared state. Statements are those that SQLite and Postgres both
 * understand, with `$1`, `$2` for values. Each is atomic.
 */
export interface StateDatabase {
  /** Runs one statement and returns its rows: those of `RETURNING` too. */
  run(sql: string, values?: readonly StateValue[]): Promise<readonly StateRow[]>;
  /** True if a statement failed because there is such a row already. */
  isConflict(error: unknown): boolean;
  close(): Promise<void>;
}
