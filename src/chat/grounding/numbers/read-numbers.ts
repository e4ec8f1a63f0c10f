import { currencyLetters, wordScales } from './language-words.ts';
import { scaleWords } from './number-words.ts';
import { withoutOthers } from './other-digits.ts';
import { readSpelledNumbers } from './spelled-numbers.ts';

/** A number as an answer writes it. */
export interface WrittenNumber {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** `1.234` is 1.234 or 1234: what it may mean, each with the size of its last digit. */
  readonly readings: readonly { readonly value: number; readonly step: number }[];
  readonly isPercent: boolean;
  /** True with the sign or the code of a currency beside it. */
  readonly isMoney: boolean;
  /** As it is written; undefined without one. */
  readonly sign?: '+' | '-' | undefined;
  /** A year, as far as its form tells. */
  readonly isYear: boolean;
}

/**
 * Digits with a sign, a currency, and a percent sign or a word for a scale behind them. Not the
 * digits of names such as `q1` or `A4`.
 */
const pattern =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}_]|[\p{Script=Latin}\p{N}][.,'’-]|\p{Script=Latin}\/|\p{N}:)([-−+]?)(?:[€$£%]\s?|(?:EUR|USD|GBP|CHF)\s?)?([-−]?)(\d{1,3}(?:[ \u00A0\u202F]\d{3})+(?!\d)(?:[.,]\d+)?|\d{1,3}(?:['’]\d{3})+(?!\d)(?:[.,]\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?|\d(?:[\d.,]*\d)?(?:e[+-]?\d+)?)(?:([ \u00A0\u202F]?)([%％]|[千万萬億亿兆천만억조]|\p{Script=Latin}+\.?(?![\p{Script=Latin}\d²³])|[\p{L}\p{M}]+\.?(?![\p{L}\p{M}\d²³])))?/giu;

/** The numbers of a text, in its order; code, links, dates and numbering are left out. */
export function readNumbers(text: string): readonly WrittenNumber[] {
  const digitsOnly = toAsciiDigits(text).replace(currencyLetters, (letters) =>
    ' '.repeat(letters.length),
  );
  const visible = withoutOthers(digitsOnly);
  const matches = [...visible.matchAll(pattern)];
  const mark = decimalMark(matches.map((match) => match[3] ?? ''));
  const digits = matches.flatMap((match) => readMatch(match, { mark, visible }) ?? []);
  return [...digits, ...readWords(visible)].toSorted((a, b) => a.start - b.start);
}

/** Digits of other scripts, `１２` and `١٢`, as ours; every character keeps its place. */
function toAsciiDigits(text: string): string {
  return text.replaceAll(/(?![0-9])\p{Nd}|[٫٬]/gu, (character) => {
    if (character.length > 1) return character;
    if (character === '٫') return '.';
    if (character === '٬') return ',';
    const code = character.charCodeAt(0);
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCharCode(zero - 1))) zero -= 1;
    return String((code - zero) % 10);
  });
}

type DecimalMark = '.' | ',';

/** The mark before the decimals, as far as the numbers of a text agree on one. */
function decimalMark(numbers: readonly string[]): DecimalMark | undefined {
  const marks = new Set(numbers.flatMap((number) => ownDecimalMark(number) ?? []));
  const [mark] = marks;
  return marks.size === 1 ? mark : undefined;
}

function ownDecimalMark(number: string): DecimalMark | undefined {
  const last = Math.max(number.lastIndexOf('.'), number.lastIndexOf(','));
  if (last < 0) return undefined;
  const mark = number[last] === '.' ? '.' : ',';
  const other = mark === '.' ? ',' : '.';
  const isRepeated = number.indexOf(mark) !== last;
  if (isRepeated) return other;
  if (number.includes(other)) return mark;
  // Three digits behind a single mark may be decimals or thousands.
  return number.length - last - 1 === 3 && !number.startsWith('0') ? undefined : mark;
}

interface TextStyle {
  readonly mark: DecimalMark | undefined;
  readonly visible: string;
}

type MatchedParts = [
  whole: string,
  sign: string,
  innerSign: string,
  number: string,
  gap: string,
  unit: string,
];

function readMatch(
  match: RegExpExecArray,
  { mark, visible }: TextStyle,
): WrittenNumber | undefined {
  const [whole, sign, innerSign, number, gap, unit] = Array.from(
    match,
    (part) => part ?? '',
  ) as MatchedParts;
  const isOwnPercent = hasOwnPercent(match, visible.slice(match.index + whole.length));
  const scale = isOwnPercent ? 1 : scaleOf(unit, gap);
  // Letters right behind digits make a name of them, such as 3D; 1,240MWh is none.
  if (scale === undefined && gap === '' && /^\d+$/.test(number) && isName(unit)) return undefined;
  const isBare = scale === undefined;
  const text = isBare ? whole.slice(0, -1 * (gap + unit).length || undefined) : withoutPoint(whole);
  const [start, end] = [match.index, match.index + text.length];
  const [before, behind] = [visible.slice(0, start), visible.slice(end)];
  const isAmount = currency.test(whole);
  const isPercent =
    isOwnPercent || (isBare && !isAmount && isPercentAround(number, before, behind));
  const written = signOf(sign + innerSign);
  const readings = scaled(readDigits(number, mark), (scale ?? 1) * (written === '-' ? -1 : 1));
  const isMoney = !isPercent && hasCurrency(whole, behind.slice(0, 12));
  const isYear = isBare && isYearForm(number, written);
  return { text, start, end, readings, isPercent, isMoney, sign: written, isYear };
}

function hasOwnPercent([whole, , , number = '', , unit = '']: RegExpExecArray, behind: string) {
  return percentBefore.test(whole) || (!isScore(unit, number) && isPercentUnit(unit, behind));
}

/** Of a number without a unit of its own. */
function hasPercentBehind(number: string, behind: string): boolean {
  return !yearForm.test(number) && percentBehind.test(behind.slice(0, 24));
}

/** `447 points` of a game are no percentage points. */
function isScore(unit: string, number: string): boolean {
  return scoreUnit.test(unit) && /\d[.,\u00A0\u202F ’']?\d{3}|\d{4}|[2-9]\d\d/.test(number);
}

function isYearForm(number: string, sign: WrittenNumber['sign']): boolean {
  return sign !== '-' && yearForm.test(number);
}

function scaled(readings: WrittenNumber['readings'], size: number): WrittenNumber['readings'] {
  return readings.map(({ value, step }) => ({ value: value * size, step: step * Math.abs(size) }));
}

function isPercentAround(number: string, before: string, behind: string): boolean {
  return hasPercentBehind(number, behind) || isOfSplit(number, before, behind);
}

/** `a 70/30 split` has two percentages. */
function isOfSplit(number: string, before: string, behind: string): boolean {
  const isPart = /^\d{1,2}$/.test(number) && split.test(behind);
  return isPart && (/^\s?[/:]/.test(behind) || /(?<!\d)\d{1,2}\s?[/:]\s?$/.test(before));
}

const split = /^(?:\s?[/:]\s?\d{1,2})?\s(?:split|ratio|mix|verhältnis)(?!\p{L})/iu;

const yearForm = /^(?:19|20|21)\d\d$/;
const percentSign = /^[%％]$/;
/** Turkish writes `%54,5`. */
const percentBefore = /^[-−+]?%/;

/** `0.42 to 2.11 pp`: the unit of the second number is the unit of both. And `(0.42) %`. */
const percentBehind =
  /^\)\s?[%％]|^\s?(?:[-–]|to|and|bis|und|à|et|a|e|y|tot|en|do)\s?\d[\d.,]*\s?(?:[%％]|percent|prozent|pp|pts)/iu;

/** `4 por ciento` is a percentage, `4 por tienda` is none. */
function isPercentUnit(unit: string, behind: string): boolean {
  if (/^(?:por|pour)$/i.test(unit)) return /^\s?cen/i.test(behind);
  return percentSign.test(unit) || percentWord.test(unit.replace(/\.$/, ''));
}

function signOf(written: string): WrittenNumber['sign'] {
  if (/[-−]/.test(written)) return '-';
  return written.includes('+') ? '+' : undefined;
}

function hasCurrency(number: string, behind: string): boolean {
  return currency.test(number) || currencyBehind.test(behind);
}

const currency = /[€$£¥₹]|EUR|USD|GBP|CHF/;
const currencyBehind = /^\s?(?:[€$£¥₹]|(?:EUR|USD|GBP|CHF|euros?|dollars?|d’euros)(?!\p{L}))/iu;

/** The point behind a unit ends the sentence, unless the unit is an abbreviation. */
function withoutPoint(text: string): string {
  return /(?:mio|mrd|tsd)\.$/i.test(text) ? text : text.replace(/\.$/, '');
}

const scoreUnit = /^(?:points?|pts?|puntos?|pontos?|punti)\.?$/i;

const percentWord =
  /^(?:percent|prozent|pct|percentage|procent|proc|процент\p{L}*|por|pour|pp|pts?|points?|prozentpunkte?n?|puntos?|pontos?|punti)$/iu;

/** What a unit multiplies by; undefined if it is no word for that. */
function scaleOf(unit: string, gap: string): number | undefined {
  const whole = wordScales.get(unit.toLowerCase());
  const word = unit
    .toLowerCase()
    // `3.2 million` of what is `x` as large.
    .replace(/(?<=^(?:thousand|million|billion))x$/u, '')
    .replace(/(?<=^\p{Script=Latin}+)[^\p{Script=Latin}.].*$/u, '')
    .replace(/\.$/, '');
  const scale = scaleWords.get(word) ?? whole ?? wordScales.get(word);
  if (scale !== undefined) return gap !== '' || unit.length <= 2 ? scale : undefined;
  return /^[千万萬億亿兆천만억조]/.test(unit) ? scaleWords.get(unit.slice(0, 1)) : undefined;
}

/** `MRR (k EUR)` or `in thousands` above a column: its numbers are written without their scale. */
export function underHeader(number: WrittenNumber, header: string): WrittenNumber {
  const inside = /\(([^()]{1,20})\)|(?<!\p{L})in\s(\p{L}{2,12})/iu.exec(header);
  const words = (inside?.[1] ?? inside?.[2] ?? '').split(/[^\p{L}]+/u);
  const isMoney = currency.test(inside?.[0] ?? '');
  const scale = words
    .filter((word) => word.length > 1 || isMoney)
    .map((word) => scaleWords.get(word.toLowerCase().replace(/(?<=nd|on)s$/, '')))
    .find((size) => size !== undefined);
  const hasOwn = /\p{L}/u.test(number.text) || number.isPercent;
  if (scale === undefined || hasOwn) return number;
  const readings = number.readings.map(({ value, step }) => ({
    value: value * scale,
    step: step * scale,
  }));
  return { ...number, readings };
}

function isName(unit: string): boolean {
  return /^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(unit) && !/^(?:x|EUR|USD)$/i.test(unit);
}

function readWords(text: string): WrittenNumber[] {
  return readSpelledNumbers(text).map(({ value, step, text: words, start, end: wordsEnd }) => {
    const unit = /^[ \u00A0](%|\p{L}+)(?![\p{L}\d])/u.exec(text.slice(wordsEnd, wordsEnd + 20));
    const isPercent = percentSign.test(unit?.[1] ?? '') || percentWord.test(unit?.[1] ?? '');
    const end = isPercent ? wordsEnd + (unit?.[0].length ?? 0) : wordsEnd;
    const readings = [{ value, step }];
    const said = text.slice(start, end) || words;
    return { text: said, start, end, readings, isPercent, isMoney: false, isYear: false };
  });
}

/** What digits with points and commas may mean. */
function readDigits(written: string, mark?: DecimalMark): WrittenNumber['readings'] {
  const [digits = '', exponent] = written.toLowerCase().split('e');
  const compact = digits.replaceAll(/[ \u00A0\u202F'’]/g, '');
  const power = 10 ** Number(exponent ?? 0);
  return digitForms(compact, mark).flatMap((form) => {
    const value = Number(form);
    const decimals = form.split('.')[1]?.length ?? 0;
    return Number.isFinite(value) ? [{ value: value * power, step: 10 ** -decimals * power }] : [];
  });
}

/** Digits with a point before their decimals and no other mark. */
function digitForms(compact: string, mark: DecimalMark | undefined): readonly string[] {
  const hasPoint = compact.includes('.');
  const hasComma = compact.includes(',');
  if (!hasPoint && !hasComma) return [compact];
  if (!hasPoint || !hasComma)
    return formsOfOneMark(compact, { separator: hasPoint ? '.' : ',', mark });
  const isComma = compact.lastIndexOf(',') > compact.lastIndexOf('.');
  return [isComma ? compact.replaceAll('.', '').replace(',', '.') : compact.replaceAll(',', '')];
}

interface Marks {
  readonly separator: DecimalMark;
  /** The mark before decimals elsewhere in the text. */
  readonly mark: DecimalMark | undefined;
}

function formsOfOneMark(compact: string, { separator, mark }: Marks): readonly string[] {
  const groups = compact.split(separator);
  const isIndian = groups.length > 2 && groups.at(-1)?.length === 3;
  const isGroup = ({ length }: string) => length === 3 || (isIndian && length === 2);
  const isGrouped = groups[0] !== '0' && groups.slice(1).every(isGroup);
  const isPair = groups.length === 2;
  // Nobody writes three zeros behind the point of a whole number.
  const isWhole = isGrouped && /^0+$/.test(groups[1] ?? '');
  const isOtherMark = isGrouped && mark !== undefined && mark !== separator;
  return [
    ...(isGrouped && !(mark === separator && isPair) ? [groups.join('')] : []),
    ...(isPair && !isOtherMark && !isWhole ? [groups.join('.')] : []),
  ];
}
