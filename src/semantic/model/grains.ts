import {
  type Period,
  type TimeGrain,
  timeGrains,
  type TruncateOptions,
} from '../../sql/dialect.ts';
import { queryError } from '../query/errors.ts';
import type { Expr } from '../relational/query-tree.ts';

/**
 * What a query can truncate a time to, finest first. The fiscal grains need `fiscal_year_start`.
 */
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

/** True for the grains that cut a day. A date has no times of day. */
export function isWithinDay(grain: Grain): boolean {
  return grain === 'second' || grain === 'minute' || grain === 'hour';
}

/** Parses a text like `1 year` into units that every engine can add. */
export function parsePeriod(text: string): Period {
  const [count = ''] = text.split(' ');
  return periodOfGrains(Number(count), parsePeriodGrain(text));
}

/** The unit of a text like `2 weeks`; `day` if the text has none. */
export function parsePeriodGrain(text: string): TimeGrain {
  const unit = text.split(' ')[1]?.replace(/s$/, '');
  return timeGrains.find((grain) => grain === unit) ?? 'day';
}

/** The length of `count` grains: weeks become days, quarters become months. */
export function periodOfGrains(count: number, grain: Grain): Period {
  if (grain === 'week') return { count: count * 7, unit: 'day' };
  if (grain === 'fiscal_year') return { count, unit: 'year' };
  return grain === 'quarter' || grain === 'fiscal_quarter'
    ? { count: count * 3, unit: 'month' }
    : { count, unit: grain };
}

/** The finer of two grains. */
export function finer<Given extends Grain>(first: Given, second: Given): Given {
  return grains.indexOf(first) < grains.indexOf(second) ? first : second;
}

const monthsPerGrain: Readonly<Partial<Record<Grain, number>>> = {
  quarter: 3,
  fiscal_quarter: 3,
  year: 12,
  fiscal_year: 12,
};

/**
 * True if every period of `grain` lies within one period of `coarser`. `yearStart`: first month of
 * fiscal years.
 */
export function liesIn(grain: Grain, coarser: Grain, yearStart: number): boolean {
  if (grain === coarser) return true;
  const months = monthsPerGrain[grain];
  const coarserMonths = monthsPerGrain[coarser];
  if (months === undefined || coarserMonths === undefined)
    return finer(grain, coarser) === grain && grain !== 'week';
  const firstMonth = (of: Grain): number => (isFiscal(of) ? yearStart - 1 : 0);
  return coarserMonths % months === 0 && (firstMonth(coarser) - firstMonth(grain)) % months === 0;
}

/** The type of a truncated time: `date` from days on, else `datetime`. */
export function periodStartType(grain: Grain): TruncateOptions['type'] {
  return finer(grain, 'day') === 'day' || grain === 'day' ? 'date' : 'datetime';
}

interface FiscalCalendar {
  readonly name: string;
  readonly file: string;
  readonly fiscalYearStart: number | undefined;
}

/**
 * The first month of a dataset's fiscal years; 1 if no grain is fiscal. Throws `fiscal_year` if it
 * is not declared.
 */
export function yearStartFor(
  { name, file, fiscalYearStart }: FiscalCalendar,
  wanted: readonly (Grain | undefined)[],
): number {
  const fiscal = wanted.find((grain) => grain !== undefined && isFiscal(grain));
  if (fiscal === undefined) return 1;
  if (fiscalYearStart !== undefined) return fiscalYearStart;
  throw queryError(
    'fiscal_year',
    `${name} has no fiscal_year_start, so its times have no ${fiscal}`,
    `Write fiscal_year_start: 4 into ${file}, or the month (1-12) in which its fiscal years begin.`,
  );
}

/**
 * The start of the period that a time lies in. Fiscal periods are calendar periods of times shifted
 * by months.
 */
export function periodStart(
  of: Expr,
  grain: Grain,
  { yearStart, ...options }: TruncateOptions & { readonly yearStart: number },
): Expr {
  if (!isFiscal(grain)) return { kind: 'truncate', grain, of, options };
  const calendarGrain = grain === 'fiscal_year' ? 'year' : 'quarter';
  const shift = grain === 'fiscal_year' ? yearStart - 1 : (yearStart - 1) % 3;
  if (shift === 0) return { kind: 'truncate', grain: calendarGrain, of, options };
  const addMonths = (start: Expr, count: number): Expr => ({
    kind: 'add',
    of: start,
    period: { count, unit: 'month' },
    type: 'date',
  });
  // Shift the first day of the month: a later day could be cut to the length of a shorter month.
  const month: Expr = { kind: 'truncate', grain: 'month', of, options };
  const dateOptions: TruncateOptions = { type: 'date', weekStart: options.weekStart };
  const shifted = addMonths(month, -shift);
  return addMonths(
    { kind: 'truncate', grain: calendarGrain, of: shifted, options: dateOptions },
    shift,
  );
}
