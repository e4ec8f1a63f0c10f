import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { NumberPlace, StatementContext } from '../context.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import { isOfCalendar, type Spans } from '../numbers/calendar.ts';
import { isOfClock } from '../numbers/clock.ts';
import {
  isFirstFew,
  isPartOfRows,
  isRank,
  isRateBase,
  isScale,
  isStreak,
  isTail,
} from '../numbers/ranks.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import { isWholeEntry } from '../statements.ts';
import { countOfLimit, limitOfRows } from './thresholds.ts';

type OtherMeaning = Pick<GroundedClaim, 'status' | 'evidence' | 'derivation'>;

interface NumberInText {
  readonly number: WrittenNumber;
  readonly context: StatementContext;
  readonly place: NumberPlace;
  readonly tables: readonly QueryEvidence[];
  /** The text right before and right behind the number. */
  readonly before: string;
  readonly behind: string;
}

/** What a number means by the words beside it: an hour, a rank, the days of a month. */
export function meaningByWords(
  { number, context, place, tables, before, behind }: NumberInText,
  spans: Spans,
): OtherMeaning | undefined {
  if (isOfClock(number, behind, context.evidence))
    return { status: 'cell', evidence: [], derivation: 'clock' };
  const ranks = [
    isRank(number, place.header, tables),
    isScale(number, [before, behind], tables),
    isFirstFew(number, [before, behind], tables),
    isRateBase(number, before),
    isPartOfRows(number, before, tables),
    isStreak(number, behind, tables),
    isTail(number, before, tables),
  ];
  if (ranks.includes(true)) return { status: 'derived', evidence: [], derivation: 'rank' };
  return isOfCalendar(number, behind, spans)
    ? { status: 'derived', evidence: [], derivation: 'calendar' }
    : undefined;
}

/** What a number means by all rows: a limit of some, one of a list, the whole of a table. */
export function meaningByRows(
  { number, context, tables }: NumberInText,
  written: WrittenNumber,
): OtherMeaning | undefined {
  const limited = limitOfRows(number, context, tables) ?? countOfLimit(number, context, tables);
  if (limited !== undefined)
    return { status: 'derived', evidence: [{ query: limited.id }], derivation: 'limit of rows' };
  const listed = context.inOrder.get(written);
  if (listed !== undefined) return { status: 'cell', evidence: [listed] };
  return isWholeEntry(number, context.statement)
    ? { status: 'derived', evidence: [], derivation: 'whole' }
    : undefined;
}
