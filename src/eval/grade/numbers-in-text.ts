import { readNumbers } from '../../chat/grounding/read-numbers.ts';
import { parseJson } from '../../lib/json.ts';

/**
 * Every number that a reader may see in the answer. In a JSON answer, a comma between numbers
 * separates them.
 */
export function numbersInAnswer(text: string): readonly number[] {
  const json = /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
  return json instanceof Object ? numbersInJson(json) : numbersInText(text);
}

function numbersInJson(value: unknown): readonly number[] {
  if (typeof value === 'number') return [value];
  if (typeof value === 'string') return numbersInText(value);
  return value instanceof Object ? Object.values(value).flatMap(numbersInJson) : [];
}

const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  tsd: 1e3,
  m: 1e6,
  mn: 1e6,
  mm: 1e6,
  mio: 1e6,
  mln: 1e6,
  million: 1e6,
  millions: 1e6,
  millionen: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  mrd: 1e9,
  milliards: 1e9,
  milliarden: 1e9,
};

/**
 * A number in prose: sign, currency, digits, and a unit or scale. Digits are groups of three
 * separated by spaces or apostrophes, or any run of digits, points and commas. A comma before a
 * space ends the number (`In 2025, 147 orders`); so does a space after more than three digits (`in
 * 2025 147 orders`).
 */
const numberPattern =
  /(?<![\p{L}\d]|[\p{L}\d][.,'’])(-?)(?:[€$£]\s?|(?:EUR|USD|GBP|CHF)\s?)?(\d{1,3}(?:(?:[ \u00A0\u202F]\d{3})+|(?:['’]\d{3})+)(?!\d)(?:[.,]\d+)?|\d[\d.,]*)(?:(\s?)(%|\p{L}+)(?![\p{L}\d²³]))?/gu;

/**
 * Reads 1,234.5 · 1.234,5 · 1 234 · 1'234 · 1.2 million · €3k. A percentage gives two numbers: 12 %
 * is 12 and 0.12.
 */
function numbersInText(text: string): readonly number[] {
  const citations = /\[q\d+(?:\s*,\s*q\d+)*\]/g;
  const prose = text.replaceAll(citations, ' ').replaceAll(dates, ' ').replaceAll('−', '-');
  return [
    ...new Set([...numbersInDigits(prose), ...numbersInWords(prose), ...numbersThatFell(prose)]),
  ];
}

/** Days and months. Their digits state no number. */
const dates = /\b(?:\d{4}-\d\d(?:-\d\d)?|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}\/\d{1,2}\/\d{1,2})\b/g;

/** Numbers in words and with an exponent. */
function numbersInWords(prose: string): readonly number[] {
  return readNumbers(prose).flatMap(({ readings, isPercent, text }) =>
    /^\D+$|\de[-+]?\d/iu.test(text)
      ? readings.flatMap(({ value }) => (isPercent ? [value, value / 100] : [value]))
      : [],
  );
}

/** `(1,234)` in a table of amounts, and `down 5 %`, are below zero. */
function numbersThatFell(prose: string): readonly number[] {
  const inBrackets = [...prose.matchAll(/\([€$£]?\s?(\d[\d.,]*\s?%?)\)/g)];
  const down = [
    ...prose.matchAll(
      /\b(?:down|fell|fallen|dropped|declined|decreased|shrank|lost)(?: by| about)* (\d[\d.,]*\s?%?)/gi,
    ),
  ];
  return [...inBrackets, ...down].flatMap(([, digits = '']) =>
    numbersInDigits(digits).map((number) => -number),
  );
}

function numbersInDigits(prose: string): readonly number[] {
  return [...prose.matchAll(numberPattern)].flatMap(([, sign, digits = '', gap, unit = '']) => {
    const compact = digits.replace(/[.,]+$/, '').replaceAll(/[ \u00A0\u202F'’]/g, '');
    return possibleValues(compact).flatMap((value) => {
      const number = sign === '-' ? -value : value;
      return unit === '%' ? [number, number / 100] : scaledValues(number, unit, gap !== '');
    });
  });
}

/** `5 m` may be five million or five metres. */
function scaledValues(number: number, unit: string, hasGap: boolean): readonly number[] {
  const scale = scales[unit.toLowerCase()] ?? 1;
  const isAmbiguous = scale !== 1 && hasGap && unit.length === 1;
  return isAmbiguous ? [number * scale, number] : [number * scale];
}

/**
 * The values that digits with points and commas can have: in `1.234`, the point may separate
 * thousands or decimals.
 */
function possibleValues(digits: string): readonly number[] {
  const lastSeparator = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (lastSeparator === -1) return [Number(digits)];
  const withoutSeparators = (text: string) => text.replaceAll(/[.,]/g, '');
  const whole = Number(withoutSeparators(digits));
  const decimal = Number(
    `${withoutSeparators(digits.slice(0, lastSeparator))}.${digits.slice(lastSeparator + 1)}`,
  );
  const separators = digits.match(/[.,]/g) ?? [];
  if (!isGrouped(digits, separators)) return [decimal];
  return separators.length > 1 ? [whole] : [whole, decimal];
}

/** Thousands (1,234,567) or lakhs (12,34,567). */
function isGrouped(digits: string, separators: readonly string[]): boolean {
  const isLakhs = /^\d{1,2}(?:,\d\d)+,\d{3}$/.test(digits);
  const [, ...groups] = digits.split(/[.,]/);
  const isThousands = new Set(separators).size === 1 && groups.every(({ length }) => length === 3);
  return isLakhs || isThousands;
}
