import { dayWords, oppositeWords } from './from-claims.ts';
import type { Derivable, GroundingCell } from './candidates.ts';
import type { NumberPlace } from './context.ts';
import {
  averageWords,
  changeWords,
  comparisonWords,
  downWords,
  firstWords,
  planWords,
  restWords,
  timesWords,
  totalWords,
  upWords,
} from './numbers/number-words.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';
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
  statement: { text, isEntry, lead = '' },
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
    median: () => /m[eéè]dian/i.test(said),
    'a - b': ({ cells: [a, b] }) =>
      digits > 3 ||
      spreadWords.test(said) ||
      ((digits > 2 || a?.row === b?.row || changeWords.test(said)) &&
        (isChange || comparisonWords.test(said))),
    'a + b': () => isTotal && !isChange,
    'a / b': (candidate) => isRatioSaid(candidate, { number, said, isChange, place }),
    'a / sum': () => true,
  };
  const isMargin = [oppositeWords.test(said), marginWords.test(`${lead} ${said}`)].includes(true);
  const isRest = restWords.test(said);
  const starts: readonly (readonly [start: string, isSaid: boolean])[] = [
    ['sum of all but the first 1', isRest || (digits > 3 && beyondWords.test(said))],
    ['sum of all but', isRest],
    ['sum of the group /', number.isPercent],
    ['a / sum of the group', number.isPercent],
    ['sum of the group', isTotal || digits > 3],
    ['sum of the row / a', marginWords.test(said)],
    ['sum of the row', digits > 2 && endWords.test(`${lead} ${said}`)],
    ['a * b', digits > 2],
    ['sum of the named', isTotal || number.isPercent],
    ['sum of the first', firstWords.test(said) || runningWords.test(said)],
    ['1 - a / b', isRest || isMargin],
    ['(b / a) ^', yearlyWords.some((yearly) => yearly.test(said))],
    ['days', dayWords.test(said)],
    ['(', true],
  ];
  return (candidate) => {
    const derivation = (candidate.derivation ?? '')
      .replace(/^b (?=[-/] a$)/, 'a ')
      .replace(/(?<=^a [-/] )a$/, 'b');
    const rule = starts.find(([start]) => derivation.startsWith(start));
    return rule?.[1] ?? words[derivation]?.(candidate) ?? false;
  };
}

/** Cash for so many months; one in so many. */
const periodWords =
  /(?<!\p{L})(?:months?|weeks?|days?|monate?n?|wochen?|tage?n?|mois|semaines?|jours?|meses|semanas|d[ií]as?|mesi|settimane|giorni|1 in|one in|1 von|1 sur|1 de cada)(?!\p{L})/iu;

/** How far apart the largest and the smallest are. */
const spreadWords = /\bspread\b|spanne|amplitude|spreiding|spännvidd|rozpięto/i;

/** Behind the first of several ranges: more than 30 days overdue. */
const beyondWords =
  /(?<!\p{L})(?:more than|over|beyond|mehr als|über|plus de|más de|mais de|oltre|meer dan)(?!\p{L})/iu;

const endWords =
  /(?<!\p{L})(?:clos(?:ing|es?|ed)|ending|ends?|ended|net|final|left|leaves|schluss\p{L}*|end\p{L}*|netto|solde|finale?|saldo|cierre|fechamento)(?!\p{L})/iu;

/** What is added up row by row. */
const runningWords = /cumul|running|kumul|accum|acumul|progressiv|narastaj|累计|累計/i;

const marginWords = /margin|marge|marż|uptime|retention|verfügbar|disponib/i;

const yearlyWords = [averageWords, /CAGR|\bTCAC\b/];

const ratioWords = [averageWords, timesWords];

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
  const isRatio = ratioWords.some((words) => words.test(said));
  const isAmount = kind === 'money' || (kind === 'unknown' && !number.isPercent);
  if (isAmount) return isRatio || (isSameRow && number.isMoney);
  return number.isPercent
    ? !isChange && isShareSaid(a, b, place)
    : isRatio || periodWords.test(said);
}

function isShareSaid(a: GroundingCell, b: GroundingCell, place: NumberPlace): boolean {
  const isSameRow = a.row === b.row && a.query === b.query;
  const named = place.named(a.query)?.size ?? 0;
  return isSameRow || a.query !== b.query || named >= 2;
}
