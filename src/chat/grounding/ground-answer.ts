import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import {
  type Derivable,
  cellCandidates,
  derivedCandidates,
  type GroundingCell,
  type RowFilter,
} from './candidates.ts';
import { findMembers, type NamedMember, rowsOf, withoutMembers } from './members.ts';
import { aboutWords, comparisonWords, downWords } from './number-words.ts';
import { readNumbers, type WrittenNumber } from './read-numbers.ts';

/** A number or a citation in an answer, and what it rests on. */
export interface GroundedClaim {
  readonly kind: 'number' | 'citation';
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

/** Binds every number of an answer to what it comes from, and checks every citation. */
export function groundAnswer({
  text,
  question,
  evidence,
}: AnswerToGround): readonly GroundedClaim[] {
  const prose = withoutMembers(text, evidence);
  const asked = readNumbers(question);
  const statements = splitStatements(text);
  const numbers = readNumbers(prose);
  const namedInAll = new Set(findMembers(text, evidence).map(({ cell }) => cell)).size;
  const claims = numbers.map((number): GroundedClaim => {
    const statement = statements.find(
      ({ start, end }) => start <= number.start && number.end <= end,
    );
    return groundNumber(number, {
      text,
      statement: statement ?? { start: 0, end: text.length },
      first: numbers.find(({ start }) => start >= (statement?.start ?? 0))?.start ?? number.start,
      namedInAll,
      starts: numbers.map(({ start }) => start),
      asked,
      evidence,
      question,
    });
  });
  return [...claims, ...missingQueries(text, evidence)].toSorted((a, b) => a.span[0] - b.span[0]);
}

interface TextSpan {
  readonly start: number;
  readonly end: number;
}

interface NumberContext extends AnswerToGround {
  readonly statement: TextSpan;
  /** Where all numbers stand. */
  readonly starts: readonly number[];
  /** Where the first number of the statement stands. */
  readonly first: number;
  /** Names of rows in the whole answer. */
  readonly namedInAll: number;
  /** The numbers of the question. */
  readonly asked: readonly WrittenNumber[];
}

function groundNumber(number: WrittenNumber, context: NumberContext): GroundedClaim {
  const { text, start, end } = number;
  const { statement, evidence, asked } = context;
  const own = context.text.slice(statement.start, statement.end);
  const claim = { kind: 'number' as const, text, span: [start, end] as const };
  const ids = citedIds(own);
  const cited = evidence.filter(({ id }) => ids.includes(id));
  const tables = cited.length > 0 ? cited : evidence;
  const matching = matcher(number, {
    own,
    before: context.text.slice(Math.max(0, start - 20), start),
  });
  const members = findMembers(own, tables);
  const nearest = nearestMember(members, {
    position: start - statement.start,
    first: context.first - statement.start,
  });
  const isShared = nearest !== undefined && sharesMember(members, nearest, context);
  const [near, all] = [nearest === undefined ? [] : isShared ? members : [nearest], members].map(
    (names) => rowsOf(names, tables),
  );
  /** A small number is a difference of some two numbers by chance. */
  const compares = comparisonWords.test(own);
  const digits = text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
  const isPlausible = (derivation: string, value: number) =>
    derivation === 'count of rows'
      ? [0, members.length, context.namedInAll].some((named) => value === countOf(tables) - named)
      : compares || digits > 3 || /sum|mean|distinct/.test(derivation);
  const found =
    cellCandidates(tables, near ?? everyRow).find(matching) ??
    derivedCandidates(tables, all ?? everyRow)
      .filter(({ derivation = '', value }) => isPlausible(derivation, value))
      .find(matching);
  if (found !== undefined)
    return {
      ...claim,
      status: found.derivation === undefined ? 'cell' : 'derived',
      evidence: found.cells,
      ...(found.derivation !== undefined && { derivation: found.derivation }),
    };
  const isAsked = asked.some(({ readings }) =>
    readings.some(({ value }) => hasValue(number, value)),
  );
  if (isAsked) return { ...claim, status: 'question', evidence: [] };
  const inStatement = evidence.find((query) => standsInQuery(number, query));
  if (inStatement !== undefined)
    return { ...claim, status: 'cell', evidence: [{ query: inStatement.id }] };
  return {
    ...claim,
    status: 'ungrounded',
    evidence: [],
    reason: whyNot(matching, tables, evidence),
  };
}

const everyRow: RowFilter = () => true;

/** `A is ahead of B: 5 against 3`: several numbers behind the last of several names. */
function sharesMember(
  members: readonly NamedMember[],
  nearest: NamedMember,
  { statement, starts }: Pick<NumberContext, 'statement' | 'starts'>,
): boolean {
  const from = nearest.start + statement.start;
  const next = members.find(({ start }) => start > nearest.start);
  const to = next === undefined ? statement.end : next.start + statement.start;
  return (
    next === undefined &&
    members.length > 1 &&
    starts.filter((start) => start > from && start < to).length > 1
  );
}

function countOf([query]: readonly QueryEvidence[]): number {
  return query?.rows.length ?? 0;
}

/**
 * The member that a number belongs to: the last one before it, or, where the numbers stand before
 * the names (`5 for EMEA, 3 for APAC`), the next one.
 */
function nearestMember(
  members: readonly NamedMember[],
  { position, first }: { readonly position: number; readonly first: number },
): NamedMember | undefined {
  const before = members.findLast(({ start }) => start < position);
  const after = members.find(({ start }) => start > position);
  const comesFirst = (members[0]?.start ?? 0) > first;
  return comesFirst ? (after ?? before) : (before ?? after);
}

function whyNot(
  matching: (candidate: Derivable) => boolean,
  tables: readonly QueryEvidence[],
  evidence: readonly QueryEvidence[],
): string {
  if (evidence.length === 0) return 'no query was run';
  const elsewhere = cellCandidates(tables, everyRow).find(matching)?.cells[0];
  if (elsewhere?.row !== undefined)
    return `it stands in another row: ${elsewhere.query}, row ${elsewhere.row + 1}, ${elsewhere.column}`;
  const other = cellCandidates(evidence, everyRow).find(matching)?.cells[0];
  return other === undefined
    ? `nothing in ${tables.map(({ id }) => id).join(', ')} gives it`
    : `it stands in ${other.query}, which is not cited for it`;
}

function hasValue({ readings }: WrittenNumber, wanted: number): boolean {
  return readings.some(({ value }) => value === wanted);
}

/** Whether a candidate, rounded as the number is written, is that number. */
function matcher(
  { readings, isPercent, text }: WrittenNumber,
  { own, before }: { readonly own: string; readonly before: string },
): (candidate: Derivable) => boolean {
  const mayBeDown = downWords.test(own);
  const isRough = aboutWords.test(before);
  const near = (wanted: number, { value, step }: WrittenNumber['readings'][number]) => {
    const zeros = /0+(?=\D*$)/.exec(text)?.[0].length ?? 0;
    const size = isRough && Number.isInteger(value) ? step * 10 ** Math.min(zeros, 4) : step;
    const tolerance = size * (size > step ? 1 : 0.5) + Math.abs(wanted) * 1e-9;
    return (
      Math.abs(wanted - value) <= tolerance || (mayBeDown && Math.abs(-wanted - value) <= tolerance)
    );
  };
  return ({ value, isShare, derivation }) =>
    readings.some((reading) => {
      if (!isPercent)
        return (
          near(value, reading) && (derivation === undefined || !isShare || isRatio(value, reading))
        );
      return isShare && (near(value * 100, reading) || near(value, reading));
    });
}

/** A ratio of two numbers is written as such only with a digit behind the point, or as 2 times. */
function isRatio(value: number, { step }: { readonly step: number }): boolean {
  return Math.abs(value) >= 1 && step <= 1;
}

/** A filter of the query has the number; or, for a year, a text or date of its rows. */
function standsInQuery(number: WrittenNumber, { sql = '', rows }: QueryEvidence): boolean {
  const [reading] = number.readings;
  if (reading === undefined || number.isPercent) return false;
  const digits = String(Math.abs(reading.value));
  const isIn = (text: string) =>
    new RegExp(`(?<![\\d.])0*${digits.replace('.', '\\.')}(?![\\d]|\\.\\d)`).test(text);
  if (isIn(sql)) return true;
  return (
    number.isYear && rows.some((row) => row.some((cell) => typeof cell === 'string' && isIn(cell)))
  );
}

/** Sentences and lines; the row of a table is one. */
function splitStatements(text: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  const ends =
    /\n|(?<=[.!?…][*_)\]]*)(?:\s*\[q\d+(?:\s*,\s*q\d+)*\])?\s+(?=[\p{Lu}*_])|(?<=\][.!?])\s+|(?<=[。！？])/gu;
  let start = 0;
  for (const match of text.matchAll(ends)) {
    const end = match.index + match[0].length;
    spans.push({ start, end });
    start = end;
  }
  return [...spans, { start, end: text.length }];
}

function citedIds(text: string): readonly string[] {
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/gi)].flatMap(([, ids = '']) =>
    ids.toLowerCase().split(/\s*,\s*/),
  );
}

function missingQueries(
  text: string,
  evidence: readonly QueryEvidence[],
): readonly GroundedClaim[] {
  const known = new Set(evidence.map(({ id }) => id));
  return [...text.matchAll(/\[(q\d+(?:\s*,\s*q\d+)*)\]/gi)].flatMap((match) =>
    citedIds(match[0])
      .filter((id) => !known.has(id))
      .map((id): GroundedClaim => ({
        kind: 'citation',
        text: `[${id}]`,
        span: [match.index, match.index + match[0].length],
        status: 'ungrounded',
        evidence: [],
        reason: `there is no query ${id}`,
      })),
  );
}
