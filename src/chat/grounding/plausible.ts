import type { Derivable } from './candidates.ts';
import type { NumberPlace } from './context.ts';
import {
  averageWords,
  comparisonWords,
  downWords,
  firstWords,
  planWords,
  restWords,
  timesWords,
  totalWords,
  upWords,
} from './number-words.ts';
import type { WrittenNumber } from './read-numbers.ts';
import type { Statement } from './statements.ts';

interface PlausibilityInput {
  readonly number: WrittenNumber;
  readonly statement: Statement;
  readonly place: NumberPlace;
  /** What the person asked, and the statements of the queries. */
  readonly known: string;
}

/**
 * Tells whether a statement says what a derivation computes. Of all that can be computed from some
 * rows, something equals nearly any short number by chance; so the words have to fit as well.
 */
export function plausibleDerivation({
  number,
  statement: { text, isEntry },
  place,
  known,
}: PlausibilityInput): (candidate: Derivable) => boolean {
  const said = `${place.header} ${text}`;
  const digits = number.text.replaceAll(/\D/g, '').replace(/^0+/, '').length;
  const isTotal = totalWords.test(said);
  const isChange = upWords.test(said) || downWords.test(said);
  // Rows say nothing of a plan, unless somebody asked for it.
  if (planWords.test(said) && !planWords.test(known) && !/budget/i.test(known)) return () => false;
  const isWhole =
    !number.isPercent && !number.isMoney && number.readings.some(({ step }) => step >= 1);
  const words: Readonly<Record<string, (candidate: Derivable) => boolean>> = {
    'count of rows': () => isWhole && !isEntry && !restWords.test(said),
    'count of other rows': () => isWhole && restWords.test(said),
    'count of named rows': () => isWhole && !isEntry,
    distinct: () => isWhole && !isEntry,
    sum: () => (isTotal || digits > 2) && (!isEntry || !place.hasNames || isTotal),
    mean: () => averageWords.test(said),
    'a - b': () => isChange || comparisonWords.test(said) || digits > 3,
    'a + b': () => isTotal && !isChange,
    'a / b': (candidate) => isRatioSaid(candidate, { number, said, isChange, place }),
    'a / sum': () => true,
  };
  return (candidate) => {
    const derivation = (candidate.derivation ?? '')
      .replace(/^b (?=[-/] a$)/, 'a ')
      .replace(/(?<=^a [-/] )a$/, 'b');
    if (derivation.startsWith('sum of all but')) return restWords.test(said);
    if (derivation === 'sum of the group') return isTotal || digits > 3;
    if (/sum of the group/.test(derivation)) return number.isPercent;
    if (derivation === 'a * b') return digits > 2;
    if (derivation.startsWith('sum of the named')) return isTotal || number.isPercent;
    if (derivation.startsWith('sum of the first')) return firstWords.test(said);
    if (derivation.startsWith('(')) return true;
    return words[derivation]?.(candidate) ?? false;
  };
}

interface RatioInput {
  readonly number: WrittenNumber;
  readonly said: string;
  /** True if the statement says that something went up or down. */
  readonly isChange: boolean;
  readonly place: NumberPlace;
}

function isRatioSaid(
  { cells: [a, b], kind }: Derivable,
  { number, said, isChange, place }: RatioInput,
): boolean {
  if (a === undefined || b === undefined) return false;
  const isSameRow = a.row === b.row && a.query === b.query;
  const isRatio = averageWords.test(said) || timesWords.test(said);
  const isAmount = kind === 'money' || kind === 'unknown';
  if (isAmount) return isRatio || (isSameRow && number.isMoney);
  if (!number.isPercent) return isRatio;
  if (isChange) return false;
  const named = place.named(a.query)?.size ?? 0;
  return isSameRow || a.query !== b.query || named >= 2;
}
