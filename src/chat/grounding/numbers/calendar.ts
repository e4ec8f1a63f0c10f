import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { WrittenNumber } from './read-numbers.ts';

const unitWords = {
  second: 'seconds?|sekunden|secondes?|segundos?|secondi|seconden',
  minute: 'minut\\p{L}*',
  hour: 'hours?|stunden?|heures?|horas?|or[ae]|uur|uren|timmar?|godzin\\p{L}*',
  day: [
    'days?|daily|tag|tage|tagen|täglich|jours?|d[ií]as?|giorn[oi]|dag|dagen|dagar|dni|dzień',
    'дней|дня|день',
  ].join('|'),
  week: [
    'weeks?|weekly|woche|wochen|wöchentlich|semaines?|semanas?|settiman[ae]|weken|veckor',
    'tygodni\\p{L}*',
  ].join('|'),
  month: [
    'months?|monthly|monate?n?|monatlich|mois|m[eê]s|meses|mes[ei]|maand|maanden|månad\\p{L}*',
    'miesi\\p{L}*',
  ].join('|'),
  quarter: 'quarters?|quartale?n?|trimestres?|trimestr[ei]|kwarta\\p{L}*',
  year: [
    'years?|yearly|annual\\p{L}*|ARR|jahre?n?|jährlich|ans?|années?|años?|anos?|ann[oi]|jaar|lat',
    'rok',
  ].join('|'),
};

type TimeUnit = keyof typeof unitWords;

const joined: Readonly<Partial<Record<TimeUnit, string>>> = {
  minute: '分钟?|분',
  hour: '時間|小时|시간',
  day: '日|天|일',
  month: 'か?月|个月|개월',
  year: '年|년',
};

const units = (Object.keys(unitWords) as TimeUnit[]).map((unit) => {
  const tail = joined[unit] === undefined ? '' : `|${joined[unit]}`;
  const words = `(?:(?<!\\p{L})(?:${unitWords[unit]})(?!\\p{L})${tail})`;
  return {
    unit,
    said: new RegExp(words, 'iu'),
    behind: new RegExp(`^(?:\\s(?:and a half|einhalb|et demi))?\\s?${words}`, 'iu'),
  };
});

/** What a calendar says: how many of a unit a longer one has. */
const inLonger: Readonly<Record<TimeUnit, readonly number[]>> = {
  second: [60, 3600, 86_400],
  minute: [60, 1440, 10_080, 40_320, 41_760, 43_200, 44_640, 525_600, 527_040],
  hour: [24, 720, 744, 8760, 8784],
  day: [365, 366],
  week: [52],
  month: [12],
  quarter: [],
  year: [],
};

/** How many of each unit a period has that a query or an answer names. */
export type Spans = Readonly<Partial<Record<TimeUnit | 'dayOfMonth', readonly number[]>>>;

/** The days of a month. */
const monthDays = [28, 29, 30, 31];

const dayLength = 86_400_000;

/** The lengths of the periods between the dates of each query: its limits, and its rows. */
export function spansOf(evidence: readonly QueryEvidence[], text: string): Spans {
  const lengths = evidence.flatMap(({ sql = '', rows }) => [
    ...between(datesIn(sql)),
    ...between(
      datesIn(
        rows
          .flat()
          .filter((cell) => typeof cell === 'string')
          .join(' '),
      ),
    ),
  ]);
  const years = evidence.flatMap(({ rows }) => yearsBetween(rows.map(yearOf)));
  const hasMonths = evidence.some(({ rows }) => rows.some((row) => row.some(isMonth)));
  const intervals = evidence.flatMap(({ sql = '' }) => intervalsIn(sql));
  const days = [...lengths, ...intervals, ...between(datesIn(text))].flatMap((length) => [
    length,
    length + 1,
  ]);
  return {
    day: days,
    dayOfMonth: hasMonths ? monthDays : [],
    year: [
      ...years,
      ...days.filter((length) => length > 300).map((length) => Math.floor(length / 365)),
    ],
    quarter: evidence.flatMap(({ rows }) => stepsBetween(rows, /^(\d{4})[-\s]?[QT](\d)$/i, 4)),
    week: [
      ...evidence.flatMap(({ rows }) => stepsBetween(rows, /^(\d{4})-?W(\d\d?)$/i, 52)),
      ...days.map((length) => length / 7).filter((weeks) => weeks > 2),
    ],
    month: lengths.flatMap((length) => {
      const months = Math.round(length / 30.44);
      return months > 0 && Math.abs(length - months * 30.44) <= 3 ? [months] : [];
    }),
  };
}

/** The days of `interval '90 days'` and of `current_date - 28`. */
function intervalsIn(sql: string): readonly number[] {
  const found = sql.matchAll(/interval\s+'?(\d{1,4})'?\s*(day|week|month|year)/gi);
  const plain = sql.matchAll(/current_date(?:\(\))?\s*-\s*(\d{1,4})\b/gi);
  return [
    ...[...found].map(([, count, unit = '']) => Number(count) * (daysOf[unit.toLowerCase()] ?? 1)),
    ...[...plain].map(([, count]) => Number(count)),
  ];
}

const daysOf: Readonly<Record<string, number>> = { week: 7, month: 30, year: 365 };

const isMonth = (cell: unknown): boolean =>
  typeof cell === 'string' && /^\d{4}-\d\d(?:-01)?$/.test(cell);

/** The year of a row that has one and no other. */
function yearOf(row: readonly unknown[]): number | undefined {
  const years = row.filter((cell) => /^(?:19|20|21)\d\d$/.test(String(cell)));
  return years.length === 1 ? Number(years[0]) : undefined;
}

/** From the first week or quarter of some rows to the last, in weeks or quarters. */
function stepsBetween(
  rows: QueryEvidence['rows'],
  label: RegExp,
  inYear: number,
): readonly number[] {
  const steps = rows.flatMap((row) =>
    row.flatMap((cell) => {
      const [, year, part] = label.exec(String(cell)) ?? [];
      return part === undefined ? [] : [Number(year) * inYear + Number(part)];
    }),
  );
  return steps.length < 2 ? [] : [Math.max(...steps) - Math.min(...steps)];
}

function yearsBetween(years: readonly (number | undefined)[]): readonly number[] {
  const known = [...new Set(years.filter((year) => year !== undefined))].toSorted((a, b) => a - b);
  const [first, last] = [known[0], known.at(-1)];
  return first === undefined || last === undefined || known.length > 40 ? [] : [last - first];
}

function datesIn(text: string): readonly number[] {
  return [...text.matchAll(/\b\d{4}-\d\d(?:-\d\d)?\b/g)]
    .map(([date]) => Date.parse(date.length === 7 ? `${date}-01` : date) / dayLength)
    .filter((day) => Number.isFinite(day));
}

/** The days from each date to the next, and from the first to the last. */
function between(days: readonly number[]): readonly number[] {
  const sorted = [...new Set(days)].toSorted((a, b) => a - b);
  if (sorted.length > 4) return [(sorted.at(-1) ?? 0) - (sorted[0] ?? 0)];
  return sorted.flatMap((day, index) => sorted.slice(index + 1).map((later) => later - day));
}

/** `June has 43,200 minutes`, or the number of days between the limits of the query. */
export function isOfCalendar(number: WrittenNumber, behind: string, spans: Spans): boolean {
  const [reading] = number.readings;
  const unit = workingDays.test(behind)
    ? 'day'
    : units.find((known) => known.behind.test(behind))?.unit;
  if (unit === undefined || reading === undefined || reading.step > 1) return false;
  if (number.sign !== undefined || number.isPercent || number.isMoney) return false;
  const ofMonth = unit === 'day' && wholeMonth.test(behind) ? [28, 29, 30, 31] : [];
  const ofWeek = workingDays.test(behind) ? [5] : [];
  return [...inLonger[unit], ...ofMonth, ...ofWeek, ...(spans[unit] ?? [])].some((count) =>
    number.readings.some(({ value }) => value === count),
  );
}

const wholeMonth = /^\s\p{L}+\s(?:of|in|im|des|de|di|du|van|w|i|would|will|ends?)(?!\p{L})/iu;
const workingDays =
  /^\s(?:weekdays|work(?:ing)? ?days|business days|werktage|arbeitstage)(?!\p{L})/iu;

const weekCounts: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, six: 6 };

/** A part of a year as a whole one. */
const paceWords =
  /(?<!\p{L})(?:pace|extrapolat\p{L}*|full[- ]year|year[- ]end|tempo|hochgerechnet|hochrechn\p{L}*|gesamtjahr\p{L}*|rythme|ritmo|extrapol\p{L}*|tempie|takt)(?!\p{L})|年換算|ペース|按此|추세/iu;

/** What a number is divided by, or multiplied by below 1, where words name a period for it. */
export function periodDivisors(said: string, spans: Spans): readonly number[] {
  const found = units.filter((known) => known.said.test(said)).map(({ unit }) => unit);
  const divisors = found.flatMap((unit) => [
    ...(spans[unit] ?? []),
    ...(unit === 'day'
      ? [...((spans.day ?? []).length > 0 ? (spans.dayOfMonth ?? []) : monthDays), 365, 366]
      : []),
    ...(unit === 'week' ? [4, 52] : []),
    ...(unit === 'month' ? [12, 6, 3] : []),
    ...(unit === 'hour' ? [24] : []),
    ...(unit === 'year' ? [1 / 12, 1 / 4, 1 / 52] : []),
  ]);
  const ofPace = paceWords.test(said)
    ? [
        ...(spans.day ?? []).filter((days) => days > 40 && days < 365).map((days) => days / 365),
        ...(spans.month ?? [])
          .filter((months) => months > 1 && months < 12)
          .map((months) => months / 12),
      ]
    : [];
  const weeks = /(?<!\p{L})(two|three|four|six|\d{1,2}) weeks/iu.exec(said)?.[1]?.toLowerCase();
  const ofWeeks = weeks === undefined ? [] : [7 * (weekCounts[weeks] ?? Number(weeks))];
  return [...new Set([...divisors, ...ofPace, ...ofWeeks])].filter(
    (divisor) => divisor > 0 && divisor !== 1,
  );
}

/** `42 % minutes`, `$42 %` and `4 % points` are slips: what has another unit is no percentage. */
export function isNoPercentage(
  { isPercent, text }: WrittenNumber,
  behind: string,
  header: string,
): boolean {
  if (!isPercent) return false;
  // In Turkish, the sign stands before the digits and nothing behind them.
  if (/^[-−+]?%.*[%％\p{L}]$/u.test(text)) return true;
  // An index counts from 100 and has no unit.
  if (/(?<!\p{L})index(?!\p{L})|=\s?100(?!\d)/iu.test(header)) return true;
  if (/^[-−+]?[€$£¥]/.test(text) || (/[%％]$/.test(text) && ownUnit.test(behind))) return true;
  const isTime = units.some(
    ({ unit, behind: words }) => /second|minute|hour|day/.test(unit) && words.test(behind),
  );
  return isTime && !/^\s?\p{L}+[\s-](?:over|on|auf|to|sur)(?!\p{L})/iu.test(behind);
}

const ownUnit =
  /^\s?(?:[%％]|(?:percentage|basis points?|bps?|pp|pts|points?|prozentpunkte?n?|puntos?|punti|pontos?|kg|km|t)(?!\p{L}))/iu;
