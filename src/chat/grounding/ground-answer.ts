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
  hintedColumn,
  namedRows,
  type NumberPlace,
  placeNumber,
  type StatementContext,
} from './context.ts';
import { fitsNumber } from './fits.ts';
import { deriveFromClaims, type KnownNumber, statedValue } from './from-claims.ts';
import { withoutNames } from './names/mentions.ts';
import { previousWords, totalWords } from './numbers/number-words.ts';
import { standsInQuery } from './in-query.ts';
import { groundMembers } from './names/members.ts';
import { missingQueries } from './missing-queries.ts';
import { plausibleDerivation } from './plausible.ts';
import { readNumbers, underHeader, type WrittenNumber } from './numbers/read-numbers.ts';
import {
  isOfCalendar,
  isPercentOfTime,
  periodDivisors,
  type Spans,
  spansOf,
} from './numbers/calendar.ts';
import { groundDates } from './dates/ground-dates.ts';
import { type Duration, findDurations, lasts } from './numbers/durations.ts';
import { isPrevious } from './rare/previous-rows.ts';
import { standsElsewhere } from './rare/stands-elsewhere.ts';
import { fromRows } from './rare/from-rows.ts';
import { fromStated } from './rare/from-stated.ts';
import { isWholeEntry, splitStatements } from './statements.ts';
import { wrongDirections } from './directions/wrong-directions.ts';
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
  text,
  question,
  evidence,
}: AnswerToGround): readonly GroundedClaim[] {
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
    return { statement, numbers: own, evidence };
  });
  const answer = {
    evidence,
    asked,
    known,
    contexts,
    text,
    mentioned: countMentioned(text, evidence),
    spans: spansOf(evidence, `${question} ${text}`),
    durations: findDurations(text, numbers),
  };
  const bound = contexts.map((context) =>
    context.numbers.map((number) => groundNumber(number, context, answer)),
  );
  const claims = throughStated(throughOthers(bound), answer).map(({ claim }) => claim);
  const rest = all.slice(mostNumbers).map(unchecked);
  // The year of a date is no number beside it.
  const dates = groundDates({ text, question, evidence });
  const isInDate = ({ span: [start, end] }: GroundedClaim) =>
    dates.some(({ span }) => span[0] <= start && end <= span[1]);
  const others = [...claims, ...rest].filter((claim) => !isInDate(claim));
  const members = groundMembers({ text, question, evidence }, others);
  const statements = contexts.map(({ statement }) => statement);
  const directions = wrongDirections({ statements, claims: others, evidence });
  const missing = missingQueries(text, evidence);
  return [...others, ...dates, ...members, ...directions, ...missing].toSorted(
    (a, b) => a.span[0] - b.span[0],
  );
}

/** A claim with the value that it is bound to. */
interface BoundClaim {
  readonly claim: GroundedClaim;
  readonly number: WrittenNumber;
  readonly known?: KnownNumber | undefined;
  /** The statement, with what stands above the number. */
  readonly said: string;
}

/** What no cell gives may follow from the numbers beside it. */
function throughOthers(statements: readonly (readonly BoundClaim[])[]): readonly BoundClaim[] {
  let before: readonly BoundClaim[] = [];
  return statements.flatMap((own) => {
    const done = [...own];
    own.forEach((bound, index) => (done[index] = throughNeighbours(bound, [...before, ...done])));
    if (done.length > 0) before = done;
    return done;
  });
}

function throughNeighbours(bound: BoundClaim, around: readonly BoundClaim[]): BoundClaim {
  const { claim, number, said } = bound;
  if (claim.status !== 'ungrounded') return bound;
  const others = around.filter(({ known }) => known !== undefined);
  const known = others.flatMap((neighbour) => neighbour.known ?? []);
  const found = deriveFromClaims(number, { known, said });
  if (found === undefined) return bound;
  const evidence = others.flatMap((neighbour) => neighbour.claim.evidence).slice(0, 10);
  return deriveClaim(bound, { ...found, cells: evidence });
}

function deriveClaim(
  bound: BoundClaim,
  { value, derivation, cells }: Pick<Derivable, 'value' | 'derivation' | 'cells'>,
): BoundClaim {
  const { kind, text, span } = bound.claim;
  const { start, isPercent } = bound.number;
  return {
    ...bound,
    claim: { kind, text, span, status: 'derived', evidence: cells, derivation },
    known: { start, value, kind: isPercent ? 'share' : 'unknown' },
  };
}

/** What is left may follow from any numbers of the answer, where that is no coincidence. */
function throughStated(
  bounds: readonly BoundClaim[],
  { text, spans, evidence }: ReadAnswer,
): readonly BoundClaim[] {
  const done = [...bounds];
  for (const [index, bound] of bounds.entries()) {
    const { claim, number, said } = bound;
    if (claim.status !== 'ungrounded' || standsElsewhere(number, evidence)) continue;
    const known = done.flatMap((entry) => entry.known ?? []);
    const divisors = periodDivisors(said, spans);
    const found = fromStated(surroundings(number, said, text), {
      known,
      divisors,
      behind: text.slice(number.end, number.end + 24),
    });
    if (found !== undefined) done[index] = deriveClaim(bound, found);
  }
  return done;
}

function surroundings(number: WrittenNumber, said: string, text: string) {
  return { number, said, before: text.slice(Math.max(0, number.start - 20), number.start) };
}

interface ReadAnswer {
  readonly evidence: readonly QueryEvidence[];
  /** The lengths of the periods that the queries and the answer name. */
  readonly spans: Spans;
  readonly durations: readonly Duration[];
  readonly text: string;
  /** How many rows of a query the text names, up to a place. */
  readonly mentioned: (query: string, end: number) => number;
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
  const bind = (grounded: GroundedClaim, known?: Omit<KnownNumber, 'start'>): BoundClaim => ({
    claim: grounded,
    number,
    said,
    known: known && { ...known, start },
  });
  if (place.self !== undefined) {
    const { query, column, cell } = place.self;
    const table = tables.find(({ id }) => id === query);
    const row = table?.rows.findIndex((cells) => String(cells[column]) === cell);
    const name = table?.columns[column]?.name;
    return bind({ ...claim, status: 'cell', evidence: [{ query, row, column: name }] });
  }
  const fits = fitsNumber(number, {
    statement: said,
    before: answer.text.slice(Math.max(0, start - 20), start),
  });
  const search = { number, context, place, tables, fits, answer };
  const behind = answer.text.slice(end, end + 24);
  if (isPercentOfTime(number, behind))
    return bind({ ...claim, status: 'ungrounded', evidence: [], reason: 'it is no percentage' });
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
  if (isRank(number, place.header, tables))
    return bind({ ...claim, status: 'derived', evidence: [], derivation: 'rank' });
  if (isOfCalendar(number, behind, answer.spans))
    return bind({ ...claim, status: 'derived', evidence: [], derivation: 'calendar' }, stated);
  const rare = findDuration(search) ?? findRareCandidate(search, said);
  if (rare !== undefined) return bindTo(rare);
  if (isWholeEntry(number, statement))
    return bind({ ...claim, status: 'derived', evidence: [], derivation: 'whole' });
  const reason = whyNot(fits, tables, evidence);
  return bind({ ...claim, status: 'ungrounded', evidence: [], reason });
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
    (previousWords.test(statement.text)
      ? cellCandidates(tables, isPrevious(tables, place)).find(isCell)
      : undefined) ??
    derivedCandidates(cited, { ...wider, mentioned })
      .filter(isPlausible)
      .find(fits)
  );
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
  const around = surroundings(number, said, answer.text);
  return fromRows(around, { tables, place, derived, behind, divisors });
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

/** Results of more rows have something for any small number. */
const fewRows = 12;

/** A cell of the column that the words name, and of a row that the statement can mean. */
function isMeantCell(
  { cells: [cell], column, value }: Derivable,
  search: CandidateSearch,
): boolean {
  const { number, context, place, tables } = search;
  const query = tables.find(({ id }) => id === cell?.query);
  if (query === undefined || cell?.row === undefined || column === undefined) return true;
  const hint = hintedColumn(context, number, { query, header: place.header });
  if (hint !== undefined && hint !== column) return false;
  if (place.named(query.id) !== undefined || query.rows.length <= fewRows) return true;
  const isEnd = cell.row === 0 || cell.row === query.rows.length - 1;
  return isEnd || number.text.replaceAll(/\D/g, '').length >= 5 || isExtreme(query, column, value);
}

function isExtreme({ rows }: QueryEvidence, column: number, value: number): boolean {
  const values = rows.map((row) => Number(row[column]));
  return values.every((cell) => cell <= value) || values.every((cell) => cell >= value);
}

/** An entry beside others that name rows, and it names none: what it says is of no row. */
function namesNoRow({ context, place, tables, answer }: CandidateSearch): boolean {
  const { statement } = context;
  if (!statement.isEntry || place.hasNames || totalWords.test(statement.text)) return false;
  const last = answer.contexts.findLast((entry) => entry.statement.cells.length > 0);
  // The last row of a table is often its sum.
  if (last === context) return false;
  if (tables.every(({ rows }) => rows.length < 2)) return false;
  const entries = answer.contexts.filter((entry) => entry.statement.isEntry && entry !== context);
  return entries.some((entry) =>
    entry.numbers.some((number) => placeNumber(entry, number, tables).hasNames),
  );
}

/** The first column of many tables numbers the rows. */
function isRank(
  { text }: WrittenNumber,
  header: string,
  tables: readonly QueryEvidence[],
): boolean {
  const isHeader =
    /^(?:#|№|rank|rang|rango|ranking|place|platz|pos\.?|position|nr\.?|no\.?|順位|排名)$/iu;
  return (
    isHeader.test(header.trim()) &&
    tables.some(({ rows }) => /^\d{1,3}$/.test(text) && Number(text) <= rows.length)
  );
}

function haveSameValue(own: WrittenNumber['readings'], asked: WrittenNumber['readings']): boolean {
  return own.some(({ value }) => asked.some((reading) => reading.value === value));
}
