import type { DatabaseSync } from 'node:sqlite';
import { type ColumnLabels, noLabels } from '../context/catalog/column-labels.ts';
import type { TableRef } from '../sql/dialect.ts';
import type { Scope, TableSchema, Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import { bytesToRead, coverTables, scanBudget, type ScanBudget } from './profile/budget.ts';
import { planProfiles } from './profile/profile-tables.ts';
import { profiledKinds } from './scan.ts';
import { openScanStore } from './scan-store.ts';

interface ScanPlanOptions {
  readonly warehouse: Warehouse;
  readonly scope: Scope;
  readonly state: { readonly db: DatabaseSync };
  readonly config: ScanConfig;
  readonly labels?: ColumnLabels | undefined;
  readonly budget?: ScanBudget | undefined;
  readonly signal: AbortSignal;
}

/** What a scan would do with one table. */
interface PlannedTable extends TableRef, Pick<TableSchema, 'kind' | 'rowEstimate'> {
  /** The size of the table as the engine counts it; undefined if it does not. */
  readonly bytes: number | undefined;
  /**
   * `reused`: the profile of an earlier scan counts. `left`: beyond what one scan may read; the
   * next one goes on with it.
   */
  readonly outcome: 'reused' | 'profiled' | 'left';
  /** In bytes; less than the table's where a sample is read, 0 where nothing is. */
  readonly reads: number;
}

export interface ScanPlan {
  readonly tables: readonly PlannedTable[];
  /** In bytes, of all profiles. Counting the joins reads some columns again. */
  readonly reads: number;
  /** What the provider would bill for them; undefined if it bills no bytes. */
  readonly usd: number | undefined;
}

/**
 * What a scan would read, table by table. Reads the engine's catalogs, and no row. The time that a
 * scan may take does not count here.
 */
export async function planScan(options: ScanPlanOptions): Promise<ScanPlan> {
  const { warehouse, config, labels = noLabels, scope, signal } = options;
  const schema = await warehouse.introspect(scope, signal);
  const store = openScanStore(options.state.db, warehouse.connection);
  const planned = planProfiles(profiledKinds(schema, config), { warehouse, store, config, labels });
  const { bytes } = { ...scanBudget(config, warehouse), ...options.budget };
  const read = coverTables(planned.due, { bytes }, config);
  const due = new Set(planned.due);
  const tables = planned.tables.map((table): PlannedTable => {
    const outcome = read.has(table) ? 'profiled' : due.has(table) ? 'left' : 'reused';
    const { catalog, schema: of, table: name, kind, rowEstimate } = table;
    const reads = outcome === 'profiled' ? Math.round(bytesToRead(table, config)) : 0;
    return {
      catalog,
      schema: of,
      table: name,
      kind,
      rowEstimate,
      bytes: table.bytes,
      outcome,
      reads,
    };
  });
  return planOf(tables, warehouse);
}

/** What a first scan of these tables would read under these settings. */
export function planFirstScan(
  tables: readonly TableSchema[],
  config: ScanConfig,
  { usdPerTib }: Pick<Warehouse, 'usdPerTib'>,
): Omit<ScanPlan, 'tables'> {
  const reads = tables.reduce((sum, table) => sum + bytesToRead(table, config), 0);
  return { reads: Math.round(reads), usd: usdOf(reads, usdPerTib) };
}

function planOf(tables: readonly PlannedTable[], { usdPerTib }: Warehouse): ScanPlan {
  const reads = tables.reduce((sum, table) => sum + table.reads, 0);
  return { tables, reads, usd: usdOf(reads, usdPerTib) };
}

function usdOf(bytes: number, usdPerTib: number | undefined): number | undefined {
  return usdPerTib === undefined ? undefined : (bytes / 2 ** 40) * usdPerTib;
}
