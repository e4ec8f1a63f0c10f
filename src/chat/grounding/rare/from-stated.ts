import type { Derivable } from '../candidates.ts';
import { besideWords, type KnownNumber, type KnownPair, pairsOf } from '../from-claims.ts';
import { convertedFrom, factorsIn } from '../numbers/units.ts';
import { findRare, saidLimit, type SaidNumber } from './coincidence.ts';

interface StatedAround {
  /** The bound numbers of the answer, in their order. */
  readonly known: readonly KnownNumber[];
  /** What stands right behind the number. */
  readonly behind: string;
  /** What a day, a month or a year is divided by in the statement. */
  readonly divisors: readonly number[];
}

/** What is computed from stands beside what is computed, more often than further away. */
const nearest = 4;
const wider = 12;

/** What stands right before the number is often what it is computed from. */
const besideLimit = 0.04;
const farLimit = 0.004;

/** How a number follows from others that the answer states, if that is no coincidence. */
export function fromStated(
  said: SaidNumber,
  { known, behind, divisors }: StatedAround,
): Derivable | undefined {
  const { number } = said;
  const byDistance = known
    .filter(({ start, value }) => start !== number.start && value !== 0)
    .toSorted((a, b) => Math.abs(a.start - number.start) - Math.abs(b.start - number.start));
  const before = known.filter(({ start }) => start < number.start);
  const [near = [], wide = []] = [nearest, wider].map((most) => inOrder(byDistance.slice(0, most)));
  const ofPair = besideWords.test(said.said) ? comparePair : growPair;
  const factors = factorsIn(said.said);
  const [shares = [], amounts = []] = [true, false].map((isShare) =>
    before.filter(({ kind }) => (kind === 'share') === isShare).slice(-4),
  );
  const last = before.slice(-1);
  const tiers: readonly (readonly [candidates: () => readonly Derivable[], limit?: number])[] = [
    [() => [...pairsOf(shares), ...pairsOf(amounts)].flatMap(ofPair), besideLimit],
    [() => convertedFrom(pairsOf(shares).flatMap(differences), behind), saidLimit],
    [() => [...shares, ...last, ...amounts].flatMap((own) => ofOne(own, divisors)), saidLimit],
    [
      () =>
        near.flatMap(({ value }) =>
          divisors.includes(365) ? [derived(365 / value, '365 / a')] : [],
        ),
      saidLimit,
    ],
    [() => pairsOf(near).flatMap((pair) => scaledBy(pair, factors)), saidLimit],
    [() => runs(before)],
    [() => near.flatMap((own) => ofOne(own, divisors))],
    [() => pairsOf(near).flatMap(ofPair)],
    [() => convertedFrom(pairsOf(near).flatMap(differences), behind)],
    [() => last.flatMap((b) => wide.flatMap((a) => (a === b ? [] : ofPair([a, b]))))],
    [() => triplesOf(near).flatMap(ofTriple), farLimit],
    [() => pairsOf(wide).flatMap(ofPair), farLimit],
  ];
  for (const [tier, limit] of tiers) {
    const found = findRare(said, tier(), limit);
    if (found !== undefined) return found;
  }
  return undefined;
}

const inOrder = (known: readonly KnownNumber[]) => known.toSorted((a, b) => a.start - b.start);

function derived(
  value: number,
  derivation: string,
  kind: Derivable['kind'] = 'unknown',
): Derivable {
  return { value, derivation, kind, cells: [] };
}

function differences([a, b]: KnownPair): readonly Derivable[] {
  const areShares = a.kind === 'share' && b.kind === 'share';
  return [derived(b.value - a.value, 'b - a', areShares ? 'share' : 'unknown')];
}

/** A change is from what is said first to what is said later. */
function growPair(pair: KnownPair): readonly Derivable[] {
  return comparePair(pair).filter(({ derivation }) => derivation !== '(a - b) / b');
}

function comparePair([a, b]: KnownPair): readonly Derivable[] {
  const [x, y] = [a.value, b.value];
  const areShares = a.kind === 'share' && b.kind === 'share';
  const products = [
    derived(x * y, 'a * b'),
    derived(x + y, x * y < 0 ? 'a - |b|' : 'a + b', areShares ? 'share' : 'unknown'),
  ];
  const growths = [
    derived((y - x) / x, '(b - a) / a', 'share'),
    derived((x - y) / y, '(a - b) / b', 'share'),
  ];
  const ratio = Math.min(x, y) / Math.max(x, y);
  return [
    ...differences([a, b]),
    ...products,
    ...growths,
    derived(x / y, 'a / b'),
    derived(y / x, 'b / a'),
    derived(1 - ratio, '1 - a / b', 'share'),
  ];
}

/** Divided by the days of a month, or 365 days divided by it; compounded over a year. */
function ofOne({ value, kind }: KnownNumber, divisors: readonly number[]): readonly Derivable[] {
  return divisors.flatMap((divisor) => {
    const periods = Math.round(divisor < 1 ? 1 / divisor : divisor);
    const isShare = kind === 'share' && Math.abs(value) < 1 && [4, 12, 52].includes(periods);
    return [
      derived(value / divisor, `a / ${divisor}`),
      ...(isShare
        ? [
            derived(1 - (1 - value) ** periods, `1 - (1 - a) ^ ${periods}`, 'share'),
            derived((1 + value) ** periods - 1, `(1 + a) ^ ${periods} - 1`, 'share'),
          ]
        : []),
    ];
  });
}

/** The sums of the last three numbers and more: the parts of a whole. */
function runs(before: readonly KnownNumber[]): readonly Derivable[] {
  const last = before.filter(({ kind }) => kind !== 'share').slice(-wider);
  return last.flatMap((_, index) => {
    const part = last.slice(index);
    const sum = part.reduce((total, { value }) => total + value, 0);
    return part.length < 3 ? [] : [derived(sum, 'a + … + b')];
  });
}

function scaledBy([a, b]: KnownPair, factors: readonly number[]): readonly Derivable[] {
  return factors.flatMap((factor) => [
    derived((a.value / b.value) * factor, `a / b * ${factor}`),
    derived((b.value / a.value) * factor, `b / a * ${factor}`),
    derived(a.value * factor, `a * ${factor}`),
    derived(b.value * factor, `b * ${factor}`),
  ]);
}

type Triple = readonly [KnownNumber, KnownNumber, KnownNumber];

function triplesOf(known: readonly KnownNumber[]): readonly Triple[] {
  return known.flatMap((c) =>
    pairsOf(known.filter((own) => own !== c)).map(([a, b]): Triple => [a, b, c]),
  );
}

function ofTriple([a, b, c]: Triple): readonly Derivable[] {
  const [sum, difference] = [a.value + b.value, b.value - a.value];
  return [
    derived(difference / c.value, '(a - b) / c'),
    derived(sum / c.value, '(a + b) / c'),
    derived(c.value / difference, 'c / (b - a)'),
    derived(c.value / sum, 'c / (a + b)'),
    derived(c.value - sum, 'c - a - b'),
    derived((a.value * b.value) / c.value, 'a * b / c'),
  ];
}
