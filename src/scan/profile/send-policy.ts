import type { ColumnLabel } from '../../context/catalog/column-labels.ts';
import type { TableRef } from '../../sql/dialect.ts';
import type { ScanConfig } from '../config.ts';
import { groupOfName } from '../personal/column-names.ts';
import type { ColumnProfile } from './table-profile.ts';
import { selectColumns } from './value-dictionary.ts';

/** The settings that decide which values may be sent to a model. */
export type SendSettings = Pick<ScanConfig, 'send_samples' | 'no_values' | 'not_personal'>;

interface ColumnToSend {
  readonly table: TableRef;
  readonly column: string;
  /** What people wrote about it in dataset files. */
  readonly label: ColumnLabel;
  /** Undefined if it was not measured: then its name alone decides. */
  readonly profile?: Pick<ColumnProfile, 'personal'> | undefined;
}

/**
 * Whether values of the column may go to a model: not if samples are off, if `values: off` or
 * `scan.no_values` says so, or if it is personal.
 */
export function maySendValues(
  { send_samples: samples, no_values: rules, not_personal: exempt }: SendSettings,
  { table, column, label, profile }: ColumnToSend,
): boolean {
  const columns = [{ name: column }];
  if (!samples || label.valuesOff || selectColumns(table, columns, rules).length > 0) return false;
  if (label.pii !== undefined) return !label.pii;
  if (selectColumns(table, columns, exempt).length > 0) return true;
  return profile?.personal === undefined && groupOfName(column) === undefined;
}
