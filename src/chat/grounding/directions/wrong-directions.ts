import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import { timeOfRow } from '../candidates.ts';
import { columnKinds, isLabel } from '../columns.ts';
import { namedRows } from '../context.ts';
import type { GroundedClaim } from '../ground-answer.ts';
import type { Statement } from '../statements.ts';
import { downWords, upWords } from '../numbers/number-words.ts';
import { readNumbers } from '../numbers/read-numbers.ts';
import { numberOf } from '../values.ts';
import { wrongChanges } from './wrong-changes.ts';
import { wrongSuperlatives } from './wrong-superlatives.ts';
import {
  type DirectionWord,
  findDirectionsFrom,
  isDoubtful,
  onlyDirection,
} from './direction-words.ts';

interface DirectedAnswer {
  readonly statements: readonly Statement[];
  /** Claims with numbers. */
  readonly claims: readonly GroundedClaim[];
  readonly evidence: readonly QueryEvidence[];
  /** What the claims are bound to, as exactly as the rows have it. */
  readonly values: ReadonlyMap<GroundedClaim, number>;
}

/** A number of the answer that the rows give. */
interface StatedNumber {
  readonly claim: GroundedClaim;
  /** Only numbers of one unit are compared: the name of a column, or `%`. */
  readonly unit: string;
  readonly value: number;
  /** Where it stands. */
  readonly place: string;
}

/** A number that is a cell of the rows. */
interface BoundCell extends StatedNumber {
  readonly query: QueryEvidence;
  readonly row: number;
}

/**
 * Words for directions that contradict the cells of their statement: `rose from 120 to 100`, or two
 * numbers of one column at times that the rows tell. Where anything is doubtful, nothing is said.
 */
export function wrongDirections(answer: DirectedAnswer): readonly GroundedClaim[] {
  return answer.statements.flatMap((statement, index) => {
    if (statement.cells.length > 0) return [];
    const found = directionsOf(statement, answer);
    if (found.length > 0) return found;
    const superlatives = wrongSuperlatives(statement, answer.evidence);
    if (superlatives.length > 0) return superlatives;
    const first = answer.statements[Math.max(0, index - 2)] ?? statement;
    const near = answer.claims.filter(
      ({ span }) => first.start <= span[0] && span[1] <= statement.end,
    );
    const valued = near.map((claim) => ({ claim, value: answer.values.get(claim) }));
    return valued
      .filter(({ claim }) => claim.span[0] >= statement.start)
      .flatMap((own) => wrongChanges(own, { statement, near: valued, evidence: answer.evidence }))
      .slice(0, 1);
  });
}

function directionsOf(statement: Statement, answer: DirectedAnswer): readonly GroundedClaim[] {
  {
    const directions = findDirectionsFrom(statement.text);
    if (directions.length === 0) return [];
    const own = answer.claims.filter(
      ({ span }) => statement.start <= span[0] && span[1] <= statement.end,
    );
    const cells = own.flatMap((claim) => boundCell(claim, answer.evidence) ?? []);
    const stated = [...cells, ...own.flatMap((claim) => computedShare(claim) ?? [])].toSorted(
      (a, b) => a.claim.span[0] - b.claim.span[0],
    );
    const marked = directions.flatMap((direction) => fromTo(statement, direction, stated) ?? []);
    if (marked.length > 0) return marked;
    return overTime(statement, own, cells) ?? byAmount(statement, own, answer.evidence) ?? [];
  }
}

function boundCell(
  claim: GroundedClaim,
  evidence: readonly QueryEvidence[],
): BoundCell | undefined {
  const [cell, ...others] = claim.evidence;
  const query = evidence.find(({ id }) => id === cell?.query);
  if (claim.kind !== 'number' || claim.status !== 'cell' || others.length > 0) return undefined;
  if (query === undefined || cell?.row === undefined || cell.column === undefined) return undefined;
  const index = query.columns.findIndex(({ name }) => name === cell.column);
  // A year says when something was.
  if (isLabel(columnKinds(query)[index])) return undefined;
  const value = numberOf(query.rows[cell.row]?.[index]);
  // A loss that fell may be one that became larger.
  if (value === undefined || value < 0) return undefined;
  const place = `${query.id}, row ${cell.row + 1}`;
  return { claim, query, row: cell.row, unit: cell.column, value, place };
}

/** A percentage that is computed, as it is written. */
function computedShare(claim: GroundedClaim): StatedNumber | undefined {
  const { kind, status, text, derivation = '' } = claim;
  if (kind !== 'number' || status !== 'derived' || !/[%％]/.test(text)) return undefined;
  const value = readNumbers(text)[0]?.readings[0]?.value;
  if (value === undefined || value < 0 || /^[-−+]/.test(text)) return undefined;
  return { claim, unit: '%', value, place: derivation };
}

const fromWord = /(?<!\p{L})(?:from|von|de|da|del?l?['’]?)\s+[^\p{L}\d]{0,4}$/iu;
const toWord = /(?<!\p{L})(?:to|auf|à|a|para)\s+[^\p{L}\d]{0,4}$/iu;

/** `fell from 100 to 120`, `ist von 100 auf 90 gestiegen`, `90, up from 100`. */
function fromTo(
  { text, start }: Statement,
  direction: DirectionWord,
  stated: readonly StatedNumber[],
): GroundedClaim | undefined {
  const around = text.slice(Math.max(0, direction.start - 12), direction.start);
  if (isDoubtful(around)) return undefined;
  for (const [index, first] of stated.entries()) {
    const before = text.slice(0, first.claim.span[0] - start);
    if (!fromWord.test(before)) continue;
    const begin = before.replace(fromWord, '').length;
    const second = secondOf({ text, start }, { direction, stated, index, begin });
    if (second?.unit === first.unit) return contradicted({ direction, start, first, second });
  }
  return undefined;
}

interface FromNumber {
  readonly direction: DirectionWord;
  readonly stated: readonly StatedNumber[];
  /** Of the number behind `from`. */
  readonly index: number;
  /** Where `from` begins in the statement. */
  readonly begin: number;
}

/** The number that the one behind `from` became, if the direction is about the two. */
function secondOf(
  { text, start }: Pick<Statement, 'text' | 'start'>,
  { direction, stated, index, begin }: FromNumber,
): StatedNumber | undefined {
  const textBetween = (from: number, to: number): string => text.slice(from, Math.max(from, to));
  const endOf = ({ claim }: StatedNumber): number => claim.span[1] - start;
  const firstEnd = (stated[index]?.claim.span[1] ?? 0) - start;
  const isBefore = direction.end <= begin && isClose(textBetween(direction.end, begin));
  const second = stated
    .slice(index + 1)
    .find(({ claim }) => isTo(textBetween(firstEnd, claim.span[0] - start)));
  if (second !== undefined) {
    const end = endOf(second);
    const isBehind = direction.start >= end && isClose(textBetween(end, direction.start));
    return isBefore || isBehind ? second : undefined;
  }
  const last = stated[index - 1];
  const isUpFrom = isBefore && begin - direction.end < 2 && last !== undefined;
  return isUpFrom && isOnlyUnit(textBetween(endOf(last), direction.start)) ? last : undefined;
}

/** What stands between two numbers, with `to` at its end. Brackets are left out. */
function isTo(between: string): boolean {
  const own = between.replaceAll(/\([^()]*\)/g, '');
  return own.length < 60 && !/[;:]/.test(own) && toWord.test(own);
}

/** Between a number and `, up from`: its unit, a citation, a comma. */
function isOnlyUnit(between: string): boolean {
  return /^[^;:\d\p{L}]{0,3}(?:\p{L}{1,12}[^;:\d\p{L}]{0,3})?$/u.test(
    between.replaceAll(/\[q\d+\]/g, ''),
  );
}

/** Nothing but a few words, or an amount without a comma, lies between a verb and its numbers. */
function isClose(between: string): boolean {
  return /^(?:[^,;:.!?\d]{0,30},?\s*|[^,;:!?]{0,30})$/.test(between);
}

/** Two cells of a column, and no other number, in rows whose times are known. */
function overTime(
  { text, start }: Statement,
  own: readonly GroundedClaim[],
  cells: readonly BoundCell[],
): readonly GroundedClaim[] | undefined {
  const direction = onlyDirection(text);
  const [first, second] = inTime(cells) ?? [];
  if (direction === undefined || first === undefined || second === undefined) return undefined;
  const isOfRows = (row: number | undefined) => row === first.row || row === second.row;
  const isAlone = own.every(
    ({ kind, status, evidence }) =>
      kind !== 'number' ||
      (status !== 'ungrounded' &&
        evidence.every(({ query, row }) => query === first.query.id && isOfRows(row))),
  );
  if (!isAlone || ![...(namedRows(first.query, text) ?? [])].every(isOfRows)) return undefined;
  const found = contradicted({ direction, start, first, second });
  return found && [found];
}

/** `fell by 20`, where the number is the difference of two cells whose times are known. */
function byAmount(
  { text, start }: Statement,
  own: readonly GroundedClaim[],
  evidence: readonly QueryEvidence[],
): readonly GroundedClaim[] | undefined {
  const direction = onlyDirection(text);
  const differences = own.filter(({ derivation = '' }) => /^[ab] - [ab]$/.test(derivation));
  const [amount, ...others] = differences;
  if (direction === undefined || amount === undefined || others.length > 0) return undefined;
  // `Orders rose, 20 below the plan` has another direction for the number.
  if ((direction.sign === 1 ? downWords : upWords).test(text)) return undefined;
  if (!isAmountOf(direction, amount, { text, start })) return undefined;
  const cells = amount.evidence.flatMap((cell) => {
    const claim = { ...amount, status: 'cell' as const, evidence: [cell] };
    return boundCell(claim, evidence) ?? [];
  });
  const pair = inTime(cells);
  if (pair === undefined) return undefined;
  const named = [...(namedRows(pair[0].query, text) ?? [])];
  const areOfPair = named.every((row) => pair.some((cell) => cell.row === row));
  if (named.length === 0 || !areOfPair) return undefined;
  const [first, second] = pair.map((cell): StatedNumber => {
    return { ...cell, claim: { ...cell.claim, text: String(cell.value) } };
  });
  const found = first && second && contradicted({ direction, start, first, second });
  return found && [found];
}

/** True for `fell by 20` and `um 20 gesunken`, without a sign. */
function isAmountOf(
  direction: DirectionWord,
  amount: GroundedClaim,
  { text, start }: Pick<Statement, 'text' | 'start'>,
): boolean {
  const [from, to] = [amount.span[0] - start, amount.span[1] - start];
  const between =
    direction.end <= from ? text.slice(direction.end, from) : text.slice(to, direction.start);
  return !/^[-−+]/.test(amount.text) && isClose(between);
}

/** Two cells of one column, the earlier one first; undefined where the rows do not tell. */
function inTime(cells: readonly BoundCell[]): readonly [BoundCell, BoundCell] | undefined {
  const [a, b, ...others] = cells;
  if (a === undefined || b === undefined || others.length > 0) return undefined;
  if (a.unit !== b.unit || a.query !== b.query) return undefined;
  const [timeOfA, timeOfB] = [timeOfRow(a.query, a.row), timeOfRow(b.query, b.row)];
  if (timeOfA === undefined || timeOfB === undefined || timeOfA === timeOfB) return undefined;
  return timeOfA < timeOfB ? [a, b] : [b, a];
}

interface Change {
  readonly direction: DirectionWord;
  /** Where the statement starts. */
  readonly start: number;
  readonly first: StatedNumber;
  readonly second: StatedNumber;
}

function contradicted({ direction, start, first, second }: Change): GroundedClaim | undefined {
  if (Math.sign(second.value - first.value) !== -direction.sign) return undefined;
  const told = [first, second].map(({ claim, place }) => `${claim.text} (${place})`);
  return {
    kind: 'direction',
    text: direction.text,
    span: [start + direction.start, start + direction.end],
    status: 'ungrounded',
    evidence: [first, second].flatMap(({ claim }) => claim.evidence),
    derivation: 'b - a',
    reason: `the rows say the opposite: from ${told.join(' to ')}`,
  };
}
