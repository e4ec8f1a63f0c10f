import { besideDay, inFullDate, monthOf, onItsOwn } from './month-names.ts';
import { type DayRange, periodOf, quarterOf } from './day-range.ts';

/** A day, a month or a quarter as an answer writes it. Years alone are numbers. */
export interface WrittenDate {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** What it may mean: `03/06/2025` is in March or in June. Empty without a year. */
  readonly periods: readonly DayRange[];
  /** Of one without a year: what it means in a year. */
  readonly inYear?: ((year: number) => DayRange | undefined) | undefined;
}

/** It has every day that a calendar knows. */
export const leapYear = 2024;

type Groups = Readonly<Record<string, string | undefined>>;
type Meaning = Pick<WrittenDate, 'periods' | 'inYear'>;

const year = '(?<year>(?:19|20)\\d\\d)(?!\\d)';
const monthIn = (names: string) => `(?<month>${names})(?!\\p{L})`;
const month = monthIn(inFullDate);
const day = '(?<day>\\d{1,2})(?:\\.|st|nd|rd|th|er|º)?';
const link = "(?:,?\\s+(?:de\\s+|del\\s+|of\\s+)?|[’'-])";
const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** The first form that fits a place of the text counts. */
const forms: readonly (readonly [pattern: string, read: (groups: Groups) => Meaning])[] = [
  ['(?<year>(?:19|20)\\d\\d)-(?<m>\\d\\d)-(?<day>\\d\\d)(?!\\d)', readParts],
  ['(?<year>(?:19|20)\\d\\d)-(?<m>0[1-9]|1[0-2])(?![-\\d])', readParts],
  ['(?<a>\\d{1,2})[./](?<b>\\d{1,2})[./](?<year>(?:19|20)\\d\\d)(?!\\d)', readEitherOrder],
  ['(?<![/.\\d])(?<m>0?[1-9]|1[0-2])/(?<year>(?:19|20)\\d\\d)(?!\\d)', readParts],
  [
    '(?<year>(?:19|20)\\d\\d)\\s?[年년]\\s?(?<m>\\d{1,2})[月월](?:\\s?(?<day>\\d{1,2})[日일])?',
    readParts,
  ],
  [`(?<![\\d.,])${day}${link}${month}${link}${year}`, readParts],
  [`(?<!\\p{L})${month}\\s${day},?\\s${year}`, readParts],
  [`(?<!\\p{L})${month}${link}${year}`, readParts],
  [`(?<!\\p{L})[QTK](?<quarter>[1-4])(?:\\s|/|-|\\sde\\s|\\sof\\s)?${year}`, readQuarter],
  [`(?<![\\d.,])(?<quarter>[1-4])\\.\\s(?:Quartal|kwartaal|kwartał)\\s${year}`, readQuarter],
  ['(?<year>(?:19|20)\\d\\d)[-\\s/]?[QT](?<quarter>[1-4])(?!\\d)', readQuarter],
  [`(?<![\\d.,])${day}\\s(?:de\\s|of\\s)?${monthIn(besideDay)}`, readWithoutYear],
  [`(?<!\\p{L})${monthIn(besideDay)}\\s${day}(?![\\d%]|[.,:]\\d|\\s?%)`, readWithoutYear],
  [`(?<!\\p{L})(?<before>${prepositions()})\\s${monthIn(onItsOwn)}`, readWithoutYear],
];

const patterns = forms.map(([pattern, read]) => ({ pattern: new RegExp(pattern, 'giu'), read }));

/** Words before a month that stands alone; without one `may` and `march` are verbs. */
function prepositions(): string {
  return [
    'in|for|of|since|until|till|through|during|from|to|and|between|im|für|seit|bis|vom|und',
    'en|de|au|et|entre|pour|desde|hasta|por|para|até|em|di|da|a|fino a|van|tot|från|till|od|do|w',
  ].join('|');
}

/** The dates of a text, in its order; code is left out. */
export function readDates(text: string): readonly WrittenDate[] {
  const visible = text.replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`|https?:\/\/\S+/g, blank);
  const found: WrittenDate[] = [];
  /** By place: 1 where a date stands. */
  const taken = new Uint8Array(text.length);
  for (const { pattern, read } of patterns)
    for (const match of visible.matchAll(pattern)) {
      const groups = match.groups ?? {};
      const skipped = groups['before'] === undefined ? 0 : groups['before'].length + 1;
      const [start, end] = [match.index + skipped, match.index + match[0].length];
      if (taken.subarray(start, end).includes(1)) continue;
      const meaning = read(groups);
      if (meaning.periods.length === 0 && meaning.inYear === undefined) continue;
      taken.fill(1, start, end);
      found.push({ text: text.slice(start, end), start, end, ...meaning });
    }
  return found.toSorted((a, b) => a.start - b.start);
}

function blank(found: string): string {
  return found.replaceAll(/[^\n]/g, ' ');
}

function readParts(groups: Groups): Meaning {
  const parts = [
    groups['year'],
    groups['m'] ?? String(monthOf(groups['month'] ?? '')),
    groups['day'],
  ];
  const [written, wanted, ownDay] = parts.map(number);
  const period = written === undefined ? undefined : periodOf(written, wanted, ownDay);
  return { periods: period === undefined ? [] : [period] };
}

function readEitherOrder({ a, b, year: written }: Groups): Meaning {
  const [first, second, own] = [a, b, written].map(Number);
  const readings = [periodOf(own ?? 0, second, first), periodOf(own ?? 0, first, second)];
  return { periods: readings.filter((period) => period !== undefined) };
}

function readQuarter({ year: written, quarter }: Groups): Meaning {
  return { periods: [quarterOf(Number(written), Number(quarter))] };
}

function readWithoutYear({ month: name = '', day: ownDay }: Groups): Meaning {
  const wanted = monthOf(name);
  const inYear = (own: number) =>
    wanted === undefined ? undefined : periodOf(own, wanted, number(ownDay));
  // English verbs begin with a small letter, and the months do not.
  const isVerb = /^(?:may|march)$/.test(name);
  return isVerb || inYear(leapYear) === undefined ? { periods: [] } : { periods: [], inYear };
}
