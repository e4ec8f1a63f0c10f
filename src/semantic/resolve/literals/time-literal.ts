import { localTimeToUtc } from '../../../lib/time/time-zone.ts';

/** A time as a person writes it, as precise as it was written. */
export interface WrittenTime {
  readonly precision: 'year' | 'month' | 'day' | 'clock';
  /** `YYYY-MM-DD`; the first day of a month or year. */
  readonly day: string;
  /** `HH:MM:SS`. */
  readonly clock: string;
  /** Of a second, with its dot; empty for none. */
  readonly fraction: string;
  /** `+02:00`; `Z` for UTC; undefined if none was written. */
  readonly offset: string | undefined;
}

const timePattern =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)? ?(z|[+-]\d{2}(?::?\d{2})?)?)?)?)?$/i;

/**
 * Reads `2024`, `2024-02`, `2024-02-01`, `2024-02-01 10:00` and more; undefined if it is no such
 * time, or no day of the calendar.
 */
export function parseTime(text: string): WrittenTime | undefined {
  const match = timePattern.exec(text.trim());
  if (match === null) return undefined;
  const [, year = '', month, day, hour, minute = '00', second = '00', fraction = '', zone] = match;
  const written = {
    precision: precisionOf({ month, day, hour }),
    day: `${year}-${month ?? '01'}-${day ?? '01'}`,
    clock: `${hour ?? '00'}:${minute}:${second}`,
    fraction: fraction.replace(/\.?0+$/, ''),
    offset: zone === undefined ? undefined : fullOffset(zone),
  };
  return isInCalendar(written) ? written : undefined;
}

function precisionOf(parts: {
  readonly month: string | undefined;
  readonly day: string | undefined;
  readonly hour: string | undefined;
}): WrittenTime['precision'] {
  if (parts.hour !== undefined) return 'clock';
  if (parts.day !== undefined) return 'day';
  return parts.month === undefined ? 'year' : 'month';
}

/** `+2`, `+0200` and `z` as ISO has them. */
function fullOffset(zone: string): string {
  if (/^z$/i.test(zone)) return 'Z';
  const digits = zone.replace(':', '').slice(1).padEnd(4, '0');
  return `${zone.charAt(0)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** False for 30 February, 25 o'clock and offsets that no zone has. */
function isInCalendar({ day, clock, offset = 'Z' }: WrittenTime): boolean {
  const time = new Date(`${day}T${clock}Z`);
  if (Number.isNaN(time.getTime()) || time.toISOString() !== `${day}T${clock}.000Z`) return false;
  return !Number.isNaN(Date.parse(`2000-01-01T00:00:00${offset}`));
}

/** The local time as `YYYY-MM-DD HH:MM:SS.fff`, whatever zone was written. */
export function localText({ day, clock, fraction }: WrittenTime): string {
  return `${day} ${clock}${fraction}`;
}

/**
 * The instant in UTC, in the same form. Without an offset it is a time of the clocks in `timezone`.
 */
export function utcText(
  { day, clock, fraction, offset }: WrittenTime,
  timezone: string | undefined,
): string {
  if (offset !== undefined) {
    const instant = new Date(`${day}T${clock}${offset}`);
    return `${instant.toISOString().slice(0, 19).replace('T', ' ')}${fraction}`;
  }
  const local = `${day} ${clock}`;
  return `${timezone === undefined ? local : localTimeToUtc(local, timezone)}${fraction}`;
}
