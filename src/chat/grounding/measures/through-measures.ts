import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import { statedValue } from '../from-claims.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';
import { standsElsewhere } from '../rare/stands-elsewhere.ts';
import type { Statement } from '../statements.ts';
import type { BoundClaim } from '../through-claims.ts';
import { fromMeasures, type AssumedNumber } from './from-measures.ts';
import { type NamesakeRows, joinRows, measureOf } from './joined-rows.ts';
import { cellOfOtherRow, claimOfSoMany } from './other-rows.ts';
import { rowSetsOf } from './row-sets.ts';

interface MeasuredAnswer {
  readonly question: string;
  readonly asked: readonly WrittenNumber[];
  readonly evidence: readonly QueryEvidence[];
  readonly statements: readonly Statement[];
  readonly derive: (
    bound: BoundClaim,
    found: Pick<Derivable, 'value' | 'derivation' | 'cells'>,
  ) => BoundClaim;
}

/** So many claims before a number, its measure was told last. */
const mostTold = 4;

/**
 * What is left may be a measure of rows that its statement is about: the answer tells what orders
 * cost for each carrier, and then by how much one is dearer than another.
 */
export function throughMeasures(
  bounds: readonly BoundClaim[],
  answer: MeasuredAnswer,
): readonly BoundClaim[] {
  const done = [...bounds];
  const joined = joinRows(answer.evidence);
  for (const [index, bound] of bounds.entries()) {
    const { claim, number } = bound;
    if (claim.status !== 'ungrounded' || number.isYear || !/\d/.test(number.text)) continue;
    if (standsElsewhere(number, answer.evidence)) continue;
    const result = measureBehind(bound, done, { ...answer, joined });
    if (result === undefined) continue;
    done[index] = answer.derive(bound, result.found);
    const assumed = done.findIndex(({ number: own }) => own.start === result.parameter?.start);
    const assumption = done[assumed];
    if (assumption?.claim.status === 'ungrounded')
      done[assumed] = answer.derive(assumption, { ...result.found, derivation: 'assumption' });
  }
  return done.map((bound) => {
    const counted = bound.claim.status === 'ungrounded' ? claimOfSoMany(bound, done) : undefined;
    const [{ value } = { value: 0 }] = bound.number.readings;
    const cells = counted?.claim.evidence ?? [];
    return counted === undefined
      ? bound
      : answer.derive(bound, { value, cells, derivation: 'count of named rows' });
  });
}

/** What stands in a row that its statement does not name. */
export function throughOtherRows(
  statements: readonly (readonly BoundClaim[])[],
  evidence: readonly QueryEvidence[],
  bind: (bound: BoundClaim, found: Derivable) => BoundClaim,
): readonly (readonly BoundClaim[])[] {
  return statements.map((own) => {
    const done = [...own];
    for (const [index, bound] of own.entries()) {
      if (bound.claim.status !== 'ungrounded') continue;
      const found = cellOfOtherRow(bound, done, evidence);
      if (found !== undefined) done[index] = bind(bound, found);
    }
    return done;
  });
}

function measureBehind(
  bound: BoundClaim,
  done: readonly BoundClaim[],
  answer: MeasuredAnswer & { readonly joined: readonly NamesakeRows[] },
) {
  const { number, statement } = bound;
  const around = { ...aroundStatement(statement, done, answer), isNear: bound.isNear };
  const tables = answer.joined.map((own) => ({ joined: own, sets: rowSetsOf(own, around) }));
  const told = toldMeasures(done, statement);
  const parameters = parametersOf(done, bound, answer.asked);
  const stated = statedBefore(bound, done, answer.asked);
  return fromMeasures(number, { tables, told, parameters, stated });
}

function aroundStatement(
  statement: Statement,
  bounds: readonly BoundClaim[],
  { question, statements }: MeasuredAnswer,
) {
  const at = statements.findIndex(({ start }) => start === statement.start);
  const before = statements.slice(0, at).findLast(({ text }) => text.trim() !== '');
  const sums = bounds
    .filter(({ claim, number }) => number.start < statement.end && claim.status === 'derived')
    .flatMap(({ known }) => (known === undefined || known.kind === 'share' ? [] : [known.value]));
  const counts = bounds
    .filter((own) => own.statement === statement)
    .flatMap(({ number }) => number.readings.map(({ value }) => value));
  return { text: statement.text, before: before?.text ?? '', question, sums, counts };
}

/** The measures of the last claims before the end of a statement. */
function toldMeasures(bounds: readonly BoundClaim[], statement: Statement): ReadonlySet<string> {
  const told = bounds
    .filter(({ claim, number }) => number.start < statement.end && claim.status !== 'ungrounded')
    .toReversed()
    .flatMap(({ claim }) => measureOf(claim.evidence, claim.derivation ?? '') ?? []);
  return new Set([...new Set(told)].slice(0, mostTold));
}

const isPowerOfTen = (value: number): boolean => Number.isInteger(Math.log10(value));

/** The last amounts before a number, and what is missing to those of the question. */
function statedBefore(
  bound: BoundClaim,
  bounds: readonly BoundClaim[],
  asked: readonly WrittenNumber[],
): readonly Derivable[] {
  const last = bounds
    .filter(({ number }) => number.start < bound.number.start)
    .flatMap(({ known, claim }) =>
      known === undefined ? [] : [{ ...known, cells: claim.evidence }],
    )
    .filter(({ kind }) => kind !== 'share')
    .slice(-mostTold);
  const goals = asked.flatMap((number) => statedValue(number) ?? []);
  return last.flatMap(({ value, cells }): readonly Derivable[] => [
    { value, cells, kind: 'unknown' },
    ...goals
      .filter(({ kind }) => kind !== 'share')
      .map((goal): Derivable => ({ value: goal.value - value, cells, kind: 'unknown' })),
  ]);
}

/** Numbers of the same statement, or of the question, that no row explains. */
function parametersOf(
  bounds: readonly BoundClaim[],
  bound: BoundClaim,
  asked: readonly WrittenNumber[],
): readonly AssumedNumber[] {
  const own = bounds.filter(
    ({ statement, claim, number }) =>
      statement === bound.statement &&
      number !== bound.number &&
      (claim.status === 'ungrounded' || claim.status === 'question'),
  );
  const numbers = [
    ...own.map(({ number }) => number),
    ...asked.map((number) => ({ ...number, start: -1 })),
  ];
  return numbers.flatMap((number) => {
    const stated = statedValue(number);
    return stated === undefined || stated.value <= 0 || isPowerOfTen(stated.value)
      ? []
      : [{ start: number.start, value: stated.value, isShare: stated.kind === 'share' }];
  });
}
