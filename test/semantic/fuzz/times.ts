export const grains = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Grain = (typeof grains)[number];

export interface Clock {
  readonly zone: string;
  readonly weekStart: 'monday' | 'sunday';
}

/** As a model writes it: `10 days`. */
export interface Span {
  readonly count: number;
  readonly unit: 'day' | 'week' | 'month' | 'quarter';
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The start of the period that a day, or a moment in UTC as the zone's clocks show it, lies in. */
export function cutTo(grain: Grain, time: string, { zone, weekStart }: Clock): string {
  const local = time.length > 10 ? clockOf(time, zone) : time;
  const day = local.slice(0, 10);
  const month = Number(day.slice(5, 7));
  switch (grain) {
    case 'hour':
      return `${local.slice(0, 13).padEnd(13, ' 00')}:00:00`;
    case 'day':
      return day;
    case 'week':
      return daysLater(day, -((new Date(day).getUTCDay() + (weekStart === 'monday' ? 6 : 0)) % 7));
    case 'month':
      return `${day.slice(0, 7)}-01`;
    case 'quarter':
      return `${day.slice(0, 4)}-${twoDigits(month - ((month - 1) % 3))}-01`;
    case 'year':
      return `${day.slice(0, 4)}-01-01`;
  }
  return grain satisfies never;
}

function clockOf(time: string, zone: string): string {
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(zone, format);
  return format.format(new Date(time));
}

/** A month after the 31st is the last of the next month. */
export function later(day: string, { count, unit }: Span): string {
  if (unit === 'day' || unit === 'week') return daysLater(day, unit === 'week' ? count * 7 : count);
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const first = new Date(Date.UTC(year, month - 1 + count * (unit === 'quarter' ? 3 : 1), 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  return `${first.toISOString().slice(0, 8)}${twoDigits(Math.min(date, last))}`;
}

export function nextPeriod(grain: Exclude<Grain, 'hour'>, start: string): string {
  return later(start, grain === 'year' ? { count: 12, unit: 'month' } : { count: 1, unit: grain });
}

/** True where no period of the first crosses the end of one of the second. */
export function liesIn(one: Grain, other: Grain): boolean {
  return one === other || (one !== 'week' && grains.indexOf(one) < grains.indexOf(other));
}

function daysLater(day: string, count: number): string {
  return new Date(Date.parse(day) + count * 86_400_000).toISOString().slice(0, 10);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
