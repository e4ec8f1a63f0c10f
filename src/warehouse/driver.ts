import type { Dialect, TableRef } from '../sql/dialect.ts';
import type {
  Cell,
  PrivilegeReport,
  QueryLimits,
  QueryResult,
  Scope,
  WarehouseSchema,
} from './warehouse.ts';
import { failure } from './failure.ts';

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

/** Timers and the protocols count in 32 bits. */
export const largestNumber = 2 ** 31 - 1;

export interface Limits {
  readonly signal: AbortSignal;
  /** Default: two minutes, for what reads an engine's own catalogs. */
  readonly timeoutMs?: number;
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

/** For engines that ignore case and look only into their default schema; `database` may stand before a table or its schema. */
export function sameNames({ defaultSchema }: Dialect, database?: string): GatePolicy['means'] {
  const same = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && a.toLowerCase() === b?.toLowerCase();
  return ({ catalog, schema = defaultSchema, table: name }, table) => {
    const isHere =
      same(schema, table.schema) ||
      (catalog === undefined && same(schema, database) && same(defaultSchema, table.schema));
    return isHere && (catalog === undefined || same(catalog, database)) && same(name, table.table);
  };
}

/** How long an engine may take to stop; then its caller goes on without it. */
const graceMs = 1000;

/** Runs `work` under the caller's signal and the time limit, which it is told in whole milliseconds; `cancel` is called once when either ends first. */
export async function withinLimits<T>(
  { timeoutMs = 120_000, signal, cancel }: Limits & { cancel: () => void },
  work: (milliseconds: number) => Promise<T>,
): Promise<T> {
  const milliseconds = Math.min(Math.ceil(timeoutMs), largestNumber);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const overdue = Promise.withResolvers<never>();
  let grace: NodeJS.Timeout | undefined;
  const end = (): void => {
    cancel();
    grace = setTimeout(() => overdue.reject(stop.reason), graceMs);
  };
  stop.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work(milliseconds), overdue.promise]);
  } catch (error) {
    if (!stop.aborted) throw error;
    if (stop.reason === signal.reason) throw failure('query_cancelled', 'The query was cancelled.');
    throw failure(
      'query_timeout',
      `The query ran longer than ${timeoutMs / 1000} s and was cancelled.`,
    );
  } finally {
    stop.removeEventListener('abort', end);
    clearTimeout(grace);
  }
}

/** What an answer may hold: a process that keeps more, and writes it out, would run out of memory. */
export const largestAnswer = 64 * 2 ** 20;

/** Counts the bytes, characters or values of one answer; throws where they are too many to keep. */
export function answerMeter(): (size: number) => void {
  let total = 0;
  return (size) => {
    total += size;
    if (total > largestAnswer)
      throw failure(
        'query_failed',
        'The answer is too large: ask for fewer rows or columns, or shorter values.',
      );
  };
}

export function rowSize(cells: readonly Cell[]): number {
  return cells.reduce<number>(
    (size, cell) => size + (typeof cell === 'string' ? cell.length : 8),
    0,
  );
}

/** Integers that a double holds are numbers, others text. */
export function integerCell(value: bigint): Cell {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A decimal as a number where its digits survive a double; else, and where it is no number, as written. */
export function decimalCell(text: string): Cell {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return /e/i.test(text) || String(number) === (plain === '-0' ? '0' : plain) ? number : text;
}
