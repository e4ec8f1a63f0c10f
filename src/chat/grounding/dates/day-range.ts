/** A stretch of time, in days since 1970; `until` is the first day behind it. */
export interface DayRange {
  readonly from: number;
  readonly until: number;
}

const dayLength = 86_400_000;

/** A day, a month without `day`, a year without `month`. Undefined for what no calendar has. */
export function periodOf(year: number, month?: number, day?: number): DayRange | undefined {
  if (month === undefined) return span([year, 1, 1], [year + 1, 1, 1]);
  if (month < 1 || month > 12) return undefined;
  if (day === undefined) return span([year, month, 1], [year, month + 1, 1]);
  const from = dayNumber(year, month, day);
  const isDay = day >= 1 && new Date(from * dayLength).getUTCMonth() === month - 1;
  return isDay ? { from, until: from + 1 } : undefined;
}

export function quarterOf(year: number, quarter: number): DayRange {
  return span([year, quarter * 3 - 2, 1], [year, quarter * 3 + 1, 1]);
}

type Day = readonly [year: number, month: number, day: number];

function span(from: Day, until: Day): DayRange {
  return { from: dayNumber(...from), until: dayNumber(...until) };
}

/** Months beyond the twelfth are those of the next year. */
function dayNumber(year: number, month: number, day: number): number {
  return Date.UTC(year, month - 1, day) / dayLength;
}

/** The years that a period is in; of one without an end, those that a person may mean. */
export function yearsOf({ from, until }: DayRange): readonly number[] {
  const first = yearIn(Math.max(from, dayNumber(1950, 1, 1)));
  const last = yearIn(Math.min(until - 1, dayNumber(2100, 1, 1)));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

function yearIn(day: number): number {
  return new Date(day * dayLength).getUTCFullYear();
}

/** The month in which a period begins, 1 to 12. */
export function monthIn({ from }: DayRange): number {
  return new Date(from * dayLength).getUTCMonth() + 1;
}

export function overlaps(a: DayRange, b: DayRange): boolean {
  return a.from < b.until && b.from < a.until;
}
