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
    'years?|yearly|annual\\p{L}*|jahre?n?|jährlich|ans?|années?|años?|anos?|ann[oi]|jaar|lat',
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
  return { unit, said: new RegExp(words, 'iu'), behind: new RegExp(`^\\s?${words}`, 'iu') };
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
export type Spans = Readonly<Partial<Record<TimeUnit, readonly number[]>>>;

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
  const days = [...lengths, ...between(datesIn(text))].flatMap((length) => [length, length + 1]);
  return {
    day: days,
    week: days.map((length) => length / 7).filter(Number.isInteger),
    month: lengths.flatMap((length) => {
      const months = Math.round(length / 30.44);
      return months > 0 && Math.abs(length - months * 30.44) <= 3 ? [months] : [];
    }),
  };
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
  const unit = units.find((known) => known.behind.test(behind))?.unit;
  if (unit === undefined || reading === undefined || reading.step > 1) return false;
  if (number.sign !== undefined || number.isPercent || number.isMoney) return false;
  return [...inLonger[unit], ...(spans[unit] ?? [])].some((count) =>
    number.readings.some(({ value }) => value === count),
  );
}

/** What a number is divided by, or multiplied by below 1, where words name a period for it. */
export function periodDivisors(said: string, spans: Spans): readonly number[] {
  const found = units.filter((known) => known.said.test(said)).map(({ unit }) => unit);
  const divisors = found.flatMap((unit) => [
    ...(spans[unit] ?? []),
    ...(unit === 'day'
      ? [...((spans.day ?? []).length > 0 ? [] : [28, 29, 30, 31]), 365, 366]
      : []),
    ...(unit === 'week' ? [4, 52] : []),
    ...(unit === 'month' ? [12, 6, 3] : []),
    ...(unit === 'hour' ? [24] : []),
    ...(unit === 'year' ? [1 / 12, 1 / 4, 1 / 52] : []),
  ]);
  return [...new Set(divisors)].filter((divisor) => divisor > 0 && divisor !== 1);
}

/** `42 % minutes` is a slip: what is counted in a unit of time is no percentage. */
export function isPercentOfTime({ isPercent }: WrittenNumber, behind: string): boolean {
  return (
    isPercent &&
    units.some(
      ({ unit, behind: words }) => /second|minute|hour|day/.test(unit) && words.test(behind),
    ) &&
    !/^\s?\p{L}+[\s-](?:over|on|auf|to|sur)(?!\p{L})/iu.test(behind)
  );
}
