import type { TruncateOptions } from '../../sql/dialect.ts';
import { queryError } from '../query/errors.ts';
import type { Expr } from '../relational/expr.ts';
import type { ModelDataset } from './model.ts';
import { type Grain, isFiscal } from './grains.ts';

/** The month in which the fiscal years of a dataset begin; 1 where the grains ask for none. */
export function yearStartFor(
  { name, file, fiscalYearStart }: ModelDataset,
  grains: readonly (Grain | undefined)[],
): number {
  const fiscal = grains.find((grain) => grain !== undefined && isFiscal(grain));
  if (fiscal === undefined) return 1;
  if (fiscalYearStart !== undefined) return fiscalYearStart;
  const message = `${name} has no fiscal_year_start, so ${fiscal} means nothing for its times`;
  throw queryError(
    'fiscal_year',
    message,
    `Write fiscal_year_start: 4 into ${file}, or the month (1-12) in which its fiscal years begin.`,
  );
}

/** Start of the period in which a time lies. No engine knows fiscal ones: they are years and quarters of months that are moved. */
export function periodStart(
  of: Expr,
  grain: Grain,
  { yearStart, ...options }: TruncateOptions & { readonly yearStart: number },
): Expr {
  if (!isFiscal(grain)) return { kind: 'truncate', grain, of, options };
  const [calendar, count] =
    grain === 'fiscal_year'
      ? (['year', yearStart - 1] as const)
      : (['quarter', (yearStart - 1) % 3] as const);
  if (count === 0) return { kind: 'truncate', grain: calendar, of, options };
  const moved = (start: Expr, by: number): Expr => ({
    kind: 'add',
    of: start,
    period: { count: by, unit: 'month' },
    type: 'date',
  });
  // Of the first of a month, so that no day is cut to the length of another.
  const month: Expr = { kind: 'truncate', grain: 'month', of, options };
  const plain: TruncateOptions = { type: 'date', weekStart: options.weekStart };
  return moved(
    { kind: 'truncate', grain: calendar, of: moved(month, -count), options: plain },
    count,
  );
}
