const locales = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'sv',
  'da',
  'pl',
  'cs',
  'ru',
  'tr',
  'id',
];

/** Short forms that are no word of another language, as `out`, `set` and `ago` are. */
const plainShort = 'jan|feb|mär|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez'.split('|');

const short = new Map([
  ...locales.flatMap((locale) => namesOf(locale, { month: 'short' })),
  ...(['sept', 'sep', 'okt', 'dez', 'mär'] as const).map(
    (name, index) => [name, [9, 9, 10, 12, 3][index] ?? 0] as const,
  ),
]);
/** As they stand alone; `marca` is the month in a Polish date, and a brand elsewhere. */
const alone = new Map(locales.flatMap((locale) => namesOf(locale, { month: 'long' })));
const inDates = locales.flatMap((locale) => namesOf(locale, { month: 'long', day: 'numeric' }));
const all = new Map([...short, ...alone, ...inDates]);

/** The names in small letters and without a point. */
function namesOf(
  locale: string,
  options: Intl.DateTimeFormatOptions,
): readonly (readonly [string, number])[] {
  const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options });
  return Array.from({ length: 12 }, (_, index) => {
    const parts = format.formatToParts(Date.UTC(2025, index, 1));
    const written = parts.find(({ type }) => type === 'month')?.value ?? '';
    return [written.toLowerCase().replace(/\.$/, ''), index + 1] as const;
  }).filter(([name]) => /^\p{L}{3,}$/u.test(name));
}

const anyOf = (names: Iterable<string>) =>
  [...names].toSorted((a, b) => b.length - a.length).join('|');

/** Matches the names that a date with a year may have. */
export const inFullDate = anyOf(all.keys());
/** Matches those of a day without a year. */
export const besideDay = anyOf([...alone.keys(), ...inDates.map(([name]) => name), ...plainShort]);
/** Matches those of a month without day and year. */
export const onItsOwn = anyOf(alone.keys());

/** The number of a month, 1 to 12. */
export function monthOf(name: string): number | undefined {
  return all.get(name.toLowerCase());
}
