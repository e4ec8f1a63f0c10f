import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import type { Derivable } from './candidates.ts';
import type { StatementContext } from './context.ts';
import { changeInRow, deriveFromClaims, type KnownNumber, statedValue } from './from-claims.ts';
import type { GroundedClaim } from './ground-answer.ts';
import { strangeShares } from './measures/bracketed-shares.ts';
import { downColumns } from './measures/down-columns.ts';
import { throughMeasures, throughOtherRows } from './measures/through-measures.ts';
import { periodDivisors, type Spans } from './numbers/calendar.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';
import { fromStated } from './rare/from-stated.ts';
import { oddCells } from './rare/odd-cells.ts';
import { isRestated } from './rare/restated.ts';
import { standsElsewhere } from './rare/stands-elsewhere.ts';
import type { Statement } from './statements.ts';

/** Why a number with another unit is ungrounded. */
export const noPercentage = 'it is no percentage';

interface AnswerOfClaims {
  readonly text: string;
  readonly question: string;
  readonly asked: readonly WrittenNumber[];
  readonly spans: Spans;
  readonly evidence: readonly QueryEvidence[];
  readonly contexts: readonly StatementContext[];
}

/** A claim with the value that it is bound to. */
export interface BoundClaim {
  readonly claim: GroundedClaim;
  readonly number: WrittenNumber;
  readonly known?: KnownNumber | undefined;
  /** The statement, with what stands above the number. */
  readonly said: string;
  /** The text right before the number. */
  readonly before: string;
  readonly statement: Statement;
  /** True for the rows that the statement can be about, and for what is of all rows. */
  readonly isNear: (query: string, row: number | undefined) => boolean;
}

/**
 * The claims with what follows from others of the answer: numbers beside them, numbers that are
 * said elsewhere, and the other numbers of their column.
 */
export function bindThroughClaims(
  statements: readonly (readonly BoundClaim[])[],
  answer: AnswerOfClaims,
): readonly BoundClaim[] {
  const ofRows = throughOtherRows(statements, answer.evidence, bindCell);
  const stated = throughStated(downColumns(throughOthers(ofRows), deriveClaim), answer);
  const derived = throughMeasures(stated, {
    ...answer,
    statements: answer.contexts.map(({ statement }) => statement),
    derive: deriveClaim,
  });
  return withoutOdd(withoutStrange(saidAgain(derived), answer), answer);
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
  if (claim.status !== 'ungrounded' || claim.reason === noPercentage) return bound;
  const others = around.filter(({ known }) => known !== undefined);
  const known = others.flatMap((neighbour) => neighbour.known ?? []);
  const ownRow = others.filter(({ statement }) => statement === bound.statement);
  const found =
    changeInRow(
      number,
      headerOf(bound),
      ownRow.flatMap((own) => own.known ?? []),
    ) ?? deriveFromClaims(number, { known, said, before: bound.before });
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

function bindCell(bound: BoundClaim, { value, cells, kind: ofCell }: Derivable): BoundClaim {
  const { kind, text, span } = bound.claim;
  const { start } = bound.number;
  const claim = { kind, text, span, status: 'cell' as const, evidence: cells };
  return { ...bound, claim, known: { start, value, kind: ofCell } };
}

/** What is left may follow from any numbers of the answer, where that is no coincidence. */
function throughStated(
  bounds: readonly BoundClaim[],
  { text, spans, evidence, asked: numbers, question }: AnswerOfClaims,
): readonly BoundClaim[] {
  const done = [...bounds];
  // What the person said is as known as what the answer says.
  const asked = numbers.flatMap((number): KnownNumber[] => {
    const stated = statedValue(number);
    return stated === undefined || Math.abs(stated.value) < 0.01 ? [] : [{ ...stated, start: -1 }];
  });
  for (const [index, bound] of bounds.entries()) {
    const { claim, number, said } = bound;
    if (claim.status !== 'ungrounded' || claim.reason === noPercentage) continue;
    if (standsElsewhere(number, evidence)) continue;
    const known = done.flatMap((entry) => entry.known ?? []);
    const divisors = periodDivisors(said, spans);
    const found = fromStated(
      { number, said, before: bound.before, topic: question, header: headerOf(bound) },
      {
        known: [...asked, ...known],
        divisors,
        behind: text.slice(number.end, number.end + 24),
      },
    );
    if (found !== undefined) done[index] = deriveClaim(bound, found);
  }
  return done;
}

/** What stands above a number in a table. */
function headerOf({ number, statement: { cells } }: BoundClaim): string {
  return cells.find(({ start, end }) => start <= number.start && number.start < end)?.header ?? '';
}

/** What is left may be said elsewhere in the answer, of the same rows. */
function saidAgain(bounds: readonly BoundClaim[]): readonly BoundClaim[] {
  const said = bounds.flatMap((bound) => {
    const { claim, number, statement, known } = bound;
    const value = known && known.value * (number.isPercent ? 100 : 1);
    return claim.status === 'ungrounded' || value === undefined
      ? []
      : [{ claim, number, statement, value }];
  });
  return bounds.map((bound) => {
    const { claim, number, statement, isNear } = bound;
    if (claim.status !== 'ungrounded' || claim.reason === noPercentage) return bound;
    const found = said.find(
      (source) =>
        source.claim.evidence.every(({ query, row }) => isNear(query, row)) &&
        isRestated(number, statement, source),
    );
    if (found === undefined) return bound;
    const { status, evidence, derivation } = found.claim;
    return { ...bound, claim: { ...claim, status, evidence, derivation, reason: undefined } };
  });
}

function withoutStrange(
  bounds: readonly BoundClaim[],
  { text, evidence }: AnswerOfClaims,
): readonly BoundClaim[] {
  const strange = strangeShares(bounds, text, evidence);
  const reason = 'the number before it is no such share of anything';
  return bounds.map((bound) => {
    const { kind, text: written, span } = bound.claim;
    return strange.has(bound)
      ? {
          ...bound,
          claim: { kind, text: written, span, status: 'ungrounded', evidence: [], reason },
        }
      : bound;
  });
}

function withoutOdd(
  bounds: readonly BoundClaim[],
  { contexts, evidence }: AnswerOfClaims,
): readonly BoundClaim[] {
  const statements = contexts.map(({ statement }) => statement);
  const odd = oddCells(bounds, statements, evidence);
  return bounds.map((bound) => {
    const { kind, text, span } = bound.claim;
    const reason = 'the row that it stands in has another number';
    return odd.has(bound.claim)
      ? { ...bound, claim: { kind, text, span, status: 'ungrounded', evidence: [], reason } }
      : bound;
  });
}
