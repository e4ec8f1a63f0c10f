import { readNumbers, type WrittenNumber } from '../../chat/grounding/numbers/read-numbers.ts';
import { parseJson } from '../../lib/json.ts';

/** Every number that a reader would say the answer states. */
export function numbersInAnswer(text: string): readonly number[] {
  const json = /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
  return json instanceof Object ? numbersInJson(json) : numbersInText(text);
}

function numbersInJson(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  if (typeof value === 'string') return numbersInText(value);
  return value instanceof Object ? Object.values(value).flatMap(numbersInJson) : [];
}

/**
 * Numbers as people write them, each with all that it may mean: 12 % is 12 and 0.12, `5 m` five
 * million or five metres, and what fell by 5 is -5 as well.
 */
function numbersInText(text: string): readonly number[] {
  const prose = plainProse(text);
  const written = readNumbers(prose);
  const hasOthers = written.some(({ isYear }) => !isYear);
  const stated = written.filter(
    (number) => !(number.isYear && hasOthers && isPeriod(number, prose)),
  );
  return [
    ...new Set([
      ...stated.flatMap((number) => valuesOf(number, prose)),
      ...numbersInShortWords(prose),
    ]),
  ];
}

/**
 * Without what hides numbers from `readNumbers`: marks of code around a number or a table, ids in
 * words (`A-1234`), and minus as a word.
 */
function plainProse(text: string): string {
  return text
    .replaceAll(/```\w*\n([\s\S]*?)```/g, (whole, inside: string) =>
      /\b(?:select|with)\b/i.test(inside) ? whole : inside,
    )
    .replaceAll(/`([€$£]?\s?[-−]?\d[\d.,]*\s?%?)`/g, '$1')
    .replaceAll(/(?<!\p{L})(?:minus|moins|menos|meno)\s+(?=[€$£]?\d)/giu, '-');
}

const percentOrWhole = (values: readonly number[], isPercent: boolean): readonly number[] =>
  isPercent ? values.flatMap((value) => [value, value / 100]) : values;

function valuesOf(number: WrittenNumber, prose: string): readonly number[] {
  const { readings, isPercent, text, sign } = number;
  const [scale = ''] = /(?<=\s)[kmb]$/i.exec(text) ?? [];
  const size = { k: 1e3, m: 1e6, b: 1e9 }[scale.toLowerCase()];
  const values = readings.flatMap(({ value }) =>
    size === undefined ? [value] : [value, roundedTo(value / size)],
  );
  const isBelowZero =
    sign === undefined && (isInBrackets(number, prose) || hasFallen(number, prose));
  return percentOrWhole(
    isBelowZero ? values.flatMap((value) => [value, -value]) : values,
    isPercent,
  );
}

function roundedTo(value: number): number {
  return Number(value.toPrecision(15));
}

/** `(1,234)` in a table of amounts. */
function isInBrackets({ start, end }: WrittenNumber, prose: string): boolean {
  return /\([€$£]?\s?$/.test(prose.slice(0, start)) && /^\s?%?\)/.test(prose.slice(end, end + 3));
}

/** Parts of words that say that something went down, in some languages. */
const fall =
  '(?:down|fell|fall(?:s|en)?|dropped|drop|declin\\p{L}*|decreas\\p{L}*|shrank|shrunk|lost|loss' +
  '|reduc\\p{L}*|gesunken|sank|sinkt|gefallen|fiel|rückgang|verlust|baiss\\p{L}*|diminu\\p{L}*' +
  '|recul\\p{L}*|perte|baj\\p{L}*|cay\\p{L}*|disminu\\p{L}*|pérdida|queda|caiu|cal[oa]\\p{L}*' +
  '|perdita|daling|gedaald|verlies|minsk\\p{L}*|spadek|spad\\p{L}*)';
/** No other number may stand between the word and the number. */
const fallBefore = new RegExp(`(?<!\\p{L})${fall}(?!\\p{L})[^\\d.;!?]{0,30}$`, 'iu');
const fallBehind = new RegExp(`^[^\\d.,;!?]{0,20}(?<!\\p{L})${fall}(?!\\p{L})`, 'iu');

function hasFallen({ start, end }: WrittenNumber, prose: string): boolean {
  const before = prose.slice(Math.max(0, start - 50), start);
  return fallBefore.test(before) || fallBehind.test(prose.slice(end, end + 50));
}

const periodBefore =
  /(?<!\p{L})(?:in|im|for|of|since|during|until|from|by|through|between|year|fy|jahre?s?|von|bis|seit|für|en|de|del|desde|pour|depuis|année|año|nel|dal|anno|em|ano|w|roku|sinds|jaar|år|за|в)\s+$/iu;

/** The time that other numbers are about. */
function isPeriod({ start, end }: WrittenNumber, prose: string): boolean {
  return (
    periodBefore.test(prose.slice(Math.max(0, start - 20), start)) ||
    prose.slice(end).startsWith('年')
  );
}

const only =
  '(?:only|exactly|just|is|was|are|were|nur|genau|ist|war|seulement|solo|sólo|apenas|slechts)';
const none =
  '(?:there (?:is|are|was|were)|(?:ha(?:d|s|ve)|with|got|found)) (?:no|zero|not a single)|none' +
  '|(?:gab|gibt es|hatten?) keine\\p{L}?|aucune?|ning[úu]n\\p{L}*|nessun\\p{L}*|nenhum\\p{L}*|geen';
/** What is not there when an agent says that it does not know. */
const noCount =
  '(?:doubt|data|information|way|need|answer|such|reason|table|column|field|metric|definition' +
  '|evidence|record|idea|question|daten|angaben|zweifel|donnée|information)';

const shortWords: readonly (readonly [pattern: RegExp, value: number])[] = [
  [
    new RegExp(`(?<!\\p{L})(?:${only}) (?:one|ein\\p{L}{0,2}|une?|un[ao])(?! of)(?!\\p{L})`, 'iu'),
    1,
  ],
  [/(?<!\p{L})zero(?!\p{L})/iu, 0],
  [new RegExp(`(?<!\\p{L})(?:${none})(?!\\p{L})(?! ${noCount})`, 'iu'), 0],
  [/(?<!\p{L})half a million(?!\p{L})/iu, 500_000],
  [/(?<!\p{L})a dozen(?!\p{L})/iu, 12],
];

/** None and one, which are articles as well, and the like. */
function numbersInShortWords(prose: string): readonly number[] {
  return shortWords.flatMap(([pattern, value]) => (pattern.test(prose) ? [value] : []));
}
