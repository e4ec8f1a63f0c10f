import { foldText } from './words.ts';

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
  thirteen: 13,
  fourteen: 14,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
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
export function numbersIn(text: string): number[] {
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

export function statedNumbers(context: string): ReadonlySet<number> {
  const words = foldText(context).split(/[^\p{L}]+/u);
  const spelled = words.flatMap((word) =>
    Object.hasOwn(numberWords, word) ? (numberWords[word] ?? []) : [],
  );
  // Also the number that a name or a date contains: `q1`, `2024-05-01`.
  const inside = (context.match(/\d+/g) ?? []).map(Number);
  return new Set([...numbersIn(context), ...inside, ...spelled]);
}

/** Words that are numbers only now and then, or only in company. */
const looseNumberWords: ReadonlySet<string> = new Set(
  'one eins half week weekly year yearly quarter hundred thousand'.split(' '),
);
const isoDate = /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/g;

/** The numbers and dates of the text that the context does not have, as digits or as words. */
export function missingNumbers(text: string, context: string): string[] {
  const stated = statedNumbers(context);
  const spelled = foldText(text)
    .split(/[^\p{L}]+/u)
    .filter((word) => {
      const number = Object.hasOwn(numberWords, word) ? numberWords[word] : undefined;
      return number !== undefined && !looseNumberWords.has(word) && !stated.has(number);
    });
  const statedDates: readonly string[] = context.match(isoDate) ?? [];
  const dates = (text.match(isoDate) ?? []).filter(
    (date) => statedDates.length > 0 && !statedDates.includes(date),
  );
  const digits = (text.match(/(?<![\p{L}\p{N}_.,])\d[\d.,'\u00A0]*/gu) ?? [])
    .map((written) => written.replace(/[.,']+$/, ''))
    .filter((written) => {
      const numbers = readings(written);
      return numbers.length === 0
        ? !context.includes(written)
        : !numbers.some((number) => stated.has(number));
    });
  return [...dates, ...spelled, ...digits];
}

/** A formula has 15 % as 0.15, and takes it off or adds it as 0.85 or 1.15. */
export function isComputedFrom(number: number, stated: ReadonlySet<number>): boolean {
  const isNear = (candidate: number) => Math.abs(number - candidate) <= Math.abs(number) * 1e-9;
  return [...stated].some((said) =>
    [said, said / 100, 1 - said / 100, 1 + said / 100].some(isNear),
  );
}
