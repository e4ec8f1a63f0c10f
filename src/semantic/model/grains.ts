import {
  type Period,
  type TimeGrain,
  timeGrains,
  type TruncateOptions,
} from '../../sql/dialect.ts';

/** What a query may cut a time into, the finest first: the grains of engines, and those that follow from `fiscal_year_start`. */
export const grains = [
  ...timeGrains.slice(0, -1),
  'fiscal_quarter',
  'year',
  'fiscal_year',
] as readonly Grain[];
export type Grain = TimeGrain | FiscalGrain;
type FiscalGrain = 'fiscal_quarter' | 'fiscal_year';

export function isFiscal(grain: Grain): grain is FiscalGrain {
  return grain === 'fiscal_quarter' || grain === 'fiscal_year';
}

/** In units that every engine can add; a text like `1 year`. */
export function parsePeriod(text: string): Period {
  const [count = ''] = text.split(' ');
  return periodOfGrains(Number(count), parsePeriodGrain(text));
}

export function parsePeriodGrain(text: string): TimeGrain {
  const unit = text.split(' ')[1]?.replace(/s$/, '');
  return timeGrains.find((grain) => grain === unit) ?? 'day';
}

/** Weeks are days, quarters are months. */
export function periodOfGrains(count: number, grain: Grain): Period {
  if (grain === 'week') return { count: count * 7, unit: 'day' };
  if (grain === 'fiscal_year') return { count, unit: 'year' };
  return grain === 'quarter' || grain === 'fiscal_quarter'
    ? { count: count * 3, unit: 'month' }
    : { count, unit: grain };
}

/** The finer of two. */
export function finer<Given extends Grain>(one: Given, other: Given): Given {
  return grains.indexOf(one) < grains.indexOf(other) ? one : other;
}

const months: Readonly<Partial<Record<Grain, number>>> = {
  quarter: 3,
  fiscal_quarter: 3,
  year: 12,
  fiscal_year: 12,
};

/** True where each period of the first lies in one of the second, by the month in which fiscal years begin. */
export function liesIn(one: Grain, other: Grain, yearStart: number): boolean {
  if (one === other) return true;
  const [length, whole] = [months[one], months[other]];
  if (length === undefined || whole === undefined)
    return finer(one, other) === one && one !== 'week';
  const begin = (grain: Grain): number => (isFiscal(grain) ? yearStart - 1 : 0);
  return whole % length === 0 && (begin(other) - begin(one)) % length === 0;
}

/** What the start of a period is. */
export function periodStartType(grain: Grain): TruncateOptions['type'] {
  return finer(grain, 'day') === 'day' || grain === 'day' ? 'date' : 'datetime';
}
