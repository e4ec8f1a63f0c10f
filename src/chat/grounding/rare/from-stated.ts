import type { Derivable } from '../candidates.ts';
import { besideWords, type KnownNumber, type KnownPair, pairsOf } from '../from-claims.ts';
import { averageWords, gapWords, timesWords } from '../numbers/number-words.ts';
import { readNumbers } from '../numbers/read-numbers.ts';
import { convertedFrom, factorsIn } from '../numbers/units.ts';
import { findRare, saidLimit, type SaidNumber } from './coincidence.ts';
import { countsIn, eachWords } from './counts.ts';

interface StatedAround {
  /** The bound numbers of the answer, in their order. */
  readonly known: readonly KnownNumber[];
  /** What stands right behind the number. */
  readonly behind: string;
  /** What a day, a month or a year is divided by in the statement. */
  readonly divisors: readonly number[];
}

/** `58 → 43 (−15)` */
const arrow = /→|->|➔|⟶/;

/** What is computed from stands beside what is computed, more often than further away. */
const nearest = 4;
const wider = 12;

/** What stands right before the number is often what it is computed from. */
const besideLimit = 0.04;
const farLimit = 0.004;

type Tier = readonly [candidates: () => readonly Derivable[], limit?: number];

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
  const hasTenths = number.readings.some(({ step }) => step < 1);
  const alike = sameMeasures(before);
  const isMean = averageWords.test(said.said);
  const last = before.slice(-1);
  const after = known.filter(({ start }) => start > number.start).slice(0, 1);
  const ofNeighbours = pairsOf([...amounts.slice(-2), ...after]);
  const asked = before.filter(({ start }) => start < 0);
  const ofAsked = asked.flatMap((a) => near.map((b): KnownPair => [a, b]));
  const isShared = averageWords.test(said.said) || eachWords.test(said.said);
  const tiers: readonly Tier[] = [
    [() => [...pairsOf(shares), ...pairsOf(amounts)].flatMap(ofPair), besideLimit],
    [
      () =>
        number.sign === undefined || !arrow.test(said.said)
          ? []
          : pairsOf(amounts.slice(-2)).flatMap(ofPair),
      saidLimit,
    ],
    [() => pairsOf(alike).flatMap(ofPair), 0.05],
    [() => (isMean ? meansOf(before) : []), saidLimit],
    [() => convertedFrom(pairsOf(shares).flatMap(differences), behind), saidLimit],
    [() => (gapWords.test(said.said) ? gapsTo(asked, before) : []), 0.06],
    [() => (timesWords.test(said.said) ? extremes(shares) : []), saidLimit],
    [() => (isShared ? last.flatMap((own) => ofOne(own, countsIn(said))) : []), saidLimit],
    [() => [...shares, ...last, ...amounts].flatMap((own) => ofOne(own, divisors)), saidLimit],
    [
      () =>
        near.flatMap(({ value }) =>
          divisors.includes(365) ? [derived(365 / value, '365 / a')] : [],
        ),
      saidLimit,
    ],
    [() => pairsOf(near).flatMap((pair) => scaledBy(pair, factors)), saidLimit],
    [() => (averageWords.test(said.said) ? amounts.flatMap(forEach) : []), 0.004],
    [
      () => (hasTenths ? [...pairsOf(amounts.slice(-2)), ...ofNeighbours].flatMap(partsOfSum) : []),
      besideLimit,
    ],
    [() => (number.isPercent ? ofHeadline(amounts, before) : []), 0.02],
    ...tiersOfWords(said, { before, amounts, wide }),
    [() => runs(before)],
    [() => near.flatMap((own) => ofOne(own, divisors))],
    [() => pairsOf(near).flatMap(ofPair)],
    [() => ofAsked.flatMap(ofGoal)],
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

/** What only certain words mean. */
function tiersOfWords(
  said: SaidNumber,
  numbers: Readonly<Record<'before' | 'amounts' | 'wide', readonly KnownNumber[]>>,
): readonly Tier[] {
  const { before, amounts, wide } = numbers;
  return [
    [() => (oneIn.test(said.before) ? wide.flatMap(oneOfSoMany) : []), 0.5],
    [() => (goalWords.test(said.said) ? gapsTo(goalsIn(said), before) : []), 0.03],
    [() => (nextWords.test(said.said) ? pairsOf(amounts).flatMap(nextOf) : []), 0.05],
  ];
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

/** `to reach 25 %, you would need 173 more` */
const goalWords =
  /(?<!\p{L})(?:hit|reach\p{L}*|get to|achieve\p{L}*|target|goal|erreich\p{L}*|atteindre|alcanzar|atingir|raggiungere|bereiken|osiągn\p{L}*)(?!\p{L})|達成|达到|달성/iu;

/** The percentages of the same statement. */
function goalsIn({ number, said }: SaidNumber): readonly KnownNumber[] {
  return readNumbers(said).flatMap(({ isPercent, sign, text, readings: [reading] }) => {
    const isGoal = isPercent && sign === undefined && text !== number.text;
    return isGoal && reading !== undefined
      ? [{ start: -1, value: reading.value / 100, kind: 'share' as const }]
      : [];
  });
}

/** From a number of the question to the last amounts of the answer: what is still missing. */
function gapsTo(
  asked: readonly KnownNumber[],
  before: readonly KnownNumber[],
): readonly Derivable[] {
  const amounts = before.filter(({ kind, start }) => kind !== 'share' && start >= 0).slice(-6);
  const [goals, shares] = [false, true].map((isShare) =>
    asked.filter(({ kind }) => (kind === 'share') === isShare),
  );
  return [
    ...(goals ?? []).flatMap((goal) => amounts.flatMap((own) => differences([own, goal]))),
    ...(shares ?? []).flatMap(({ value }) =>
      pairsOf(amounts).flatMap(([a, b]) => {
        const [part, whole] = [Math.min(a.value, b.value), Math.max(a.value, b.value)];
        return [Math.ceil(whole * value), whole * value].map((goal) =>
          derived(goal - part, 'a * b - c'),
        );
      }),
    ),
  ];
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

/** A part of an amount that the question has, or the amount with it: 10 % more than last year. */
function ofGoal([a, b]: KnownPair): readonly Derivable[] {
  const product = derived(a.value * b.value, 'a * b');
  if (a.kind !== 'share') return [product];
  const [more, less] = [b.value * (1 + a.value), b.value * (1 - a.value)];
  return [product, derived(more, 'b * (1 + a)'), derived(less, 'b * (1 - a)')];
}

/** The last two numbers that were computed alike: revenue for each order of two years. */
function sameMeasures(before: readonly KnownNumber[]): readonly KnownNumber[] {
  const last = before.findLast(({ derivation = '' }) => /^[ab] \/ [ab]$/.test(derivation));
  const alike = before.filter(
    ({ derivation, kind }) => derivation === last?.derivation && kind === last?.kind,
  );
  return last === undefined || last.kind === 'share' ? [] : alike.slice(-2);
}

/** The mean of the last two or more numbers of one kind. */
function meansOf(before: readonly KnownNumber[]): readonly Derivable[] {
  return [true, false].flatMap((isShare) => {
    const own = before.filter(({ kind, start }) => start >= 0 && (kind === 'share') === isShare);
    return [2, 3, 4, 5, 6].flatMap((count): readonly Derivable[] => {
      const part = own.slice(-count);
      const value = part.reduce((sum, known) => sum + known.value, 0) / count;
      const kind = isShare ? ('share' as const) : ('unknown' as const);
      return part.length < count ? [] : [derived(value, '(a + … + b) / n', kind)];
    });
  });
}

/** What would come next if a growth went on. */
export const nextWords =
  /(?<!\p{L})(?:same (?:growth |monthly |annual )?(?:rate|pace|growth)|would (?:reach|be|land|end up|grow to)|forecast\p{L}*|project(?:ed|ion)\p{L}*|extrapolat\p{L}*|würde\p{L}*|hochgerechnet|prognos\p{L}*|atteindrai(?:t|ent)|alcanzaría\p{L}*|atingiria\p{L}*|raggiungerebbe\p{L}*|zou\p{L}* uitkomen)(?!\p{L})|見込み|予測|预计/iu;

function nextOf([a, b]: KnownPair): readonly Derivable[] {
  return [
    derived((b.value * b.value) / a.value, 'b * b / a'),
    derived(2 * b.value - a.value, 'b + (b - a)'),
  ];
}

/** `one in 8`, `1 client sur 7` */
const oneIn =
  /(?<![\p{L}\d.,])(?:1|one|ein\p{L}*|une?|uno|una|uma?|een|jed\p{L}*)\s(?:\p{L}+\s)?(?:in|out of|in every|out of every|von|sur|su|ogni|(?:de|em|a) cada|op(?: de)?|på|av|na|z|из)\s$/iu;

/** One in so many, as people round it. */
function oneOfSoMany({ value, kind }: KnownNumber): readonly Derivable[] {
  if (kind !== 'share' || value <= 0 || value >= 1) return [];
  const [many, size] = [1 / value, 1 / value < 20 ? 5 : 10];
  const round = Math.round(many / size) * size;
  const rounded = many >= 10 && Math.abs(round / many - 1) < 0.06 ? [round] : [];
  return [Math.round(many), ...rounded].map((count) => derived(count, '1 / a'));
}

/** How many times the smallest of some shares the largest is. */
function extremes(shares: readonly KnownNumber[]): readonly Derivable[] {
  const values = shares.map(({ value }) => Math.abs(value));
  return shares.length < 2 ? [] : [derived(Math.max(...values) / Math.min(...values), 'a / b')];
}

/** Each of two as a part of both. */
function partsOfSum([a, b]: KnownPair): readonly Derivable[] {
  if (a.kind === 'share' || b.kind === 'share') return [];
  const sum = a.value + b.value;
  return [a, b].map(({ value }) => derived(value / sum, 'a / (a + b)', 'share'));
}

/** The last amount as a part of the first ones: `grew by 500: … 120 (24 % of the growth)`. */
function ofHeadline(
  amounts: readonly KnownNumber[],
  before: readonly KnownNumber[],
): readonly Derivable[] {
  const last = amounts.at(-1);
  const first = before.filter(({ kind, start }) => kind !== 'share' && start >= 0).slice(0, 3);
  return first.flatMap((whole) =>
    last === undefined || whole === last
      ? []
      : [derived(last.value / whole.value, 'a / b', 'share')],
  );
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

/** What each of a few has of a sum that was said. */
function forEach({ value }: KnownNumber): readonly Derivable[] {
  return [2, 3, 4, 5, 6, 7].map((count) => derived(value / count, `a / ${count}`));
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
    // Without one of them: what is left for each of the others.
    ...(c.value > 2 ? [derived(difference / (c.value - 1), '(a - b) / (c - 1)')] : []),
  ];
}
