import { comparableLetters } from './find-quote.ts';
import { foldText } from './words.ts';

/** What a proposal says, and where. */
interface QuotedStatement {
  /** The words around the quote. */
  readonly context: string;
  readonly quote: string;
}

/**
 * What a text for people turns round, in words for the model: a `not`, a comparison, a unit.
 * Undefined if it turns nothing round.
 */
export function contradictionIn(text: string, statement: QuotedStatement): string | undefined {
  const { context } = statement;
  return (
    reversedNegation(text, statement) ??
    swappedOpposite(foldText(text), foldText(context)) ??
    otherUnit(foldText(text), foldText(context))
  );
}

/** The same of a metric or field: its conditions, signs and aggregate. */
export function contradictionInFormula(
  { formulas, agg }: { readonly formulas: readonly string[]; readonly agg?: string | undefined },
  statement: QuotedStatement,
): string | undefined {
  const sentence = foldText(sentencesOf(statement));
  const sql = formulas.join(' ').toLowerCase();
  return (
    reversedCondition(sql, sentence) ??
    (/\+/.test(sql) && !/-/.test(sql) && takesOff.test(sentence) && !addsUp.test(sentence)
      ? 'it takes off what the formula adds'
      : undefined) ??
    otherAggregate(agg, sentence)
  );
}

const negators =
  /\b(?:not|no|never|none|nobody|nothing|without|neither|nor|cannot|exclud\w*|except\w*|nicht|kein\w*|nie|ohne|ausser|sans|jamais|pas)\b|n't\b|n’t\b/;
/** Other ways to say that something is not, or does not count. */
const softNegators =
  /\b(?:un\w{3,}|in(?:active|valid|complete)\w*|zero|0|lack\w*|miss\w*|ignor\w*|left|leave\w*|leav\w*|remov\w*|subtract\w*|deduct\w*|minus|less|only|omit\w*|skip\w*|out|absent|empty|free|fail\w*|outside|other than|instead|before|nur|statt)\b/;

function reversedNegation(text: string, statement: QuotedStatement): string | undefined {
  const said = foldText(text);
  const sentence = foldText(sentencesOf(statement));
  const [dropped] = negators.exec(sentence) ?? [];
  // “Net of refunds” is “without refunds”, but the name of net revenue says nothing of refunds.
  const isNetNew = /\bnet\b/.test(said) && !/\bnet\b/.test(sentence);
  const isSaidOtherwise = negators.test(said) || softNegators.test(said) || isNetNew;
  if (dropped !== undefined && !isSaidOtherwise) return `it says “${dropped}”, which is left out`;
  const [added] = negators.exec(said) ?? [];
  const place = foldText(statement.context);
  return added === undefined ||
    negators.test(place) ||
    softNegators.test(place) ||
    /\bnet\b/.test(place)
    ? undefined
    : `it does not say “${added}”`;
}

/** Pairs of which a statement has one and its reversal the other. */
const opposites: readonly (readonly [string, string])[] = [
  ['at least', 'at most'],
  ['more than', 'less than'],
  ['more than', 'fewer than'],
  ['before', 'after'],
  ['above', 'below'],
  ['minimum', 'maximum'],
  ['smallest', 'largest'],
  ['lowest', 'highest'],
  ['earliest', 'latest'],
  ['always', 'never'],
  ['includes', 'excludes'],
  ['including', 'excluding'],
  ['included', 'excluded'],
  ['gross', 'net'],
  ['plus', 'minus'],
  ['increase', 'decrease'],
  ['incoming', 'outgoing'],
  ['mindestens', 'hochstens'],
];

function swappedOpposite(said: string, place: string): string | undefined {
  // “It includes no refunds” is “it excludes refunds”.
  if (negators.test(said)) return undefined;
  const has = (text: string, words: string) => new RegExp(`\\b${words}\\b`).test(text);
  for (const [a, b] of opposites)
    for (const [own, opposite] of [
      [a, b],
      [b, a],
    ] as const)
      if (has(said, own) && !has(place, own) && has(place, opposite) && !has(said, opposite))
        return `it says “${opposite}”, not “${own}”`;
  return undefined;
}

/** Units by what they are called; those of one line are never the same. */
const units: readonly (readonly (readonly string[])[])[] = [
  [
    ['euro', 'euros', 'eur', '€'],
    ['dollar', 'dollars', 'usd', '$'],
    ['pound', 'pounds', 'gbp', '£'],
    ['franc', 'francs', 'chf'],
    ['yen', 'jpy', '¥'],
    ['cent', 'cents'],
  ],
  [
    ['seconds'],
    ['minute', 'minutes'],
    ['hour', 'hours'],
    ['day', 'days', 'daily'],
    ['week', 'weeks', 'weekly'],
    ['month', 'months', 'monthly'],
    ['quarter', 'quarters', 'quarterly'],
    ['year', 'years', 'yearly', 'annual', 'annually'],
  ],
  [
    ['gram', 'grams'],
    ['kilogram', 'kilograms', 'kg'],
    ['tonne', 'tonnes', 'ton', 'tons'],
  ],
  [
    ['metre', 'metres', 'meter', 'meters'],
    ['kilometre', 'kilometres', 'kilometer', 'kilometers', 'km'],
    ['mile', 'miles'],
  ],
];

/** Units that another one may be given in: a quarter has months. */
const smaller: Readonly<Record<string, string>> = { week: 'day', quarter: 'month', year: 'month' };

/**
 * A unit of the text that the place does not have, where the text leaves out another one of the
 * same kind.
 */
function otherUnit(said: string, place: string): string | undefined {
  const saidWords = unitWords(said);
  const placeWords = unitWords(place);
  for (const kind of units) {
    const stated = kind.filter((names) => names.some((name) => placeWords.has(name)));
    const own = kind.filter((names) => names.some((name) => saidWords.has(name)));
    const [left] = stated.filter((names) => !own.includes(names)).flat();
    const [added] = own.filter((names) => !stated.includes(names)).flat();
    if (added === undefined || left === undefined) continue;
    if (smaller[left] !== added && smaller[added] !== left) return `it says ${left}, not ${added}`;
  }
  return undefined;
}

function unitWords(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\p{L}]+|[€$£¥]/gu));
}

/** Whether the place gives the unit of a metric, in any of its names. */
export function statesUnit(unit: string, context: string): boolean {
  const words = unitWords(foldText(context));
  const own = [...unitWords(foldText(unit))];
  return own.every((word) => {
    const names = units.flat().find((known) => known.includes(word)) ?? [word];
    return names.some((name) => words.has(name)) || hasStem(words, word);
  });
}

const stemLength = 4;
const hasStem = (words: ReadonlySet<string>, word: string) =>
  word.length >= stemLength &&
  [...words].some((known) => known.startsWith(word.slice(0, stemLength)));

const negativeOperator = /<>|!=|\bnot\b|\bis null\b/;

/** A condition on a text that the sentence denies: `status = 'open'` for “is not open”. */
function reversedCondition(sql: string, sentence: string): string | undefined {
  if (negativeOperator.test(sql)) return undefined;
  const texts = [...sql.matchAll(/'((?:[^']|'')+)'/g)].map(([, text = '']) => foldText(text));
  const denied = denials(sentence);
  const found = texts.find((text) => denied.some((words) => words.includes(text)));
  return found === undefined ? undefined : `it denies “${found}”`;
}

const mostDenied = 40;

/** What follows each `not` of the sentence, up to the next comma. */
function denials(sentence: string): readonly string[] {
  const [, ...after] = sentence.split(new RegExp(negators, 'g'));
  return after.map((words) => words.slice(0, mostDenied).split(/[,;:]/)[0] ?? '');
}

const takesOff = /\b(?:minus|less|subtract\w*|deduct\w*|abzuglich|moins)\b/;
const addsUp = /\b(?:plus|add\w*|and also|zuzuglich)\b/;

/** Words that stand for an aggregate and for no other, and words that may. */
const aggregates: readonly {
  readonly names: RegExp;
  readonly strong: RegExp;
  readonly weak: RegExp;
}[] = [
  { names: /^sum/, strong: /\bsum of\b|\bsumme\b/, weak: /\b(?:sum|total|add|summe)/ },
  {
    names: /^(?:avg|average|mean)/,
    strong: /\b(?:average|mean|avg|durchschnitt\w*|mittelwert|moyenne)\b/,
    weak: /\b(?:average|mean|avg|durchschnitt|mittel|moyenne)/,
  },
  { names: /^median|^percentile/, strong: /\bmedian\b/, weak: /\b(?:median|percentile|quantile)/ },
  {
    names: /^count/,
    strong: /\b(?:count of|number of|anzahl|nombre de)\b/,
    weak: /\b(?:count|number|many|total|distinct|unique|anzahl|nombre)/,
  },
  {
    names: /^min/,
    strong: /\b(?:minimum|smallest|lowest|earliest)\b/,
    weak: /\b(?:min|smallest|lowest|earliest|first|least)/,
  },
  {
    names: /^max/,
    strong: /\b(?:maximum|largest|highest|latest)\b/,
    weak: /\b(?:max|largest|highest|latest|last|most|greatest)/,
  },
];

function otherAggregate(agg: string | undefined, sentence: string): string | undefined {
  const own = aggregates.find(({ names }) => agg !== undefined && names.test(agg));
  if (own === undefined || own.weak.test(sentence) || own.strong.test(sentence)) return undefined;
  for (const { strong } of aggregates) {
    const [word] = strong.exec(sentence) ?? [];
    if (word !== undefined) return `it says “${word}”, not ${agg}`;
  }
  return undefined;
}

/** The sentences that the quote is part of; the whole context if it is not found there. */
function sentencesOf({ context, quote }: QuotedStatement): string {
  const sentences = context.split(/(?<=[.!?])\s+|\n(?=\s*(?:[-*+|#]|\d+[.)]))/);
  const wanted = comparableLetters(quote);
  for (let length = 1; length <= sentences.length; length += 1)
    for (let start = 0; start + length <= sentences.length; start += 1) {
      const window = sentences.slice(start, start + length).join(' ');
      if (comparableLetters(window).includes(wanted)) return window;
    }
  return context;
}
