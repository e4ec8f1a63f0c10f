import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import {
  cellCandidates,
  type Derivable,
  derivedCandidates,
  type GroundingCell,
} from './candidates.ts';
import {
  allCitedTables,
  citedTables,
  namedRows,
  type NumberPlace,
  placeNumber,
  type StatementContext,
} from './context.ts';
import { withoutEmphasis } from './emphasis.ts';
import { fitsNumber } from './fits.ts';
import { type KnownNumber, statedValue } from './from-claims.ts';
import { withoutNames } from './names/mentions.ts';
import { previousWords, totalWords } from './numbers/number-words.ts';
import { standsInQuery } from './in-query.ts';
import { isMeantCell, namesNoRow } from './names/meant-cell.ts';
import { groundMembers } from './names/members.ts';
import { missingQueries } from './missing-queries.ts';
import { plausibleDerivation } from './plausible.ts';
import { readNumbers, underHeader, type WrittenNumber } from './numbers/read-numbers.ts';
import { isNoPercentage, periodDivisors, type Spans, spansOf } from './numbers/calendar.ts';
import { groundDates } from './dates/ground-dates.ts';
import { type Duration, findDurations, lasts } from './numbers/durations.ts';
import { meaningByRows, meaningByWords } from './rare/other-meaning.ts';
import { cellsInOrder } from './rare/in-order.ts';
import { isFrom, isPrevious, otherSide } from './rare/previous-rows.ts';
import { standsElsewhere } from './rare/stands-elsewhere.ts';
import { withSentenceBefore } from './rare/sentence-before.ts';
import { fromRows } from './rare/from-rows.ts';
import { splitStatements } from './statements.ts';
import { type BoundClaim, bindThroughClaims, noPercentage } from './through-claims.ts';
import { wrongDirections } from './directions/wrong-directions.ts';
import { speaksOfRows } from './unbound/speaks-of-rows.ts';
import { whyNot } from './why-not.ts';

/** A number, a date, a name, a direction or a citation in an answer, and what it rests on. */
export interface GroundedClaim {
  readonly kind: 'number' | 'date' | 'member' | 'citation' | 'direction';
  readonly text: string;
  /** Its place in the answer, in UTF-16 units. */
  readonly span: readonly [start: number, end: number];
  /**
   * `cell`: it stands in the rows or in the statement of a query. `derived`: code computes it from
   * cells. `question`: the question says it. `ungrounded`: nothing does.
   */
  readonly status: 'cell' | 'derived' | 'question' | 'ungrounded';
  readonly evidence: readonly GroundingCell[];
  /** How it follows from the cells: `(b - a) / a`. */
  readonly derivation?: string | undefined;
  /** Why it is ungrounded. */
  readonly reason?: string | undefined;
}

export interface AnswerToGround {
  readonly text: string;
  /** What the person has said. */
  readonly question: string;
  readonly evidence: readonly QueryEvidence[];
}

/** The time for a number grows with the answer: a model could hold ktx for minutes. */
const mostNumbers = 500;

function unchecked({ text, start, end }: WrittenNumber): GroundedClaim {
  const reason = `the answer has more than ${mostNumbers} numbers: this one was not checked`;
  return { kind: 'number', text, span: [start, end], status: 'ungrounded', evidence: [], reason };
}

/** Binds every number and date of an answer to what it comes from, and checks every citation. */
export function groundAnswer({
  text: written,
  question,
  evidence,
}: AnswerToGround): readonly GroundedClaim[] {
  const text = withoutEmphasis(written);
  const all = readNumbers(withoutNames(text, evidence));
  const numbers = all.slice(0, mostNumbers);
  const asked = readNumbers(question);
  const inQueries = evidence.flatMap(({ sql = '', columns }) => [
    sql,
    ...columns.map(({ name }) => name),
  ]);
  const known = [question, ...inQueries].join(' ');
  const contexts = splitStatements(text).map((statement): StatementContext => {
    const own = numbers.filter(
      ({ start, end }) => statement.start <= start && end <= statement.end,
    );
    return { statement, numbers: own, evidence, inOrder: cellsInOrder(statement, own, evidence) };
  });
  const answer = {
    evidence,
    question,
    asked,
    known,
    contexts,
    text,
    mentioned: countMentioned(text, evidence),
    spans: spansOf(evidence, `${question} ${text}`),
    durations: findDurations(text, numbers),
  };
  const bound = contexts.map((context, index) =>
    context.numbers.map((number) => {
      const own = groundNumber(number, context, answer);
      if (own.claim.status !== 'ungrounded' || number.sign !== undefined) return own;
      const wider = withSentenceBefore(contexts, index, text);
      if (wider === undefined) return own;
      const found = groundNumber(number, wider, answer);
      return found.claim.status === 'ungrounded' ? own : found;
    }),
  );
  const boundClaims = bindThroughClaims(bound, answer);
  const claims = boundClaims.map(({ claim }) => claim);
  const values = new Map(
    boundClaims.flatMap((own) => (own.known ? [[own.claim, own.known.value] as const] : [])),
  );
  const rest = all.slice(mostNumbers).map(unchecked);
  // The year of a date is no number beside it.
  const dates = groundDates({ text, question, evidence });
  const isInDate = ({ span: [start, end] }: GroundedClaim) =>
    dates.some(({ span }) => span[0] <= start && end <= span[1]);
  const statements = contexts.map(({ statement }) => statement);
  const isOfRows = (claim: GroundedClaim) => speaksOfRows(claim, { text, statements, evidence });
  const others = [...claims, ...rest].filter((claim) => !isInDate(claim) && isOfRows(claim));
  const members = groundMembers({ text, question, evidence }, others);
  const directions = wrongDirections({ statements, claims: others, evidence, values });
  const missing = missingQueries(text, evidence);
  return [...others, ...dates.filter(isOfRows), ...members, ...directions, ...missing].toSorted(
    (a, b) => a.span[0] - b.span[0],
  );
}

interface ReadAnswer {
  readonly evidence: readonly QueryEvidence[];
  /** The lengths of the periods that the queries and the answer name. */
  readonly spans: Spans;
  readonly durations: readonly Duration[];
  readonly text: string;
  /** How many rows of a query the text names, up to a place. */
  readonly mentioned: (query: string, end: number) => number;
  readonly question: string;
  /** The numbers of the question. */
  readonly asked: readonly WrittenNumber[];
  /** The question, the statements of the queries, and the names of their columns. */
  readonly known: string;
  readonly contexts: readonly StatementContext[];
}

function groundNumber(
  written: WrittenNumber,
  context: StatementContext,
  answer: ReadAnswer,
): BoundClaim {
  const { text, start, end } = written;
  const { statement, evidence } = context;
  const claim = { kind: 'number' as const, text, span: [start, end] as const };
  const tables = citedTables(context, written);
  const place = placeNumber(context, written, tables);
  const number = underHeader(written, place.header);
  const said = `${place.header} ${statement.text}`;
  const before = answer.text.slice(Math.max(0, start - 20), start);
  const bind = (grounded: GroundedClaim, known?: Omit<KnownNumber, 'start'>): BoundClaim => ({
    claim: grounded,
    number,
    said,
    before,
    statement,
    isNear: (query, row) =>
      !/\d/.test(text) ||
      (tables.some(({ id }) => id === query) && (row === undefined || place.isNear(query, row))),
    known: known && { ...known, start },
  });
  if (place.self !== undefined) {
    const { query, column, cell } = place.self;
    const table = tables.find(({ id }) => id === query);
    const row = table?.rows.findIndex((cells) => String(cells[column]) === cell);
    const name = table?.columns[column]?.name;
    return bind({ ...claim, status: 'cell', evidence: [{ query, row, column: name }] });
  }
  const listed = textOfList(statement, answer);
  const fits = fitsNumber(number, { statement: said, before, header: place.header, listed });
  const search = { number, context, place, tables, fits, answer };
  const behind = answer.text.slice(end, end + 24);
  if (isNoPercentage(number, behind, place.header))
    return bind({ ...claim, status: 'ungrounded', evidence: [], reason: noPercentage });
  const bindTo = (found: Derivable) =>
    bind(
      { ...claim, ...describeCandidate(found) },
      { ...found, kind: number.isPercent ? 'share' : found.kind },
    );
  const found = findCandidate(search);
  if (found !== undefined) return bindTo(found);
  const isAsked = answer.asked.some(({ readings }) => haveSameValue(number.readings, readings));
  const stated = statedValue(number);
  if (isAsked) return bind({ ...claim, status: 'question', evidence: [] }, stated);
  const inStatement = evidence.find((query) => standsInQuery(number, query));
  if (inStatement !== undefined)
    return bind({ ...claim, status: 'cell', evidence: [{ query: inStatement.id }] }, stated);
  const around = { number, context, place, tables, before, behind };
  const worded = meaningByWords(around, answer.spans);
  if (worded !== undefined)
    return bind({ ...claim, ...worded }, worded.derivation === 'calendar' ? stated : undefined);
  const rare = findDuration(search) ?? findRareCandidate(search, said);
  if (rare !== undefined) return bindTo(rare);
  const meant = meaningByRows(around, written);
  if (meant !== undefined)
    return bind({ ...claim, ...meant }, meant.status === 'cell' ? stated : undefined);
  const reason = whyNot(fits, tables, evidence);
  return bind({ ...claim, status: 'ungrounded', evidence: [], reason });
}

/** Other entries of a list may have the signs that tell what those of this one mean. */
function textOfList({ isEntry }: StatementContext['statement'], { text }: ReadAnswer) {
  return isEntry ? text : undefined;
}

function describeCandidate({ cells, derivation }: Derivable) {
  if (derivation === undefined) return { status: 'cell' as const, evidence: cells };
  return { status: 'derived' as const, evidence: cells, derivation };
}

interface CandidateSearch {
  readonly number: WrittenNumber;
  readonly context: StatementContext;
  readonly place: NumberPlace;
  readonly tables: readonly QueryEvidence[];
  readonly fits: (candidate: Derivable) => boolean;
  readonly answer: ReadAnswer;
}

function findCandidate(search: CandidateSearch): Derivable | undefined {
  const { number, context, place, tables, fits, answer } = search;
  const { statement } = context;
  const isCell = (candidate: Derivable) => isMeantCell(candidate, search) && fits(candidate);
  const isPlausible = plausibleDerivation({ number, statement, place, known: answer.known });
  if (namesNoRow(search)) return undefined;
  const mentioned = (query: string): number => answer.mentioned(query, statement.end);
  // What is computed may rest on every query that the statement cites.
  const cited = allCitedTables(context);
  const wider = cited.length > tables.length ? placeNumber(context, number, cited) : place;
  return (
    cellCandidates(tables, place.isNear).find(isCell) ??
    (previousWords.test(statement.text) || isFrom(number, statement)
      ? cellCandidates(tables, isPrevious(tables, place)).find(isCell)
      : undefined) ??
    cellCandidates(tables, otherSide(tables, search)).find(isCell) ??
    derivedCandidates(cited, { ...wider, mentioned })
      .filter(isPlausible)
      .find(fits) ??
    sumOfOthers(search, cited)
  );
}

/** `Together 525,005, or 43.6 % of all 1,204,880 [q2]`: the sum is of a query cited before. */
function sumOfOthers(
  { number, context: { statement, evidence }, fits }: CandidateSearch,
  cited: readonly QueryEvidence[],
): Derivable | undefined {
  const isLong = number.text.replaceAll(/\D/g, '').length > 3 && !number.isYear;
  if (!isLong || !totalWords.test(statement.text)) return undefined;
  const others = evidence.filter((query) => !cited.includes(query));
  return derivedCandidates(others, {
    isNear: () => true,
    named: () => undefined,
    mentioned: () => 0,
  })
    .filter(({ derivation }) => derivation === 'sum')
    .find(fits);
}

/** What no words explain, and chance neither. */
function findRareCandidate(search: CandidateSearch, said: string): Derivable | undefined {
  const { number, context, answer } = search;
  if (standsElsewhere(number, context.evidence)) return undefined;
  const divisors = periodDivisors(said, answer.spans);
  const tables = allCitedTables(context);
  const place = placeNumber(context, number, tables);
  const mentioned = (query: string): number => answer.mentioned(query, context.statement.end);
  const derived = derivedCandidates(tables, { ...place, mentioned });
  const behind = answer.text.slice(number.end, number.end + 24);
  const before = answer.text.slice(Math.max(0, number.start - 20), number.start);
  const { lead = '' } = context.statement;
  const topic = `${answer.question} ${lead}`;
  return fromRows(
    { number, said, before, topic, header: place.header },
    { tables, place, derived, behind, divisors, lead },
  );
}

/** `3 hours 5 minutes` is 185 minutes. */
function findDuration({ number, place, tables, answer }: CandidateSearch): Derivable | undefined {
  const own = answer.durations.find(({ start, end }) => start <= number.start && number.end <= end);
  if (own === undefined || number.isPercent || number.sign !== undefined) return undefined;
  const derived = derivedCandidates(tables, { ...place, mentioned: () => 0 });
  const found = [...cellCandidates(tables, place.isNear), ...derived].find(
    ({ value, kind }) => kind !== 'share' && lasts(own, value),
  );
  return found && { ...found, derivation: `${found.derivation ?? 'a'} as a duration` };
}

function countMentioned(text: string, evidence: readonly QueryEvidence[]) {
  const counts = new Map<string, number>();
  return (id: string, end: number): number => {
    const key = `${id} ${end}`;
    const query = evidence.find((table) => table.id === id);
    const count = counts.get(key) ?? (query && namedRows(query, text.slice(0, end))?.size) ?? 0;
    counts.set(key, count);
    return count;
  };
}

function haveSameValue(own: WrittenNumber['readings'], asked: WrittenNumber['readings']): boolean {
  return own.some(({ value }) => asked.some((reading) => reading.value === value));
}
