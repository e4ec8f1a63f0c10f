import type { ColumnKind } from './columns.ts';
import { changeHeader, fromTo, isJustBeside, moreWords, nearness } from './fits.ts';
import {
  averageWords,
  changeWords,
  comparisonWords,
  downWords,
  restWords,
  timesWords,
  totalWords,
  upWords,
} from './numbers/number-words.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';

/** A number that an answer has said and that is bound, as exactly as its evidence has it. */
export interface KnownNumber {
  readonly start: number;
  readonly value: number;
  readonly kind: ColumnKind;
  /** How it was computed; undefined for a cell. */
  readonly derivation?: string | undefined;
}

interface ClaimsAround {
  /** The bound numbers of this statement and of the one before, in their order. */
  readonly known: readonly KnownNumber[];
  /** The statement with what stands above the number. */
  readonly said: string;
  /** The text right before the number. */
  readonly before: string;
}

interface FromNeighbours {
  readonly value: number;
  readonly derivation: string;
}

/** What a number is computed from stands right beside it: `727 of 103,782 (0.70 %)`. */
const mostBefore = 4;

/** How a number follows from the bound ones around it; undefined if it does not. */
export function deriveFromClaims(
  number: WrittenNumber,
  { known, said, before: textBefore }: ClaimsAround,
): FromNeighbours | undefined {
  const earlier = known.filter(({ start }) => start < number.start);
  const [shares, amounts] = [true, false].map((isShare) =>
    earlier.filter(({ kind }) => (kind === 'share') === isShare).slice(-mostBefore),
  );
  const before = [...(amounts ?? []), ...(shares ?? [])];
  const after = known.filter(({ start }) => start > number.start).slice(0, 2);
  const isOfAny = averageWords.test(said) || besideWords.test(said);
  const facing = isOfAny ? before : earlier.slice(-1);
  const pairs = [...pairsOf(before), ...pairsOf(after), ...across(facing, after)];
  const computed = number.isPercent
    ? [...pairs.flatMap(percentagesOf(number, said, textBefore)), ...complements(before, said)]
    : [
        ...pairs.flatMap(amountsOf(number, said, 3)),
        ...pairsOf((amounts ?? []).slice(-2)).flatMap(amountsOf(number, said, 2)),
        ...unitsOf(before, said),
      ];
  const rests = number.isPercent ? wholes(known, said) : remainders(number, known, said);
  const near = nearness(number, false);
  const scale = number.isPercent ? 100 : 1;
  return [...computed, ...rests].find(({ value }) =>
    number.readings.some(
      (reading) =>
        Number.isFinite(value) &&
        (near(value * scale, reading) || isJustBeside(value * scale, reading, textBefore)),
    ),
  );
}

/** `| 305.01 | 328.99 | +23.99 | +7.9% |`: how the first two numbers of a row differ. */
export function changeInRow(
  number: WrittenNumber,
  header: string,
  known: readonly KnownNumber[],
): FromNeighbours | undefined {
  const [a, b] = known.filter(({ start }) => start < number.start);
  if (a === undefined || b === undefined || a.kind !== b.kind) return undefined;
  if (header === '' || !changeHeader.test(header)) return undefined;
  const near = nearness(number, false);
  const [difference, growth] = [b.value - a.value, (b.value - a.value) / a.value];
  const scale = number.isPercent ? 100 : 1;
  const found = [
    { value: difference, derivation: 'b - a', isMeant: a.kind === 'share' || !number.isPercent },
    { value: growth, derivation: '(b - a) / a', isMeant: number.isPercent },
  ].find(
    ({ value, isMeant }) =>
      isMeant && number.readings.some((reading) => near(value * scale, reading)),
  );
  return found && { value: found.value, derivation: found.derivation };
}

export type KnownPair = readonly [KnownNumber, KnownNumber];

/** Each two of them, in their order. */
export function pairsOf(known: readonly KnownNumber[]): readonly KnownPair[] {
  return known.flatMap((a, index) => known.slice(index + 1).map((b): KnownPair => [a, b]));
}

function across(
  before: readonly KnownNumber[],
  after: readonly KnownNumber[],
): readonly KnownPair[] {
  return before.flatMap((a) => after.slice(0, 1).map((b): KnownPair => [a, b]));
}

function percentagesOf(number: WrittenNumber, said: string, before: string) {
  const { sign, text } = number;
  const isPoints = /\p{L}/u.test(text.replace(/percent|prozent(?!p)/iu, ''));
  const growths = growthsOf(number, said, before);
  return ([a, b]: KnownPair): readonly FromNeighbours[] => {
    const areShares = a.kind === 'share' && b.kind === 'share';
    if (areShares && isPoints) return [{ value: Math.abs(b.value - a.value), derivation: 'b - a' }];
    if (a.kind !== b.kind && a.kind !== 'unknown' && b.kind !== 'unknown') return [];
    const [low, high] = a.value < b.value ? [a.value, b.value] : [b.value, a.value];
    const ratio = { value: low / high, derivation: 'a / b' };
    return [...growths(a.value, b.value), ...(sign === undefined && !areShares ? [ratio] : [])];
  };
}

/** What the words say of a change: how it is signed, and which of two numbers comes first. */
function growthsOf({ sign }: WrittenNumber, said: string, before: string) {
  const [isUp, isDown] = [upWords.test(said), downWords.test(said)];
  // `Q2: 445K (+26.9 %)` in a list of quarters
  const isShown = [
    fromTo.test(said),
    changeWords.test(said),
    sign === '+' && /\d\D{0,8}\($/.test(before),
  ];
  const isSigned = sign !== undefined && isShown.includes(true);
  const isNegative = sign === '-' && (isDown || restWords.test(said));
  const isChange = !isNegative && (isUp || isDown || changeWords.test(said) || isSigned);
  const isBeside = sign === undefined && besideWords.test(said);
  const isMore = isUp || moreWords.test(said);
  return (a: number, b: number): readonly FromNeighbours[] => {
    const change = { value: (b - a) / a, derivation: '(b - a) / a' };
    if (sign !== undefined) return isChange ? [change] : [];
    const inverse = { value: (a - b) / b, derivation: '(a - b) / b' };
    const isOtherWay = isUp !== isDown && change.value > 0 !== isUp;
    return [
      ...(isBeside && inverse.value > 0 === isMore ? [inverse] : []),
      ...(!isBeside && isUp && !isDown && inverse.value > 0 ? [inverse] : []),
      ...(isChange && !isOtherWay ? [change] : []),
    ].map(({ value, derivation }) => ({ value: Math.abs(value), derivation }));
  };
}

/** The later number of two may be what the earlier one is compared with. */
export const besideWords =
  /(?<!\p{L})(?:above|below|than|over|under|als|über|unter|que|che|di|dan|än|niż)(?!\p{L})/iu;

/** 84 % never pay where 16 % do. */
function complements(before: readonly KnownNumber[], said: string): readonly FromNeighbours[] {
  if (!restWords.test(said) && !oppositeWords.test(said)) return [];
  return before
    .filter(({ kind, value }) => kind === 'share' && value > 0 && value < 1)
    .map(({ value }) => ({ value: 1 - value, derivation: '1 - a' }));
}

/** The shares of a table add up to 100 %. */
function wholes(known: readonly KnownNumber[], said: string): readonly FromNeighbours[] {
  const isWhole = totalWords.test(said) && known.some(({ kind }) => kind === 'share');
  return isWhole ? [{ value: 1, derivation: 'sum of shares' }] : [];
}

/** Of 412 customers, four are named: the remaining 408. */
function remainders(
  { start, text, sign, readings }: WrittenNumber,
  known: readonly KnownNumber[],
  said: string,
): readonly FromNeighbours[] {
  const isCount = readings.every(({ step }) => step === 1) && /\d\d/.test(text);
  if (!isCount || sign !== undefined || !restWords.test(said)) return [];
  const counts = known.filter((entry) => entry.start < start && entry.kind === 'count');
  return pairsOf(counts).map(([a, b]) => {
    return { value: Math.abs(a.value - b.value), derivation: 'a - b' };
  });
}

export const oppositeWords =
  /(?<!\p{L})(?:never|not|no|without|on time|free|nicht|keine?|ohne|jamais|pas|sans|no|nunca|sin|não|sem|non|mai|senza|niet|geen|zonder|nie|bez|inte|utan)(?!\p{L})|n’t|n't/iu;

function amountsOf(
  { text, sign, isMoney, readings }: WrittenNumber,
  said: string,
  shortest: number,
) {
  const digits = text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
  const isRatio = [averageWords, timesWords, coverWords].some((words) => words.test(said));
  const isExact = readings.some(({ step }) => step < 1) && digits > 1;
  return ([a, b]: KnownPair): readonly FromNeighbours[] => {
    if (sign !== undefined) return [];
    const isSameKind = a.kind === b.kind;
    const isDifference = isSameKind && a.kind !== 'share';
    const isSaid =
      digits > 3 || (comparisonWords.test(said) && digits >= shortest) || restWords.test(said);
    const difference = { value: Math.abs(a.value - b.value), derivation: 'a - b' };
    const ratios = [
      { value: a.value / b.value, derivation: 'a / b' },
      { value: b.value / a.value, derivation: 'b / a' },
    ].filter(({ value }) => value > 1);
    const factor = Number(
      /(?<![\d.,])(?:36[05]|1[.,]?000|100)(?![\d%]|[.,]\d| %)/.exec(said)?.[0].replace(/[.,]/, ''),
    );
    const scaled = [a.value / b.value, b.value / a.value].map((value) => {
      return { value: value * factor, derivation: `a / b * ${factor}` };
    });
    return [
      ...(isDifference && isSaid ? [difference] : []),
      ...(isMoney ? [] : scaled),
      ...((isRatio || isExact) && !(isMoney && isSameKind) ? ratios : []),
    ];
  };
}

/** Stock that lasts for so many days. */
const coverWords =
  /(?<!\p{L})(?:covers?|lasts?|enough for|suffices?|reich(?:t|en)|deck(?:t|en)|couvre|suffit|dura|cubre|copre|basta|(?:1|one) in|(?:1|one) (?:for|in) (?:every|each)|jede[rs]? \p{L}+te|every \p{L}+th)(?!\p{L})/iu;

/** Hours as days, days as weeks. */
function unitsOf(before: readonly KnownNumber[], said: string): readonly FromNeighbours[] {
  const yearly = annualWords.test(said)
    ? before.slice(-2).map(({ value }) => ({ value: value * 12, derivation: 'a * 12' }))
    : [];
  const converted = units
    .filter(({ words }) => words.every((word) => word.test(said)))
    .flatMap(({ size }) =>
      before.slice(-2).map(({ value }) => ({ value: value / size, derivation: `a / ${size}` })),
    );
  return [...yearly, ...converted];
}

/** A month as a year. */
const annualWords = /annuali[sz]|run[- ]rate|hochgerechnet/i;
const seconds = /\bseconds?\b|sekund|second[ie]|segundo/i;
const minutes = /\bminut/i;
const hours = /\bhours?\b|stunde|heure|horas?\b|\bore\b|\buur\b|uren|godzin|timmar/i;
export const dayWords =
  /\bdays?\b|\btage?n?\b|\bjours?\b|\bd[ií]as?\b|giorn|\bdagen|\bdni\b|dagar/i;
const weeks = /\bweeks?\b|woche|semaine|semana|settiman|\bweken|tygodni|veckor/i;
const units = [
  { size: 60, words: [seconds, minutes] },
  { size: 60, words: [minutes, hours] },
  { size: 24, words: [hours, dayWords] },
  { size: 7, words: [dayWords, weeks] },
] as const;

/** A number of the question or of a query, for what is computed with it. */
export function statedValue({ readings, isPercent, isYear }: WrittenNumber) {
  const [reading] = readings;
  if (reading === undefined || isYear) return undefined;
  const kind = isPercent ? ('share' as const) : ('unknown' as const);
  return { value: isPercent ? reading.value / 100 : reading.value, kind };
}
