import type { Derivable } from '../candidates.ts';
import { isCounted } from '../columns.ts';
import { nearness } from '../fits.ts';
import type { WrittenNumber } from '../numbers/read-numbers.ts';

/**
 * The candidate that a number without a sign equals, where a wrong number would rarely equal one:
 * on average at most `limit` of the candidates are within half a digit of a number of this size.
 */
export function findTight(
  number: WrittenNumber,
  candidates: readonly Derivable[],
  limit: number,
): Derivable | undefined {
  if (number.sign !== undefined || number.isYear) return undefined;
  const near = nearness(number, false);
  const own = candidates.filter((candidate) => isOfKind(number, candidate));
  for (const reading of number.readings) {
    const size = Math.abs(reading.value);
    if (size === 0) continue;
    const around = own
      .map((candidate) => written(number, candidate))
      .filter((value) => value > size / 2 && value < size * 2);
    const distinct = new Set(around.map((value) => value.toPrecision(9))).size;
    if ((distinct * reading.step) / (size * 1.5) > limit) continue;
    const found = own.find((candidate) => near(written(number, candidate), reading));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A value as a number without a sign is written. */
function written(
  { isPercent }: WrittenNumber,
  { value, kind, derivation = '' }: Derivable,
): number {
  return Math.abs(isPercent && (kind === 'share' || isRatio(derivation)) ? value * 100 : value);
}

function isOfKind(
  { isPercent, isMoney, text }: WrittenNumber,
  { kind, derivation = '', cells, value }: Derivable,
): boolean {
  // A cell, and a sum of cells, has its sign.
  if (derivation === 'a' || (derivation === 'a of several rows' && value < 0)) return false;
  const isDifference = derivation.startsWith('difference');
  // `29 points` may be points of a score.
  if (isPercent)
    return kind === 'share' || isRatio(derivation) || (isDifference && /\p{L}/u.test(text));
  if (kind === 'share') return !isDifference && derivation.includes('a / b');
  return !isMoney || kind !== 'count' || cells.every(({ column = '' }) => !isCounted(column));
}

/** Of columns whose names do not tell what they are, a ratio may be a share. */
const isRatio = (derivation: string): boolean => derivation.includes('a / b');
