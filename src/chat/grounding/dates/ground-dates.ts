import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { AnswerToGround, GroundedClaim } from '../ground-answer.ts';
import { knownPeriods, periodsIn } from './known-periods.ts';
import { monthIn, overlaps, type DayRange, yearsOf } from './day-range.ts';
import { leapYear, readDates, type WrittenDate } from './read-dates.ts';

/** Binds each date of an answer to the rows or the limits of a query, or to the question. */
export function groundDates({
  text,
  question,
  evidence,
}: AnswerToGround): readonly GroundedClaim[] {
  const dates = readDates(text);
  if (dates.length === 0) return [];
  const asked = periodsIn(question);
  const withoutYear = readDates(question).filter(({ inYear }) => inYear !== undefined);
  const isAsked = (date: WrittenDate): boolean =>
    meanings(date, asked).length > 0 || withoutYear.some((asking) => isSameDay(date, asking));
  return dates.map((date): GroundedClaim => {
    const claim = { kind: 'date' as const, text: date.text, span: [date.start, date.end] as const };
    const query = evidence.find((table) => speaksOf(table, date))?.id;
    if (query !== undefined) return { ...claim, status: 'cell', evidence: [{ query }] };
    if (isAsked(date)) return { ...claim, status: 'question', evidence: [] };
    const reason = 'no row and no limit of a query has this date';
    return { ...claim, status: 'ungrounded', evidence: [], reason };
  });
}

function speaksOf(query: QueryEvidence, date: WrittenDate): boolean {
  const { periods, months, isRelative } = knownPeriods(query);
  if (isRelative) return true;
  const isKnown = periods.some((period) =>
    meanings(date, [period]).some(
      ({ from, until }) => until - from > 1 || (period.days?.has(from) ?? true),
    ),
  );
  const own = date.inYear?.(leapYear) ?? date.periods[0];
  return isKnown || (own !== undefined && months.has(monthIn(own)));
}

/** What a date may mean of what lies in some periods. */
function meanings(
  { periods, inYear }: WrittenDate,
  known: readonly DayRange[],
): readonly DayRange[] {
  return known.flatMap((period) => {
    const own =
      inYear === undefined ? periods : yearsOf(period).flatMap((year) => inYear(year) ?? []);
    // The first day behind a period is where it ends.
    const isEnd = (meaning: DayRange) =>
      meaning.from === period.until && meaning.until - meaning.from === 1;
    return own.filter((meaning) => overlaps(meaning, period) || isEnd(meaning));
  });
}

function isSameDay(date: WrittenDate, other: WrittenDate): boolean {
  const [own, asked] = [date, other].map(({ inYear }) => inYear?.(leapYear));
  return own !== undefined && asked !== undefined && overlaps(own, asked);
}
