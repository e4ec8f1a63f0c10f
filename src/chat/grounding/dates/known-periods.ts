import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { monthOf } from './month-names.ts';
import { type DayRange, periodOf } from './day-range.ts';
import { readDates } from './read-dates.ts';

/** A time that a query speaks of. */
interface KnownRange extends DayRange {
  /** Which of its days are named; undefined if all are. */
  readonly days?: ReadonlySet<number> | undefined;
}

/** The times that a query speaks of. */
interface KnownPeriods {
  readonly periods: readonly KnownRange[];
  /** Months that its rows name without a year, 1 to 12. */
  readonly months: ReadonlySet<number>;
  /** True if its limits depend on the day on which it ran, so no date can be checked. */
  readonly isRelative: boolean;
}

const relative =
  /\b(?:current_(?:date|timestamp|time)|now\s*\(|getdate|sysdate|today\s*\(|curdate|localtimestamp|date\s*\(\s*'now')/i;

/** Columns and rows for a time that ends when the query runs. */
const untilNow = /(?:last|past|previous|letzte_?)_\d+_/i;

/** What looks back from each of the dates that a query names. */
const backwards =
  /\blag\s*\(|prev|prior|last_(?:year|month|quarter)|yoy|mom\b|qoq|interval|_(?:py|ly)\b/i;
const yearLength = 366;

const known = new WeakMap<QueryEvidence, KnownPeriods>();

export function knownPeriods(query: QueryEvidence): KnownPeriods {
  const found = known.get(query) ?? readPeriods(query);
  known.set(query, found);
  return found;
}

function readPeriods({ sql = '', columns, rows }: QueryEvidence): KnownPeriods {
  const cellsOf = columns.map((_, column) => rows.map((row) => row[column]));
  const ofNames = columns.flatMap(({ name }) => periodsIn(name.replaceAll('_', ' ')));
  const periods = [
    ...cellsOf.flatMap((cells) => seriesOf(cells) ?? []),
    ...limitsOf(sql),
    ...ofNames,
  ];
  const names = columns.map(({ name }) => name).join(' ');
  const looksBack = backwards.test(`${sql} ${names}`);
  const texts = rows.flat().filter((cell) => typeof cell === 'string');
  return {
    periods: looksBack ? periods.map(withYearBefore) : periods,
    months: new Set(
      [...texts, ...columns.flatMap(({ name }) => name.split(/[_\s]/))].flatMap(
        (text) => monthOf(text.trim().replace(/\.$/, '')) ?? [],
      ),
    ),
    isRelative: relative.test(sql) || untilNow.test(`${names} ${texts.join(' ')}`),
  };
}

function withYearBefore({ from, until }: KnownRange): KnownRange {
  return { from: from - yearLength, until };
}

/** The dates of a text; without any, its years. */
export function periodsIn(text: string): readonly DayRange[] {
  const dates = readDates(text).flatMap(({ periods }) => periods);
  if (dates.length > 0) return dates;
  const years = [...text.matchAll(/(?<!\d)(?:19|20)\d\d(?!\d)/g)];
  return years.flatMap(([year]) => periodOf(Number(year)) ?? []);
}

/**
 * The rows of a column speak of all that lies between the first and the last, also of a month
 * without a row; of days, where there is one for each week, only of those where a week begins or
 * ends.
 */
function seriesOf(cells: readonly unknown[]): KnownRange | undefined {
  const areYears = cells.every(isYear);
  const periods = cells.flatMap((cell) => {
    if (areYears) return periodOf(Number(cell)) ?? [];
    return typeof cell === 'string' ? periodsIn(cell) : [];
  });
  const starts = [...new Set(periods.map(({ from }) => from))].toSorted((a, b) => a - b);
  const [first, last] = [starts[0], starts.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const steps = starts.slice(1).map((start, index) => start - (starts[index] ?? start));
  const step = Math.min(yearLength, ...steps);
  const ends = periods.map(({ until }) => until);
  const until = Math.max(
    ends.reduce((most, end) => Math.max(most, end), last),
    last + (steps.length > 0 ? step : 1),
  );
  const days = new Set([
    ...starts.flatMap((start) => [start - 1, start]),
    ...ends.map((end) => end - 1),
    until - 1,
  ]);
  return step === 1 ? { from: first, until } : { from: first, until, days };
}

function isYear(cell: unknown): boolean {
  return Number.isInteger(cell) && Number(cell) >= 1950 && Number(cell) < 2100;
}

/** A date of a statement, with what stands before it. */
const literal =
  /(?<sign>[<>]=?|=|between|and|in\s*\()?\s*(?:date|timestamp|cast\s*\()?\s*'?(?<!\d)(?<date>(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?)(?![-\d])/gi;

/** The times that the limits of a statement let through, as far as its text tells. */
function limitsOf(sql: string): readonly KnownRange[] {
  const limits = [...sql.matchAll(literal)].flatMap(({ groups = {} }) => {
    const [period] = periodsIn(groups['date'] ?? '');
    return period === undefined ? [] : [{ sign: groups['sign'] ?? '', ...period }];
  });
  if (limits.length === 0) return [];
  const isStart = ({ sign }: { readonly sign: string }) => sign.startsWith('>');
  const isEnd = ({ sign }: { readonly sign: string }) => sign.startsWith('<');
  const from = limits.every(isEnd) ? -Infinity : Math.min(...limits.map((limit) => limit.from));
  const ends = limits.map((limit) => (limit.sign === '<' ? limit.from : limit.until));
  const until = limits.every(isStart) ? Infinity : Math.max(...ends);
  const days = new Set([...limits.map((limit) => limit.from), from, until - 1, until]);
  return [Number.isFinite(until - from) ? { from, until, days } : { from, until }];
}
