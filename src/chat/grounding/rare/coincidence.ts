import type { Derivable } from '../candidates.ts';
import { isCounted } from '../columns.ts';
import { fromTo, isCostLessRevenue, isNoChange, nearness, saysMinus } from '../fits.ts';
import { changeWords, downWords, restWords, totalWords, upWords } from '../numbers/number-words.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';

/** A number with the words around it. */
export interface SaidNumber {
  readonly number: WrittenNumber;
  /** The statement, with what stands above the number. */
  readonly said: string;
  /** The text right before the number. */
  readonly before: string;
  /** What the answer is about: the question, and what stands above a list. */
  readonly topic: string;
  /** What stands above the number in a table. */
  readonly header?: string | undefined;
}

/**
 * What a wrong number would equal by chance more often than this is no explanation. A number of
 * five digits has few neighbours; nearly any of two digits can be computed from a few cells.
 */
const mostChance = 0.01;

/**
 * The candidate that a number equals, if so few are near it that this is no coincidence; then the
 * words need not say how it was computed.
 */
export function findRare(
  { number, said, before, topic, header = '' }: SaidNumber,
  candidates: readonly Derivable[],
  limit: number = mostChance,
): Derivable | undefined {
  const [reading] = number.readings;
  if (reading === undefined || reading.value === 0) return undefined;
  const isChange = [upWords, downWords, changeWords, fromTo].some((words) => words.test(said));
  const isResult = isOfResult({ said, before, topic });
  const isShown =
    (isChange &&
      /(?:[(|:→,]|(?<!\p{L})(?:soit|ossia|ovvero|czyli|oftewel|oder|namely|i\.e\.|or|osea|o sea))\s*[€$£¥]?$/iu.test(
        before,
      )) ||
    isResult;
  const isDoubled = number.sign === '-' && !isResult && saysMinus(before, said, number.text);
  if (number.sign !== undefined && (isDoubled || !isShown)) return undefined;
  const near = nearness(number, false);
  const own = candidates.filter(
    (candidate) =>
      canBe(number, candidate) &&
      !isCostLessRevenue(candidate) &&
      !(number.sign === '-' && candidate.derivation === 'b - a' && isNoChange(header)) &&
      hasDirection(number, candidate, said) &&
      isMeant(number, candidate, { said, before, topic, isChange }),
  );
  return own.find((candidate) => {
    const value = comparable(number, candidate);
    const fitting = number.readings.find((meant) => near(value, meant));
    if (fitting === undefined) return false;
    return chanceOf(number, fitting, own) <= limit;
  });
}

/** How many of some values stand, on average, within half a digit of a number of this size. */
function chanceOf(
  number: WrittenNumber,
  { value, step }: WrittenNumber['readings'][number],
  candidates: readonly Derivable[],
): number {
  const size = Math.abs(value);
  const around = candidates
    .map((candidate) => Math.abs(comparable(number, candidate)))
    .filter((magnitude) => magnitude > size / 2 && magnitude < size * 2);
  const distinct = new Set(around.map((magnitude) => magnitude.toPrecision(9))).size;
  return (distinct * step) / (size * 1.5);
}

/** A value as the number would be written, with its sign if the number has one. */
function comparable({ isPercent, sign, readings }: WrittenNumber, { value }: Derivable): number {
  const scaled = isPercent ? value * 100 : value;
  const isNegative = (readings[0]?.value ?? 0) < 0;
  return sign === undefined && !isNegative ? Math.abs(scaled) : scaled;
}

const isRest = /^(?:1 - a \/ b|-\(.*)$/;
const isGrowth = /^\((?:b - a\) \/ a|a - b\) \/ b)$/;

function canBe(
  { isPercent, isMoney, sign }: WrittenNumber,
  { kind, derivation = '', value, cells }: Derivable,
): boolean {
  if (!Number.isFinite(value)) return false;
  const isSigned =
    isGrowth.test(derivation) || derivation === 'b - a' || derivation.startsWith('-');
  if (sign !== undefined && !isSigned) return false;
  const isRatio = derivation.includes('/');
  if (isPercent) return kind === 'share' || (kind === 'unknown' && isRatio);
  if (kind === 'share') return isRatio && !isGrowth.test(derivation) && value >= 1;
  return !isMoney || kind !== 'count' || areAmounts(cells);
}

function areAmounts(cells: Derivable['cells']): boolean {
  return cells.length > 0 && cells.every(({ column = '' }) => column !== '' && !isCounted(column));
}

/** A growth is of something that changes, and few ratios of a part are above 100 %. */
function isMeant(
  { isPercent, sign }: WrittenNumber,
  { derivation = '', value }: Derivable,
  { said, before, topic, isChange }: Omit<SaidNumber, 'number'> & { readonly isChange: boolean },
): boolean {
  if (isGrowth.test(derivation)) return isChange;
  // Only a result is negative by itself: people say `trails by 447`.
  const isResult = isOfResult({ said, before, topic });
  if (derivation === '-(b - a)') return sign === undefined || isResult;
  // The base of a change is what was before.
  if (isRest.test(derivation)) return !isChange || isResult;
  if (derivation === 'a + b')
    return (
      [totalWords, restWords, wouldWords].some((words) => words.test(said)) || ofWords.test(before)
    );
  return !isPercent || Math.abs(value) <= 1 || (wholeWords.test(said) && !beyondWords.test(before));
}

/** What would be if something is added. */
const wouldWords =
  /(?<!\p{L})(?:would|würden?|serai(?:t|ent)|serían?|sarebber?o?|seriam?)(?!\p{L})/iu;

/** `186 of 554`: the whole of a part that was said. */
export const ofWords =
  /\d\s?[%％]?\s(?:\p{L}+\s)?(?:out of|of|von|sur|de|di|su|em|van|av|af|z|ze|из)\s(?:the |all |los |las |les |den )?[€$£¥]?$/iu;

/** Beyond the whole, the rest alone is said. */
const beyondWords =
  /(?<!\p{L})(?:over|above|more|exceed\p{L}*|über|mehr|plus|más|mais|più|meer|ponad)(?!\p{L})/iu;

/** The same, where words say how the number was computed. */
export const saidLimit = 0.1;

/** `Net cash flow: −34,542`: a topic tells so only of what stands alone behind a colon. */
function isOfResult({ said, before, topic }: Omit<SaidNumber, 'number'>): boolean {
  const isAlone = /[:|]\s*[*_]*[€$£¥]?$/.test(before);
  return resultWords.test(said) || (isAlone && resultWords.test(topic));
}

/** What can be negative without a change. */
const resultWords =
  /margin|marge|marż|profit|result|\bnet(?!work| (?:increase|gain|growth|rise))|netto|cash.?flow|saldo|solde|balance|surplus|deficit|verlust|perte|pérdida|perdita|prejuízo|straty/iu;

/** What more than 100 % of is said. */
const wholeWords =
  /budget|plan(?!\p{L})|target|ratio|capacity|forecast|quota|ziel|auslastung|objecti|objetivo|obiettiv|cel(?!\p{L})/iu;

/** A growth of 5 % is none that `fell`. */
function hasDirection(
  { sign }: WrittenNumber,
  { derivation = '', value }: Derivable,
  said: string,
): boolean {
  if (sign !== undefined || !isGrowth.test(derivation)) return true;
  const [isUp, isDown] = [upWords.test(said), downWords.test(said)];
  return isUp === isDown || value > 0 === isUp;
}
