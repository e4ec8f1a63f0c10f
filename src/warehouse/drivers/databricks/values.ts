import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** From a type as the engine writes it, such as `DECIMAL(10,2)` or `timestamp_ntz`. */
export function databricksFieldType(nativeType: string): FieldType {
  const [name = ''] = /^\w+/.exec(nativeType.toLowerCase()) ?? [];
  if (/^(?:tinyint|byte|smallint|short|int|integer|bigint|long)$/.test(name)) return 'integer';
  if (/^(?:decimal|dec|numeric|float|real|double)$/.test(name)) return 'decimal';
  if (name === 'boolean' || name === 'date') return name;
  if (name === 'timestamp_ntz') return 'datetime';
  if (name.startsWith('timestamp')) return 'datetime_tz';
  return /^(?:string|varchar|char)$/.test(name) ? 'string' : 'unknown';
}

/** A value of an answer: every value is text. */
export function databricksCell(text: string | null, type: FieldType): Cell {
  if (text === null) return null;
  if (type === 'boolean') return text === 'true';
  if (type === 'integer' && /^-?\d+$/.test(text)) return integerCell(BigInt(text));
  if (type === 'decimal') return decimalCell(text);
  return type === 'datetime' || type === 'datetime_tz' ? timeCell(text, type) : text;
}

/** `2021-01-01T10:00:00.000-08:00`, the offset being that of the session; UTC afterwards. */
function timeCell(text: string, type: 'datetime' | 'datetime_tz'): Cell {
  const {
    date,
    clock,
    fraction = '',
    zone,
  } = /^(?<date>\S+?)[T ](?<clock>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?(?<zone>Z|[+-]\d\d:\d\d)?$/.exec(
    text,
  )?.groups ?? {};
  if (date === undefined) return text;
  const digits = fraction.replace(/0+$/, '');
  const rest = digits === '' ? '' : `.${digits}`;
  if (type === 'datetime') return `${date} ${clock}${rest}`;
  const instant = Date.parse(`${date}T${clock}${zone ?? 'Z'}`);
  if (Number.isNaN(instant)) return text;
  return `${new Date(instant).toISOString().replace(/\.\d+Z$/, '')}${rest}Z`;
}
