import type { TableRef } from '../../sql/dialect.ts';
import type { ScanConfig } from '../config.ts';
import { isPersonal, isPersonalName, type ValueKind } from './value-kinds.ts';
import { columnsWithoutValues } from './value-dictionary.ts';

/** The settings that decide which values may be sent to a model. */
export type SendSettings = Pick<ScanConfig, 'send_samples' | 'no_values'>;

interface ColumnToSend {
  readonly table: TableRef;
  readonly column: string;
  /** Of its profile; undefined if it has none. */
  readonly kind?: ValueKind | undefined;
}

/** Whether values of the column may go to a model: not if samples are off, `scan.no_values` names it, or it looks personal. */
export function maySendValues(
  { send_samples: samples, no_values: rules }: SendSettings,
  { table, column, kind }: ColumnToSend,
): boolean {
  if (!samples || isPersonalName(column)) return false;
  if (kind !== undefined && isPersonal(kind)) return false;
  return columnsWithoutValues(table, [{ name: column }], rules).length === 0;
}
