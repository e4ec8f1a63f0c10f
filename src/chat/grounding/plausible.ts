import { eachWords } from './rare/counts.ts';
import { bandWords } from './sums/bands.ts';
import { besideWords, dayWords, oppositeWords } from './from-claims.ts';
import type { Derivable, GroundingCell } from './candidates.ts';
import type { NumberPlace } from './context.ts';
import {
  averageWords,
  changeWords,
  comparisonWords,
  downWords,
  firstWords,
  lastWords,
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
  statement: { text, start: begin, isEntry, lead = '' },
  place,
  known,
}: PlausibilityInput): (candidate: Derivable) => boolean {
  const said = `${place.header} ${text}`;
  const digits = digitsOf(number);
  const isTotal = totalWords.test(said);
  const isChange = upWords.test(said) || downWords.test(said);
  if (isOfPlan(said, known)) return () => false;
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
    'a - b': (candidate) => isDifferenceSaid(candidate, { number, said, isChange, place }),
    'a + b': () => isTotal && !isChange,
    'a / b': (candidate) => isRatioSaid(candidate, { number, said, isChange, place }),
    'a / sum': () => true,
  };
  const isMargin = [oppositeWords.test(said), marginWords.test(`${lead} ${said}`)].includes(true);
  const isRest = restWords.test(said);
  // `206 deals: 120 in the first stage, …`
  const isHeadline = /^[^:;]{0,40}:\s/.test(text.slice(number.end - begin));
  const isPartSaid = [digits > 3, partWords.test(said)].includes(true);
  const isNamedSum = [number.isPercent, digits > 2 && isHeadline].includes(true);
  const starts: readonly (readonly [start: string, isSaid: boolean])[] = [
    ['sum of all but the first 1', isRest || (digits > 3 && beyondWords.test(said))],
    ['sum of all but', isRest],
    ['sum of the group /', number.isPercent],
    ['a / sum of the group', number.isPercent],
    ['sum of the group', isTotal || isPartSaid],
    ['sum of the row / a', marginWords.test(said)],
    ['sum of the row', digits > 2 && endWords.test(`${lead} ${said}`)],
    ['a * b', digits > 2],
    ['sum of the named', isTotal || isNamedSum],
    ['mean of a window', isWindowSaid(said, digits)],
    ['mean of those together', averageWords.test(said)],
    ['sum of those together', digits > 2 || number.isPercent],
    ['sum of the first', firstWords.test(said) || runningWords.test(said)],
    ['sum of the last', lastWords.test(said)],
    ['sum of the bands', bandWords.test(said)],
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
  /(?<!\p{L})(?:months?|weeks?|days?|monate?n?|wochen?|tage?n?|mois|semaines?|jours?|meses|semanas|d[ií]as?|mesi|settimane|giorni|(?:1|one) in|(?:1|one)(?: \p{L}+)? (?:for|in) (?:every|each)|1 von|1 sur|1 de cada)(?!\p{L})/iu;

/** How far apart the largest and the smallest are. */
const spreadWords = /\bspread\b|spanne|amplitude|spreiding|spännvidd|rozpięto/i;

/** What is left of one of two numbers. */
const leftWords =
  /(?<!\p{L})(?:free|left|idle|unused|unsold|open|missing|frei\p{L}*|übrig|offen\p{L}*|libres?|disponibles?|liber[ie]|livres?|vrij|wolnych)(?!\p{L})/iu;

/** Behind the first of several ranges: more than 30 days overdue. */
const beyondWords =
  /(?<!\p{L})(?:more than|over|beyond|mehr als|über|plus de|más de|mais de|oltre|meer dan)(?!\p{L})/iu;

/** A part of a year whose rows are added up. */
const partWords =
  /(?<!\p{L})(?:half|quarter|h[12]|halbjahr\p{L}*|quartal\p{L}*|semestres?|semester|trimestres?|halfjaar|kwartaal|półrocz\p{L}*)(?!\p{L})|半年|季度|四半期/iu;

const endWords =
  /(?<!\p{L})(?:clos(?:ing|es?|ed)|ending|ends?|ended|net|final|left|leaves|schluss\p{L}*|end\p{L}*|netto|solde|finale?|saldo|cierre|fechamento)(?!\p{L})/iu;

/** What is added up row by row. */
const runningWords =
  /cumul|running|\bYTD\b|to[- ]date|kumul|accum|acumul|progressiv|narastaj|累计|累計/i;

export const marginWords = /margin|marge|marż|uptime|retention|verfügbar|disponib/i;

const isWindowSaid = (said: string, digits: number): boolean =>
  digits > 2 && averageWords.test(said) && lastOrFirst.test(said);

const lastOrFirst = new RegExp(
  `${lastWords.source}|${firstWords.source}|(?<!\\p{L})(?:past|recent|vergangene\\p{L}*)(?!\\p{L})`,
  'iu',
);

const yearlyWords = [
  averageWords,
  /CAGR|\bT(?:CAC|CAM|ACC|AMC)\b|compound|annuali[sz]|\b(?:annual|yearly|a year|each year)\b|jährlich|par an\b/i,
  /al año|annuo|ao ano|per jaar|rocznie|年率|年平均/i,
];

const ratioWords = [averageWords, timesWords];

/** Rows say nothing of a plan, unless somebody asked for it. */
function isOfPlan(said: string, known: string): boolean {
  return planWords.test(said) && !planWords.test(known) && !/budget/i.test(known);
}

function isDifferenceSaid(
  { cells: [a, b] }: Derivable,
  { number, said, isChange }: RatioInput,
): boolean {
  const digits = digitsOf(number);
  const isSameRow = a?.row === b?.row;
  const isPoints = number.isPercent && /\p{L}/u.test(number.text);
  const hasTenths = digits > 1 && number.readings[0]?.step === 0.1;
  const isSaid = [
    digits > 3,
    isPoints,
    spreadWords.test(said),
    isSameRow && leftWords.test(said),
    hasTenths && besideWords.test(said),
  ];
  if (isSaid.includes(true)) return true;
  if (digits <= 2 && !isSameRow && !changeWords.test(said)) return false;
  return isChange || comparisonWords.test(said);
}

const digitsOf = ({ text }: WrittenNumber): number =>
  text.replaceAll(/\D/g, '').replace(/^0+/, '').length;

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
  const isRatio = [...ratioWords, eachWords].some((words) => words.test(said));
  const isAmount = kind === 'money' || (kind === 'unknown' && !number.isPercent);
  if (isAmount)
    return (
      isRatio || (isSameRow && (number.isMoney || (!number.isPercent && periodWords.test(said))))
    );
  return number.isPercent
    ? !isChange && isShareSaid(a, b, place)
    : isRatio || periodWords.test(said);
}

function isShareSaid(a: GroundingCell, b: GroundingCell, place: NumberPlace): boolean {
  const isSameRow = a.row === b.row && a.query === b.query;
  const named = place.named(a.query)?.size ?? 0;
  return isSameRow || a.query !== b.query || named >= 2;
}
