import type { FieldType } from '../../sql/field-type.ts';
import { decimalCell, integerCell } from '../result/number-cells.ts';
import type { Cell } from '../warehouse.ts';
import type { WireValues } from './limited-query.ts';

const typesByOid: Readonly<Record<number, FieldType>> = {
  16: 'boolean',
  20: 'integer',
  21: 'integer',
  23: 'integer',
  26: 'integer',
  700: 'decimal',
  701: 'decimal',
  1700: 'decimal',
  18: 'string',
  19: 'string',
  25: 'string',
  1042: 'string',
  1043: 'string',
  2950: 'string',
  1083: 'string',
  1082: 'date',
  1114: 'datetime',
  1184: 'datetime_tz',
};

/** `oid` is that of the type; for a domain, that of its base type. */
export function fieldType(oid: number): FieldType {
  return typesByOid[oid] ?? 'unknown';
}

/** Reads the server's text format, in time zone UTC and ISO date style. */
export function postgresCell(text: string | null, type: FieldType): Cell {
  if (text === null) return null;
  if (type === 'boolean') return text === 't';
  if (type === 'integer') return integerCell(BigInt(text));
  if (type === 'decimal') return decimalCell(text);
  return type === 'datetime_tz' ? text.replace(/^(\d{4,}-\d\d-\d\d) (.*)\+00$/, '$1T$2Z') : text;
}

export const postgresValues: WireValues = { fieldType, cell: postgresCell };
