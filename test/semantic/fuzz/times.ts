/** The finest first. */
export const grains = [
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'fiscal_quarter',
  'year',
  'fiscal_year',
] as const;
export type Grain = (typeof grains)[number];

/** How a query and a dataset read times. */
export interface Clock {
  readonly zone: string;
  readonly weekStart: 'monday' | 'sunday';
  /** The month in which fiscal years begin. */
  readonly fiscal: number | undefined;
}

/** As a model writes it: `10 days`. */
export interface Span {
  readonly count: number;
  readonly unit: 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * The start of the period that a time lies in: a day, a time without a zone, or a moment (with a T)
 * as the zone's clocks show it.
 */
export function cutTo(grain: Grain, time: string, { zone, weekStart, fiscal = 1 }: Clock): string {
  const local = localTime(time, zone);
  const day = local.slice(0, 10);
  switch (grain) {
    case 'hour':
      return `${local.slice(0, 13)}:00:00`;
    case 'day':
      return day;
    case 'week':
      return daysLater(day, -((new Date(day).getUTCDay() + (weekStart === 'monday' ? 6 : 0)) % 7));
    case 'month':
    case 'quarter':
    case 'year':
      return monthsBegun(day, { length: lengths[grain], first: 1 });
    case 'fiscal_quarter':
    case 'fiscal_year':
      return monthsBegun(day, { length: lengths[grain], first: fiscal });
  }
  return grain satisfies never;
}

const lengths = { month: 1, quarter: 3, fiscal_quarter: 3, year: 12, fiscal_year: 12 } as const;

/** Back to the last month in which a period of some months begins. */
function monthsBegun(day: string, { length, first }: { length: number; first: number }): string {
  const month = Number(day.slice(5, 7));
  return later(`${day.slice(0, 7)}-01`, { count: -((month - first + 12) % length), unit: 'month' });
}

/** `YYYY-MM-DD HH:MM:SS`; of a moment, what the clocks of the zone show. */
export function localTime(time: string, zone: string): string {
  if (!time.includes('T')) return time.length === 10 ? `${time} 00:00:00` : time;
  if (zone === 'UTC') return time.slice(0, 19).replace('T', ' ');
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(zone, format);
  return format.format(new Date(time));
}

/**
 * A day, or a time without a zone, moved on. A month after the 31st is the last of the next month.
 */
export function later(time: string, { count, unit }: Span): string {
  const [day, clock] = [time.slice(0, 10), time.slice(10)];
  if (unit === 'hour')
    return new Date(Date.parse(`${localTime(time, 'UTC')}Z`) + count * 3_600_000)
      .toISOString()
      .slice(0, 19)
      .replace('T', ' ');
  if (unit === 'day' || unit === 'week')
    return `${daysLater(day, unit === 'week' ? count * 7 : count)}${clock}`;
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const first = new Date(
    Date.UTC(year, month - 1 + count * (unit === 'month' ? 1 : lengths[unit]), 1),
  );
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return `${first.toISOString().slice(0, 8)}${String(Math.min(date, last)).padStart(2, '0')}${clock}`;
}

export function nextPeriod(grain: Grain, start: string): string {
  const unit = grain === 'fiscal_year' ? 'year' : grain === 'fiscal_quarter' ? 'quarter' : grain;
  return later(start, { count: 1, unit });
}

/** True where no period of the first crosses the end of one of the second. */
export function liesIn(one: Grain, other: Grain, fiscal = 1): boolean {
  const [starts, whole] = [startsOf(one, fiscal), startsOf(other, fiscal)];
  if (starts !== undefined && whole !== undefined)
    return whole.every((month) => starts.includes(month));
  return one === other || (one !== 'week' && grains.indexOf(one) < grains.indexOf(other));
}

/** The months in which a period of months begins. */
function startsOf(grain: Grain, fiscal: number): readonly number[] | undefined {
  if (grain === 'hour' || grain === 'day' || grain === 'week') return undefined;
  const first = grain.startsWith('fiscal_') ? fiscal : 1;
  return Array.from(
    { length: 12 / lengths[grain] },
    (_, index) => (first - 1 + index * lengths[grain]) % 12,
  );
}

export function isFiscal(grain: Grain | undefined): boolean {
  return grain === 'fiscal_quarter' || grain === 'fiscal_year';
}

function daysLater(day: string, count: number): string {
  return new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10);
}
