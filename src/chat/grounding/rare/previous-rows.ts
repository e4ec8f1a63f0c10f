import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { NumberPlace, StatementContext } from '../context.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import type { Statement } from '../statements.ts';

/** The row before a named one: `the year before`. */
export function isPrevious(tables: readonly QueryEvidence[], { named }: NumberPlace) {
  return (query: string, row: number): boolean =>
    named(query)?.has(row + 1) === true &&
    tables.some(({ id, rows }) => id === query && hasTime(rows[row + 1]));
}

/** `slipped from 90 to 80 in April`: the first number is of the month before. */
export function isFrom({ start }: WrittenNumber, { text, start: begin }: Statement): boolean {
  return fromWord.test(text.slice(0, start - begin));
}

const fromWord = /(?<!\p{L})(?:from|von|de|da|dai|van|från|od|desde)\s+[€$£¥]?$/iu;

const hasTime = (row: readonly unknown[] | undefined): boolean =>
  row?.some((cell) => /^(?:19|20|21)\d\d(?:$|-)/.test(String(cell))) === true;

interface ComparedPlace {
  readonly number: WrittenNumber;
  readonly context: StatementContext;
  readonly place: NumberPlace;
}

/** Of more rows, any could be the one that is not named. */
const mostRows = 4;

/** `870 instead of 910`: what is compared stands in another row than what was named. */
export function otherSide(
  tables: readonly QueryEvidence[],
  { number, context: { statement }, place }: ComparedPlace,
) {
  const before = statement.text.slice(0, number.start - statement.start);
  const isSaid = againstOther.test(before);
  return (query: string, row: number): boolean =>
    isSaid &&
    !place.isNear(query, row) &&
    (place.named(query)?.size ?? 0) < 2 &&
    tables.some(({ id, rows }) => id === query && rows.length <= mostRows);
}

const againstOther =
  /(?<!\p{L})(?:instead of|rather than|compared (?:with|to)|against|versus|vs\.?|from|von|dai|dagli|dalle|desde|van|från|statt|anstatt|gegenüber|au lieu de|contre|en lugar de|en vez de|frente a|invece di|rispetto a|contro|in plaats van|tegenover|i stället för|zamiast|wobec|rispetto a(?:i|l|gli|lle|lla|d))\s(?:(?:the|les|los|las|den|die|der|dem|de|i|le|os|as)\s)?[€$£¥]?$/iu;
