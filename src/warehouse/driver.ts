import type { Dialect, TableRef } from '../sql/dialect.ts';
import type { Cell, PrivilegeReport, QueryLimits, QueryResult, Scope, WarehouseSchema } from './warehouse.ts';
import type { UserError } from '../lib/error.ts';
import { cancelled, timedOut } from './failure.ts';

export interface OpenContext {
  /** Name of the connection in `ktx.yaml`. */
  readonly connection: string;
  /** Absolute; relative paths of the configuration start here. */
  readonly projectDir: string;
  /** Absolute; made when something is put there. */
  readonly cacheDir: string;
  /** Resolves `env:NAME` and `file:path`. */
  readonly secrets: (reference: string) => string;
}

export type Rows = Pick<QueryResult, 'columns' | 'rows' | 'truncated'>;

/** An open connection behind walls 1 (engine) and 3 (protocol, limits, cancel) only: whoever calls `run` has asked the gate before. */
export interface DriverSession {
  readonly dialect: Dialect;
  readonly policy: GatePolicy;
  introspect(scope: Scope, signal: AbortSignal): Promise<WarehouseSchema>;
  run(sql: string, limits: QueryLimits, signal: AbortSignal): Promise<Rows>;
  privileges(): Promise<PrivilegeReport>;
  close(): Promise<void>;
}

/** What a statement uses, as its engine's parser (or the general analyzer) sees it. */
export interface StatementFacts {
  /** Lower case, without schema where that is the system's own. */
  readonly functions: readonly string[];
  /** As written, folded as the engine folds; names of CTEs in scope are left out. */
  readonly tables: readonly WrittenTable[];
}

export interface WrittenTable {
  readonly catalog?: string | undefined;
  readonly schema?: string | undefined;
  readonly table: string;
}

export interface GatePolicy {
  /** Lower case names that only compute. */
  readonly functions: ReadonlySet<string>;
  /** Throws `gate_refused` for more than one statement, a root or node that is not allowed, and what cannot be parsed. */
  inspect(sql: string): Promise<StatementFacts>;
  /** Whether the name as written means this table, by the engine's rules of case and default schema. */
  means(written: WrittenTable, table: TableRef): boolean;
}

/** Runs `work` under the caller's signal and the time limit; `cancel` is called once when either ends first. */
export async function withinLimits<T>(
  { timeoutMs, signal, cancel }: { timeoutMs: number; signal: AbortSignal; cancel: () => void },
  work: () => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw cancelled();
  let stopped: UserError | undefined;
  const stop = (reason: UserError): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    cancel();
  };
  const onAbort = (): void => stop(cancelled());
  const timer = setTimeout(() => stop(timedOut(timeoutMs)), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } catch (error) {
    throw stopped ?? error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Integers that a double holds are numbers, others text. */
export function integerCell(value: bigint): Cell {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A decimal as a number where its digits survive a double, else as written. */
export function decimalCell(text: string): Cell {
  const number = Number(text);
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return String(number) === (plain === '-0' ? '0' : plain) ? number : text;
}
