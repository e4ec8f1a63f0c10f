import type { NamedDataset } from '../../../context/claims/name-index.ts';
import { refusal } from './resolve-names.ts';

/** What a proposal says, and the words around its quote that have to bear it out. */
interface Supported {
  /** The paragraph of the quote with the headings above it; of SQL, the passage. */
  readonly context: string;
  /** Of the thing that is claimed. Some word of each has to stand in the context. */
  readonly names?: readonly string[];
  /** Prose for people. Its numbers and code words have to stand in the context. */
  readonly texts?: readonly string[];
  /** SQL. Its columns, numbers and texts have to stand in the context. */
  readonly formulas?: readonly string[];
  /** The dataset of the formulas. */
  readonly owner?: NamedDataset;
  /** Other words for a field of that dataset, such as its description. */
  readonly otherWords?: (field: string) => readonly string[];
}

/**
 * Refuses what the quoted paragraph does not say: a quote proves nothing if it stands in a sentence
 * about something else. The answer names what is missing.
 */
export function requireSupport(supported: Supported): void {
  const { context, names = [], texts = [], formulas = [] } = supported;
  const place = foldText(context);
  for (const text of texts) requirePlainText(text, context);
  const missing = [
    ...names.filter((name) => !isNamed(place, [name])),
    ...texts.flatMap((text) => missingNumbers(text, context)),
    ...texts.flatMap((text) => missingCodeWords(text, place)),
    ...formulas.flatMap((formula) => missingInFormula(formula, supported, place)),
  ];
  if (missing.length === 0) return;
  throw refusal(
    `The paragraph of the quote does not say ${[...new Set(missing)].slice(0, 5).join(', ')}. Quote the words that do, or leave it out.`,
  );
}

const markup = /<\/?[a-z!][^<>]*>|\]\(|!\[/i;
const address = /\b(?:https?:\/\/|www\.)[^\s)>\]]*[^\s)>\].,;:!?]/gi;

function requirePlainText(text: string, context: string): void {
  if (markup.test(text)) throw refusal('Write plain words: no HTML and no Markdown.');
  const unknown = (text.match(address) ?? []).find((link) => !context.includes(link));
  if (unknown !== undefined) throw refusal(`The item has no link ${unknown.slice(0, 100)}.`);
}

/** Small letters without accents. */
function foldText(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The words of a name: `orderItems`, `order_items` and `Order Items` have the same. */
function wordsOf(name: string): string[] {
  return foldText(name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 2 || (word !== '' && !/^[a-z]+$/.test(word)));
}

/** Enough of a word to know it by: endings differ. */
const stemLength = 4;

/**
 * Whether the place has a word of one of the spellings. Names without any word, such as `x1`, have
 * nothing to look for.
 */
function isNamed(place: string, spellings: readonly string[]): boolean {
  const words = spellings.flatMap(wordsOf);
  return words.length === 0 || words.some((word) => place.includes(word.slice(0, stemLength)));
}

/** Numbers as words, without accents; a quarter has 3 months, a year 12, a week 7 days. */
const numberWords: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fourteen: 14,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  sixty: 60,
  ninety: 90,
  eins: 1,
  zwei: 2,
  drei: 3,
  vier: 4,
  sechs: 6,
  zehn: 10,
  zwolf: 12,
  dreissig: 30,
  dreißig: 30,
  deux: 2,
  trois: 3,
  quatre: 4,
  dix: 10,
  douze: 12,
  trente: 30,
  half: 0.5,
  week: 7,
  weekly: 7,
  year: 12,
  yearly: 12,
  quarter: 3,
  hundred: 100,
  thousand: 1000,
};

/** Numbers that stand alone: not the digits of a name like `q1`. */
function numbersIn(text: string): number[] {
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_.,])\d+(?:[.,'\u00A0 ]\d{3})*(?:[.,]\d+)?(?![\p{N}_])/gu,
  );
  return [...found].flatMap(([digits]) => readings(digits));
}

const thousands = /^\d{1,3}(?:([.,'\u00A0 ])\d{3})(?:\1\d{3})*$/;

/**
 * Each number that the digits may mean: `1.500` is 1500 or 1.5, but `1.5` is never 15. Empty for
 * what is no number, such as an address or a version.
 */
function readings(digits: string): number[] {
  const [, whole = digits, decimals] = /^(.*)[.,](\d+)$/.exec(digits) ?? [];
  const isGrouped = (text: string) => /^\d+$/.test(text) || thousands.test(text);
  const toInteger = (text: string) => text.replaceAll(/\D/g, '');
  const asWhole = isGrouped(digits) ? [Number(toInteger(digits))] : [];
  const asDecimal =
    decimals !== undefined && isGrouped(whole) ? [Number(`${toInteger(whole)}.${decimals}`)] : [];
  return [...asWhole, ...asDecimal];
}

function statedNumbers(context: string): ReadonlySet<number> {
  const words = foldText(context).split(/[^\p{L}]+/u);
  const spelled = words.flatMap((word) => numberWords[word] ?? []);
  // Also the number that a name or a date contains: `q1`, `2024-05-01`.
  const inside = (context.match(/\d+/g) ?? []).map(Number);
  return new Set([...numbersIn(context), ...inside, ...spelled]);
}

function missingNumbers(text: string, context: string): string[] {
  const stated = statedNumbers(context);
  return (text.match(/(?<![\p{L}\p{N}_.,])\d[\d.,'\u00A0]*/gu) ?? [])
    .map((digits) => digits.replace(/[.,']+$/, ''))
    .filter((digits) => {
      const numbers = readings(digits);
      return numbers.length === 0
        ? !context.includes(digits)
        : !numbers.some((number) => stated.has(number));
    });
}

/** A formula has 15 % as 0.15, and takes it off or adds it as 0.85 or 1.15. */
function isComputedFrom(number: number, stated: ReadonlySet<number>): boolean {
  const isNear = (candidate: number) => Math.abs(number - candidate) <= Math.abs(number) * 1e-9;
  return [...stated].some((said) =>
    [said, said / 100, 1 - said / 100, 1 + said / 100].some(isNear),
  );
}

/** Names in the spelling of code, like `order_items`. */
function missingCodeWords(text: string, place: string): string[] {
  const words = text.match(/[\p{L}\p{N}]+_[\p{L}\p{N}_]+/gu) ?? [];
  return words.filter((word) => !isNamed(place, [word]));
}

/** Numbers that a formula needs without anybody saying them. */
const neutralNumbers = new Set([0, 1, 100]);

function missingInFormula(
  formula: string,
  { context, owner, otherWords = () => [] }: Supported,
  place: string,
): string[] {
  const stated = statedNumbers(context);
  const texts = [...formula.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = '']) => text);
  const rest = formula.replaceAll(/'(?:[^']|'')*'/g, ' ');
  const numbers = numbersIn(rest).filter(
    (number) => !neutralNumbers.has(number) && !isComputedFrom(number, stated),
  );
  const fields = (rest.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? []).flatMap(
    (word) => owner?.fields.get(word.toLowerCase()) ?? [],
  );
  return [
    ...fields.filter((field) => !isNamed(place, [field, ...otherWords(field)])),
    ...numbers.map(String),
    ...texts.filter((text) => !isNamed(place, [text])).map((text) => `'${text.slice(0, 40)}'`),
  ];
}

/**
 * The paragraph of a text that has the line, from 1, with the headings above it and the name of the
 * file.
 */
export function paragraphAround(text: string, line: number, path: string): string {
  const lines = text.split('\n');
  const isBlank = (index: number) => (lines[index] ?? '').trim() === '';
  let [start, end] = [line - 1, line - 1];
  while (start > 0 && !isBlank(start - 1)) start -= 1;
  while (end + 1 < lines.length && !isBlank(end + 1)) end += 1;
  const headings: string[] = [];
  let level = 7;
  for (let index = start; index >= 0 && level > 1; index -= 1) {
    const [, marks = ''] = /^\s{0,3}(#{1,6})\s/.exec(lines[index] ?? '') ?? [];
    if (marks === '' || marks.length >= level) continue;
    level = marks.length;
    headings.unshift(lines[index] ?? '');
  }
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
  // A list or a table that a sentence introduces belongs to it.
  const before = /^\s*([-*+|]|\d+[.)])/.test(lines[start] ?? '')
    ? paragraphBefore(lines, start)
    : [];
  return [name, ...headings, ...before, ...lines.slice(start, end + 1)].join('\n');
}

function paragraphBefore(lines: readonly string[], start: number): readonly string[] {
  let end = start - 1;
  while (end >= 0 && (lines[end] ?? '').trim() === '') end -= 1;
  let first = end;
  while (first > 0 && (lines[first - 1] ?? '').trim() !== '') first -= 1;
  return end < 0 ? [] : lines.slice(first, end + 1);
}
