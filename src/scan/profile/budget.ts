import type { TableSchema, Warehouse } from '../../warehouse/warehouse.ts';
import type { ScanConfig } from '../config.ts';

/** What one scan may spend on profiles. Undefined means no limit. */
export interface ScanBudget {
  readonly seconds?: number | undefined;
  /** Bytes as the engine counts a table; for a sample its share of them. */
  readonly bytes?: number | undefined;
}

/** In bytes: what one scan reads at most where the provider bills bytes and nobody said more. */
const billedScan = 10_000_000_000;

/** The budget of the configuration. */
export function scanBudget(
  { max_seconds: seconds, max_bytes: bytes }: ScanConfig,
  { usdPerTib }: Pick<Warehouse, 'usdPerTib'>,
): ScanBudget {
  return { seconds, bytes: bytes ?? (usdPerTib === undefined ? undefined : billedScan) };
}

export type BudgetTracker = ReturnType<typeof openBudget>;

/** The time starts now. */
export function openBudget(budget: ScanBudget, config: ScanConfig) {
  const started = performance.now();
  let bytes = 0;
  let isUntouched = true;
  return {
    isUntouched: () => isUntouched,
    secondsLeft: () => (budget.seconds ?? Infinity) - (performance.now() - started) / 1000,
    /**
     * Counts the table's bytes; false if the budget does not cover them. The first table is always
     * covered.
     */
    take(table: TableSchema): boolean {
      bytes += bytesToRead(table, config);
      const isCovered =
        isUntouched || (bytes <= (budget.bytes ?? Infinity) && this.secondsLeft() > 0);
      isUntouched = false;
      return isCovered;
    },
  };
}

/** What a scan is about to read, and what that costs. */
export interface PlannedReads {
  readonly tables: number;
  /** In bytes, as the engine counts tables. Counting joins reads some columns again. */
  readonly reads: number;
  readonly usd: number;
  /** The tables that the bytes of the budget do not cover. */
  readonly left: number;
}

/** The tables among those due that the bytes of a budget cover. */
export function coverTables(
  due: readonly TableSchema[],
  { bytes }: ScanBudget,
  config: ScanConfig,
): ReadonlySet<TableSchema> {
  const budget = openBudget({ bytes }, config);
  const covered = new Set<TableSchema>();
  for (const table of due) {
    if (!budget.take(table)) break;
    covered.add(table);
  }
  return covered;
}

/** What is read of the tables due where the provider bills bytes; undefined: nothing is. */
export function planReads(
  due: readonly TableSchema[],
  budget: ScanBudget,
  { config, usdPerTib }: { readonly config: ScanConfig; readonly usdPerTib: number },
): PlannedReads | undefined {
  const covered = coverTables(due, budget, config);
  if (covered.size === 0) return undefined;
  const reads = [...covered].reduce((sum, table) => sum + bytesToRead(table, config), 0);
  return {
    tables: covered.size,
    reads: Math.round(reads),
    usd: (reads / 2 ** 40) * usdPerTib,
    left: due.length - covered.size,
  };
}

/**
 * How much of a table a profile reads, in bytes. Estimated from rows and columns if the engine does
 * not count bytes.
 */
export function bytesToRead(
  { bytes, rowEstimate = 0, columns }: TableSchema,
  config: ScanConfig,
): number {
  const size = bytes ?? rowEstimate * columns.length * 8;
  const share = Math.min(
    1,
    config.sample_rows / Math.max(1, rowEstimate),
    config.table_bytes / Math.max(1, size),
  );
  return size * share;
}
