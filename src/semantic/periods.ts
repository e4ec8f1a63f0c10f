import type { Period } from '../sql/dialect.ts';

/** In units that every engine can add; a text like `1 year`. */
export function periodOf(text: string): Period {
  const [count = '', unit = ''] = text.split(' ');
  return periodsOf(Number(count), unit.replace(/s$/, ''));
}

/** Weeks are days, quarters are months. */
function periodsOf(count: number, grain: string): Period {
  if (grain === 'week') return { count: count * 7, unit: 'day' };
  if (grain === 'quarter') return { count: count * 3, unit: 'month' };
  const units = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;
  return { count, unit: units.find((unit) => unit === grain) ?? 'day' };
}
