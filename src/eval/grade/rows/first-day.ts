import type { ComparableValue } from './result-table.ts';

const locales = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'pl'];

/** The months by their long and short names in some languages, without points. */
const months: ReadonlyMap<string, number> = new Map(
  locales.flatMap((locale) =>
    (['long', 'short'] as const).flatMap((form) =>
      Array.from({ length: 12 }, (_, month) => {
        const day = new Date(Date.UTC(2024, month, 15));
        const name = day.toLocaleDateString(locale, { month: form, timeZone: 'UTC' });
        return [name.toLowerCase().replace('.', ''), month + 1] as const;
      }),
    ),
  ),
);

type Parts = readonly [year?: string, month?: number | string, day?: number | string];

/** Each form with how its parts are read; undefined parts are the first. */
const forms: readonly (readonly [RegExp, (match: readonly string[]) => Parts | undefined])[] = [
  [/^(\d{4})$/, ([, year]) => [year]],
  [/^(\d{4})-?Q([1-4])$/i, ([, year, quarter]) => [year, firstMonth(quarter)]],
  [/^Q([1-4])[ /-]?(\d{4})$/i, ([, quarter, year]) => [year, firstMonth(quarter)]],
  [/^(\d{4}) Q([1-4])$/i, ([, year, quarter]) => [year, firstMonth(quarter)]],
  [/^(\d{4})[-/.](\d\d?)(?:[-/.](\d\d?))?$/, ([, year, month, day]) => [year, month, day]],
  [/^(\d{4})(\d\d)(\d\d)?$/, ([, year, month, day]) => [year, month, day]],
  [/^(\d\d?)[./](\d{4})$/, ([, month, year]) => [year, month]],
  [/^(\d\d?)\.(\d\d?)\.(\d{4})$/, ([, day, month, year]) => [year, month, day]],
  [/^(\d\d?)[/-](\d\d?)[/-](\d{4})$/, ([, a, b, year]) => ordered(year, Number(a), Number(b))],
  [/^(\p{L}+)\.?[ -](\d{4})$/u, ([, name, year]) => [year, monthOf(name)]],
  [/^(\d{4})[ -](\p{L}+)\.?$/u, ([, year, name]) => [year, monthOf(name)]],
  [
    /^(\p{L}+)\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})$/u,
    ([, name, day, year]) => [year, monthOf(name), day],
  ],
  [
    /^(\d\d?)\.?(?: de)? (\p{L}+)\.?(?: de)? (\d{4})$/u,
    ([, day, name, year]) => [year, monthOf(name), day],
  ],
];

/** The first day of the year, the quarter, the month or the day that a value names. */
export function firstDay(value: ComparableValue): string | undefined {
  const text = String(value ?? '').trim();
  for (const [pattern, read] of forms) {
    const match = pattern.exec(text);
    const [year, month = 1, day = 1] = (match && read(match)) ?? [];
    const isDay =
      Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
    if (year !== undefined && isDay)
      return [year, ...[month, day].map((part) => String(part).padStart(2, '0'))].join('-');
  }
  return undefined;
}

const firstMonth = (quarter = '1'): number => Number(quarter) * 3 - 2;

/** 0 is no month. */
const monthOf = (name = ''): number => months.get(name.toLowerCase()) ?? 0;

/** `07/24/2024` is certain; `07/04/2024` may be two days, and is none. */
function ordered(year: string | undefined, a: number, b: number): Parts | undefined {
  if (a > 12) return [year, b, a];
  return b > 12 || a === b ? [year, a, b] : undefined;
}
