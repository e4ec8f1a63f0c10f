import type { Warehouse } from '../warehouse/warehouse.ts';
import type { ScanConfig } from './config.ts';
import type { ScanStore } from './scan-store.ts';

/** What every step of a scan needs. */
export interface ScanContext {
  readonly warehouse: Warehouse;
  readonly config: ScanConfig;
  readonly store: ScanStore;
  readonly signal: AbortSignal;
  /** Called before each statement is sent. */
  readonly onQuery: () => void;
}
