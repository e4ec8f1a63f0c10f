import { type Period, type TimeGrain, timeGrains, type TruncateOptions } from '../sql/dialect.ts';

/** In units that every engine can add; a text like `1 year`. */
export function periodOf(text: string): Period {
  const [count = ''] = text.split(' ');
  return unitsOf(Number(count), grainOf(text));
}

export function grainOf(text: string): TimeGrain {
  const unit = text.split(' ')[1]?.replace(/s$/, '');
  return timeGrains.find((grain) => grain === unit) ?? 'day';
}

/** Weeks are days, quarters are months. */
export function unitsOf(count: number, grain: TimeGrain): Period {
  if (grain === 'week') return { count: count * 7, unit: 'day' };
  return grain === 'quarter' ? { count: count * 3, unit: 'month' } : { count, unit: grain };
}

/** The finer of two. */
export function finer(one: TimeGrain, other: TimeGrain): TimeGrain {
  return timeGrains.indexOf(one) < timeGrains.indexOf(other) ? one : other;
}

/** True where each period of the first lies in one of the second. */
export function liesIn(one: TimeGrain, other: TimeGrain): boolean {
  return one === other || (finer(one, other) === one && one !== 'week');
}

/** What the start of a period is. */
export function startType(grain: TimeGrain): TruncateOptions['type'] {
  return finer(grain, 'day') === 'day' || grain === 'day' ? 'date' : 'datetime';
}
