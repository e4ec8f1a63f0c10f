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
  if (quarter !== undefined)
    return [
      cell,
      ...quarterSpellings(quarter[1] ?? '', quarter[2] ?? ''),
      ...(ordinals[Number(quarter[2]) - 1] ?? []),
    ];
  return dateSpellings(cell);
}

/** Weekdays and months by their short names. */
const longNames = new Map(
  locales.flatMap((locale) =>
    (['weekday', 'month'] as const).flatMap((part) =>
      Array.from({ length: 12 }, (_, index) => {
        const day = Date.UTC(2025, index, 6 + index);
        const [short = '', long = ''] = (['short', 'long'] as const).map((style) =>
          new Intl.DateTimeFormat(locale, { timeZone: 'UTC', [part]: style }).format(day),
        );
        return [short.toLowerCase().replace(/\.$/, ''), long] as const;
      }),
    ),
  ),
);

/** `new_checkout` as people write it. */
function plainSpellings(cell: string): readonly string[] {
  const words = cell.replaceAll(/(?<=[\p{L}\d])_(?=[\p{L}\d])/gu, ' ');
  const long = longNames.get(cell.toLowerCase().replace(/\.$/, ''));
  return [
    ...new Set([
      cell,
      words,
      ...initialsOf(cell),
      ...(long === undefined ? [] : [long]),
      ...bounds(cell),
      ...lastOfPath(cell),
    ]),
  ];
}

/** `MAU` for `monthly_active_users`. */
function initialsOf(cell: string): readonly string[] {
  const words = cell.split('_');
  const isName = words.length > 2 && words.every((word) => /^[a-z]+$/.test(word));
  return isName ? [words.map((word) => word.slice(0, 1).toUpperCase()).join('')] : [];
}

/** `search` for `/api/v2/search`. */
function lastOfPath(cell: string): readonly string[] {
  const last = /^(?:\/[\w.-]+)+\/(\p{L}[\p{L}_-]{3,})\/?$/u.exec(cell)?.[1];
  return last === undefined ? [] : [last];
}

/** `> 90 days` in words. */
function bounds(cell: string): readonly string[] {
  const [, sign, rest] = /^([<>≥≤])=?\s?(\d.*)$/u.exec(cell) ?? [];
  if (sign === undefined) return [];
  const words = /[>≥]/.test(sign)
    ? 'over|more than|above|über|mehr als|plus de|más de|più di|oltre|mais de|meer dan'
    : 'under|less than|below|unter|weniger als|moins de|menos de|meno di|minder dan';
  return words.split('|').map((word) => `${word} ${rest}`);
}

/** The text with one kind of dash, `18–29` as `18-29`; every character keeps its place. */
export function foldDashes(text: string): string {
  return text.replaceAll(/[‐‑‒–—]/g, '-');
}

/** Quarters by their number alone. */
const ordinals = [
  'first quarter|erste quartal|ersten quartal|erstes quartal|premier trimestre|1er trimestre|primer trimestre|primo trimestre|primeiro trimestre|eerste kwartaal|första kvartalet|第一季度|第1四半期|1분기',
  'second quarter|zweite quartal|zweiten quartal|zweites quartal|deuxième trimestre|2e trimestre|segundo trimestre|secondo trimestre|segundo trimestre|tweede kwartaal|andra kvartalet|第二季度|第2四半期|2분기',
  'third quarter|dritte quartal|dritten quartal|drittes quartal|troisième trimestre|3e trimestre|tercer trimestre|terzo trimestre|terceiro trimestre|derde kwartaal|tredje kvartalet|第三季度|第3四半期|3분기',
  'fourth quarter|vierte quartal|vierten quartal|viertes quartal|quatrième trimestre|4e trimestre|cuarto trimestre|quarto trimestre|quarto trimestre|vierde kwartaal|fjärde kvartalet|第四季度|第4四半期|4분기',
].map((names) => names.split('|'));

/** What people call a day that begins a quarter, where each row is a quarter. */
export function shortQuarters(cell: string): readonly string[] {
  const [, month] = /^\d{4}-(01|04|07|10)-01/.exec(cell) ?? [];
  const quarter = Math.ceil(Number(month) / 3);
  return month === undefined ? [] : [`Q${quarter}`, ...(ordinals[quarter - 1] ?? [])];
}

const weekdayNames = locales
  .filter((locale) => locale !== 'ja')
  .flatMap((locale) =>
    (['long', 'short'] as const).map(
      (weekday) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', weekday }),
    ),
  );

/** What people call a day, where each row is another day of a week. */
export function weekdaysOf(cell: string): readonly string[] {
  const [, date] = /^(\d{4}-\d\d-\d\d)(?:$|[T ])/.exec(cell) ?? [];
  const day = new Date(date ?? '');
  if (Number.isNaN(day.getTime())) return [];
  const names = weekdayNames.map((format) => format.format(day).replace(/\.$/, ''));
  // Shorter ones are words of other languages.
  const group = [0, 6].includes(day.getUTCDay()) ? weekendNames : workdayNames;
  const own = [...new Set(names)].filter((name) => name.length > 2 && !otherWord.test(name));
  return [...own, ...group];
}

const weekendNames =
  'weekend|week-end|wochenende|fin de semana|fim de semana|fine settimana|helgen|週末|周末|주말'.split(
    '|',
  );
const workdayNames =
  'weekdays|weekday|werktags|werktagen|werktage|jours ouvrés|días laborables|dias úteis|giorni feriali|werkdagen|vardagar|平日|工作日|평일'.split(
    '|',
  );

/** Short names that are words, too: `mar` is no name of a day here. */
const otherWord = /^(?:mar|mer|dim|gio|ven|man|son|dom|lun)$/iu;

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
  if (year === '' || Number.isNaN(date.getTime())) return plainSpellings(cell);
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
  const found = [...new Set(all)].filter(
    (spelling) => spelling.length > 2 || spelling.endsWith('月'),
  );
  if (knownSpellings.size >= mostKnown) knownSpellings.clear();
  knownSpellings.set(cell, found);
  return found;
}
