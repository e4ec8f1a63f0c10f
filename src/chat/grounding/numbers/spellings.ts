const isoDate = /^(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ]|$)/;
const locales = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'sv', 'pl', 'ja'];

/** For the first of a month, and for other days. */
const formats = locales.flatMap((locale) =>
  (['long', 'short'] as const).map((month) => {
    const format = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat(locale, { timeZone: 'UTC', month, ...options });
    return {
      months: [format({ year: 'numeric' }), format({})],
      days: [format({ day: 'numeric', year: 'numeric' }), format({ day: 'numeric' })],
    };
  }),
);
const knownSpellings = new Map<string, readonly string[]>();
const mostKnown = 10_000;

/** A date or a quarter as people write it; any other text as it is. */
export function spellings(cell: string): readonly string[] {
  const quarter = /^(\d{4})[-\s/]?[QT]([1-4])$/i.exec(cell) ?? undefined;
  if (quarter !== undefined) return [cell, ...quarterSpellings(quarter[1] ?? '', quarter[2] ?? '')];
  return dateSpellings(cell);
}

function quarterSpellings(year: string, quarter: string): readonly string[] {
  const short = ['Q', 'T', 'K'].flatMap((letter) => [
    `${letter}${quarter} ${year}`,
    `${year}-${letter}${quarter}`,
    `${letter}${quarter}/${year}`,
    `${letter}${quarter} de ${year}`,
    `${letter}${quarter}`,
  ]);
  return [...short, `${quarter}. Quartal ${year}`, `${year} Q${quarter}`];
}

function dateSpellings(cell: string): readonly string[] {
  const [, year = '', month = '', day = '01'] = isoDate.exec(cell) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (year === '' || Number.isNaN(date.getTime())) return [cell];
  const known = knownSpellings.get(cell);
  if (known !== undefined) return known;
  const written = formats
    .flatMap(({ months, days }) => (day === '01' ? months : days))
    .map((format) => format.format(date));
  const isQuarter = day === '01' && Number(month) % 3 === 1;
  const numbers = [
    ...(day === '01' ? [`${year}-${month}`, `${month}/${year}`] : []),
    ...(isQuarter ? quarterSpellings(year, String(Math.ceil(Number(month) / 3))) : []),
  ];
  const all = [cell, `${year}-${month}-${day}`, ...numbers, ...written];
  const found = [...new Set(all)].filter((spelling) => spelling.length > 2);
  if (knownSpellings.size >= mostKnown) knownSpellings.clear();
  knownSpellings.set(cell, found);
  return found;
}
