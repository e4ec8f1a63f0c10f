import type { FieldType } from '../../../sql/field-type.ts';
import { decimalCell, doubleCell } from '../../result/number-cells.ts';
import type { Cell } from '../../warehouse.ts';

/** From the server's spelling, such as `timestamp(3) with time zone`. */
export function trinoFieldType(nativeType: string): FieldType {
  if (/^(?:bigint|integer|smallint|tinyint)$/.test(nativeType)) return 'integer';
  if (/^(?:decimal|double|real|number)\b/.test(nativeType)) return 'decimal';
  if (nativeType === 'boolean' || nativeType === 'date') return nativeType;
  if (/^timestamp\b/.test(nativeType))
    return nativeType.endsWith('with time zone') ? 'datetime_tz' : 'datetime';
  return /^(?:varchar|char|uuid|ipaddress|time)\b/.test(nativeType) ? 'string' : 'unknown';
}

/** A value of the server's JSON, in which numbers that a double cannot hold are their digits. */
export function trinoCell(value: unknown, type: FieldType): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return doubleCell(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  if (type === 'decimal') return decimalCell(value);
  if (type === 'datetime') return localTime(value);
  return type === 'datetime_tz' ? instant(value) : value;
}

const timePattern =
  /^(?<date>[+-]?\d{4,}-\d\d-\d\d) (?<clock>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?(?: (?<zone>.+))?$/;

/** `2024-02-29 10:00:00.120` without zeros at its end. */
function localTime(text: string): string {
  const { date, clock, fraction = '' } = timePattern.exec(text)?.groups ?? {};
  return date === undefined ? text : `${date} ${clock}${withDot(fraction)}`;
}

/** `2024-07-01 12:00:00.000 Europe/Berlin` in UTC; a text that is no such time stays. */
function instant(text: string): string {
  const { date, clock, fraction = '', zone } = timePattern.exec(text)?.groups ?? {};
  if (date === undefined || zone === undefined) return text;
  const wall = Date.parse(`${date}T${clock}Z`);
  const offset = Number.isNaN(wall) ? undefined : offsetOf(zone, wall);
  if (offset === undefined) return text;
  const utc = new Date(wall - offset).toISOString().replace(/\.\d+Z$/, '');
  return `${utc}${withDot(fraction)}Z`;
}

function withDot(fraction: string): string {
  const digits = fraction.replace(/0+$/, '');
  return digits === '' ? '' : `.${digits}`;
}

/** In milliseconds east of UTC, at a wall clock; undefined if there is no such zone. */
function offsetOf(zone: string, wall: number): number | undefined {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign !== undefined)
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  if (zone === 'UTC' || zone === 'Z') return 0;
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    // An hour that comes twice is taken for the first.
    return offsetAt(clock, wall - offsetAt(clock, wall - 86_400_000));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function offsetAt(clock: Intl.DateTimeFormat, at: number): number {
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return shown - Math.floor(at / 1000) * 1000;
}
