import type { ColumnLabels } from '../context/catalog/column-labels.ts';
import type { Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import type { ScanStore } from './scan-store.ts';

/** What every step of a scan needs. */
export interface ScanContext {
  readonly warehouse: Warehouse;
  readonly config: ScanConfig;
  /** What people wrote about columns in dataset files. */
  readonly labels: ColumnLabels;
  readonly store: ScanStore;
  readonly signal: AbortSignal;
  /** Called before each statement is sent. */
  readonly onQuery: () => void;
}
