import type { QueryEvidence } from '../../../llm/port/tool-call.ts';
import type { Derivable } from '../candidates.ts';
import type { NumberPlace } from '../context.ts';
import { convertedFrom, factorsIn } from '../numbers/units.ts';
import { findRare, saidLimit, type SaidNumber } from './coincidence.ts';
import { ofNamedRows, ofSums, pairwise, singles, triplewise, weighted } from './combinations.ts';

interface RowsAround {
  readonly tables: readonly QueryEvidence[];
  readonly place: NumberPlace;
  /** What else is computed from the rows. */
  readonly derived: readonly Derivable[];
  /** What stands right behind the number. */
  readonly behind: string;
  /** What a day, a month or a year is divided by in the statement. */
  readonly divisors: readonly number[];
}

/** What the rows give for a number without the words for it, if that is no coincidence. */
export function fromRows(
  said: SaidNumber,
  { tables, place, derived, behind, divisors }: RowsAround,
): Derivable | undefined {
  const rows = ofNamedRows(tables, place);
  const sums = ofSums(tables, place);
  const near = [...rows, ...sums];
  const factors = factorsIn(said.said);
  // What words say exactly may be a short number.
  const tiers: readonly (readonly [candidates: () => readonly Derivable[], limit?: number])[] = [
    [() => convertedFrom(near.flatMap(singles), behind), saidLimit],
    [() => rows.flatMap((row) => scaled(pairwise(row), factors)), saidLimit],
    [() => divided(near.flatMap(singles), divisors)],
    [() => near.flatMap((row) => convertedFrom(pairwise(row), behind))],
    [() => rows.flatMap(pairwise)],
    [() => sums.flatMap(pairwise)],
    [() => weighted(tables)],
    [() => near.flatMap(triplewise), 0.006],
    [() => derived.filter(isCompared), 0.006],
    [() => scaled(derived, factors), 0.05],
    [() => ofNamedRows(tables, everyRow).flatMap(pairwise).filter(isRatio), 0.004],
  ];
  for (const [tier, limit] of tiers) {
    const found = findRare(said, tier(), limit);
    if (found !== undefined && found.derivation !== 'a') return found;
  }
  return undefined;
}

/** A month as days, a quarter as a year. */
function divided(values: readonly Derivable[], divisors: readonly number[]): readonly Derivable[] {
  return divisors.flatMap((divisor) =>
    values.map((candidate): Derivable => {
      const derivation = `${candidate.derivation} / ${divisor}`;
      return { ...candidate, kind: 'unknown', value: candidate.value / divisor, derivation };
    }),
  );
}

/** A rate for 1,000 or 100,000. */
function scaled(values: readonly Derivable[], factors: readonly number[]): readonly Derivable[] {
  return factors.flatMap((factor) =>
    values
      .filter(({ derivation = '' }) => /^[ab] \/ [ab]$/.test(derivation))
      .map((candidate): Derivable => {
        const derivation = `${candidate.derivation} * ${factor}`;
        return { ...candidate, kind: 'unknown', value: candidate.value * factor, derivation };
      }),
  );
}

/** Sums of some rows are told in words. */
const isCompared = ({ derivation = '' }: Derivable): boolean =>
  !/^(?:sum of|median|count|distinct|mean)/.test(derivation);

const isRatio = ({ derivation = '' }: Derivable): boolean => derivation.includes('/');

/** `From 25 to 27`: the other row of a few is not always named. */
const everyRow = { isNear: (): boolean => true };
