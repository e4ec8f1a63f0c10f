import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, doubleCell, integerCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';
import type { ResultColumn } from './answers.ts';

const fieldTypes: Readonly<Record<string, FieldType>> = {
  float: 'decimal',
  real: 'decimal',
  double: 'decimal',
  decfloat: 'decimal',
  text: 'string',
  varchar: 'string',
  char: 'string',
  time: 'string',
  boolean: 'boolean',
  date: 'date',
  timestamp_ntz: 'datetime',
  timestamp_ltz: 'datetime_tz',
  timestamp_tz: 'datetime_tz',
};

/** The type for a name of the catalog (`NUMBER`) or of a result (`fixed`). */
export function snowflakeType(name: string, scale: number | null | undefined): FieldType {
  const type = name.toLowerCase();
  if (type === 'fixed' || type === 'number') return (scale ?? 0) === 0 ? 'integer' : 'decimal';
  return fieldTypes[type] ?? 'unknown';
}

const infinities: Readonly<Record<string, string>> = {
  inf: 'Infinity',
  '-inf': '-Infinity',
  nan: 'NaN',
};

/** A cell from the text of the API, in which every value is text. */
export function snowflakeCell(text: string | null, { type, scale }: ResultColumn): Cell {
  if (text === null) return null;
  const kind = type.toLowerCase();
  if (kind === 'boolean') return text === 'true' || text === '1';
  if (kind === 'date') return dateText(text);
  if (kind === 'time') return clockText(text);
  if (kind.startsWith('timestamp')) return timeText(text, kind);
  if (kind === 'real') return realCell(text);
  const field = snowflakeType(type, scale);
  if (field === 'integer' && /^-?\d+$/.test(text)) return integerCell(BigInt(text));
  return field === 'integer' || field === 'decimal' ? decimalCell(text) : text;
}

function realCell(text: string): Cell {
  const number = Number(text);
  return infinities[text.toLowerCase()] ?? (Number.isNaN(number) ? text : doubleCell(number));
}

const dayMs = 86_400_000;

/** Days since 1970-01-01. A text of another form is kept. */
function dateText(text: string): string {
  if (!/^-?\d{1,7}$/.test(text)) return text;
  return isoDate(Number(text) * dayMs) ?? text;
}

/** Seconds since midnight, with a fraction. */
function clockText(text: string): string {
  const [, seconds, fraction = ''] = /^(\d{1,5})(?:\.(\d+))?$/.exec(text) ?? [];
  if (seconds === undefined) return text;
  return new Date(Number(seconds) * 1000).toISOString().slice(11, 19) + fractionText(fraction);
}

/**
 * Seconds since 1970-01-01T00:00:00, with a fraction of nine digits. After it, a TIMESTAMP_TZ has a
 * space and the offset of its zone in minutes plus 1440; the seconds are those of UTC.
 */
function timeText(text: string, kind: string): string {
  const [, sign = '', whole, fraction = ''] =
    /^(-?)(\d{1,12})(?:\.(\d{1,9}))?(?: \d+)?$/.exec(text) ?? [];
  if (whole === undefined) return text;
  const nanos = BigInt(`${sign}${whole}${fraction.padEnd(9, '0')}`);
  const perSecond = 1_000_000_000n;
  const part = ((nanos % perSecond) + perSecond) % perSecond;
  const ms = Number((nanos - part) / perSecond) * 1000;
  const date = isoDate(ms);
  if (date === undefined) return text;
  const clock = new Date(ms).toISOString().slice(-13, -5);
  const time = `${clock}${fractionText(String(part).padStart(9, '0'))}`;
  return kind === 'timestamp_ntz' ? `${date} ${time}` : `${date}T${time}Z`;
}

function fractionText(digits: string): string {
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '' : `.${kept}`;
}

/** Undefined for a moment that no calendar here has. */
function isoDate(ms: number): string | undefined {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/T.*$/, '');
}
