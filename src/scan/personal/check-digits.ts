/**
 * A number of people that has check digits, so that a column of them is told from a column of keys.
 */
interface CheckedNumber {
  readonly country: string;
  /** The whole number, without spaces, dots, dashes and slashes, in upper case. */
  readonly pattern: RegExp;
  readonly isValid: (text: string) => boolean;
}

const digitsOf = (text: string): number[] => Array.from(text, Number);

/** The sum of the digits, each multiplied by its weight. */
function weighted(text: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * Number(text[index] ?? 0), 0);
}

const lastDigit = (text: string): number => Number(text.at(-1));

export function isLuhn(text: string): boolean {
  const digits = digitsOf(text).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit : digit * 2;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** A remainder of 10 is written as 0 if `ten` says so; otherwise such numbers do not exist. */
function mod11(sum: number, ten: number | undefined): number | undefined {
  const rest = sum % 11;
  return rest === 10 ? ten : rest;
}

function remainder(text: string, divisor: number): number {
  return Array.from(text).reduce((rest, digit) => (rest * 10 + Number(digit)) % divisor, 0);
}

/** ISO 7064, MOD 11,10: German tax ids, Croatian OIB. */
function isMod11And10(text: string): boolean {
  let product = 10;
  for (const digit of digitsOf(text.slice(0, -1))) {
    const sum = (digit + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10 === lastDigit(text);
}

const verhoeffProducts = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
];
const verhoeffOrders = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
];

function isVerhoeff(text: string): boolean {
  const check = digitsOf(text)
    .toReversed()
    .reduce((sum, digit, index) => {
      const permuted = Number(verhoeffOrders[index % 8]?.[digit] ?? 0);
      return Number(verhoeffProducts[sum]?.[permuted] ?? 0);
    }, 0);
  return check === 0;
}

const validDay = (month: number, day: number): boolean =>
  month >= 1 && month <= 12 && day >= 1 && day <= 31;

/**
 * True for month and day at a position; 40 and 20 more stand for a century or for women in some
 * countries.
 */
const hasDate = (text: string, month: number, day: number): boolean =>
  validDay(Number(text.slice(month, month + 2)) % 20, Number(text.slice(day, day + 2)) % 40);

function isCpf(text: string): boolean {
  const check = (length: number): number => {
    const weights = Array.from({ length }, (_, index) => length + 1 - index);
    return ((weighted(text, weights) * 10) % 11) % 10;
  };
  return check(9) === Number(text[9]) && check(10) === Number(text[10]) && !/^(\d)\1+$/.test(text);
}

function isTckn(text: string): boolean {
  const odd = weighted(text, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const even = weighted(text, [0, 1, 0, 1, 0, 1, 0, 1]);
  const sum = digitsOf(text.slice(0, 10)).reduce((total, digit) => total + digit, 0);
  return (odd * 7 + 90 - even) % 10 === Number(text[9]) && sum % 10 === lastDigit(text);
}

function isFodselsnummer(text: string): boolean {
  const first = mod11(11 - (weighted(text, [3, 7, 6, 1, 8, 9, 4, 5, 2]) % 11), undefined);
  const second = mod11(11 - (weighted(text, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11), undefined);
  return first === Number(text[9]) && second === Number(text[10]) && hasDate(text, 2, 0);
}

function isSteuerId(text: string): boolean {
  const counts = Map.groupBy(text.slice(0, 10), (digit) => digit);
  return counts.size >= 8 && counts.size <= 9 && isMod11And10(text);
}

const curpLetters = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';

function isCurp(text: string): boolean {
  const sum = Array.from(text.slice(0, 17)).reduce(
    (total, letter, index) => total + curpLetters.indexOf(letter) * (18 - index),
    0,
  );
  return (10 - (sum % 10)) % 10 === lastDigit(text);
}

const oddValues = '1,0,5,7,9,13,15,17,19,21,2,4,18,20,11,3,6,8,12,14,16,10,22,25,24,23'
  .split(',')
  .map(Number);

function isCodiceFiscale(text: string): boolean {
  const sum = Array.from(text.slice(0, 15)).reduce((total, letter, index) => {
    const value = Number.parseInt(letter, 36) - (letter > '9' ? 10 : 0);
    return total + (index % 2 === 0 ? (oddValues[value] ?? 0) : value);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === text.at(-1);
}

const dniLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';

function isDni(text: string): boolean {
  const number = text.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return dniLetters[Number(number) % 23] === text.at(-1);
}

function isChineseId(text: string): boolean {
  const sum = weighted(text, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
  return '10X98765432'[sum % 11] === text.at(-1) && hasDate(text, 10, 12);
}

function isMyNumber(text: string): boolean {
  const rest = weighted(text, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return (rest <= 1 ? 0 : 11 - rest) === lastDigit(text);
}

function isHetu(text: string): boolean {
  const number = Number(text.slice(0, 6) + text.slice(-4, -1));
  return '0123456789ABCDEFHJKLMNPRSTUVWXY'[number % 31] === text.at(-1);
}

function isRut(text: string): boolean {
  const sum = digitsOf(text.slice(0, -1))
    .toReversed()
    .reduce((total, digit, index) => total + digit * ((index % 6) + 2), 0);
  return '0123456789K'[(11 - (sum % 11)) % 11] === text.at(-1);
}

const cnpWeights = [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9];
const egnWeights = [2, 4, 8, 5, 10, 9, 7, 3, 6];
const snilsWeights = [9, 8, 7, 6, 5, 4, 3, 2, 1];
const ahvWeights = [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3];
/** Danish numbers: the date of birth and four digits. */
export const isCpr = (text: string): boolean => /^\d{6}-\d{4}$/.test(text) && hasDate(text, 2, 0);

export const checkedNumbers: readonly CheckedNumber[] = [
  {
    country: 'PL',
    pattern: /^\d{11}$/,
    isValid: (t) =>
      hasDate(t, 2, 4) &&
      (10 - (weighted(t, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === lastDigit(t),
  },
  { country: 'BR', pattern: /^\d{11}$/, isValid: isCpf },
  { country: 'TR', pattern: /^[1-9]\d{10}$/, isValid: isTckn },
  { country: 'NO', pattern: /^\d{11}$/, isValid: isFodselsnummer },
  { country: 'DE', pattern: /^[1-9]\d{10}$/, isValid: isSteuerId },
  { country: 'HR', pattern: /^\d{11}$/, isValid: isMod11And10 },
  {
    country: 'BE',
    pattern: /^\d{11}$/,
    isValid: (t) =>
      hasDate(t, 2, 4) &&
      [t.slice(0, 9), `2${t.slice(0, 9)}`].some(
        (number) => 97 - remainder(number, 97) === Number(t.slice(9)),
      ),
  },
  {
    country: 'RU',
    pattern: /^\d{11}$/,
    isValid: (t) => (weighted(t, snilsWeights) % 101) % 100 === Number(t.slice(9)),
  },
  {
    country: 'FR',
    pattern: /^[12]\d{4}[\dAB]\d{9}$/,
    isValid: (t) =>
      97 - remainder(t.slice(0, 13).replace('A', '0').replace('B', '0'), 97) ===
      Number(t.slice(13)),
  },
  {
    country: 'GB',
    pattern: /^\d{10}$/,
    isValid: (t) =>
      mod11(11 - (weighted(t, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11), undefined) === lastDigit(t),
  },
  {
    country: 'BG',
    pattern: /^\d{10}$/,
    isValid: (t) => hasDate(t, 2, 4) && (weighted(t, egnWeights) % 11) % 10 === lastDigit(t),
  },
  {
    country: 'RO',
    pattern: /^[1-8]\d{12}$/,
    isValid: (t) =>
      hasDate(t, 3, 5) &&
      (mod11(weighted(`${t[0] ?? ''}${t.slice(1, 12)}`, [...cnpWeights]), 1) ?? 1) === lastDigit(t),
  },
  { country: 'ZA', pattern: /^\d{13}$/, isValid: (t) => hasDate(t, 2, 4) && isLuhn(t) },
  { country: 'IN', pattern: /^[2-9]\d{11}$/, isValid: isVerhoeff },
  { country: 'JP', pattern: /^\d{12}$/, isValid: isMyNumber },
  {
    country: 'KR',
    pattern: /^\d{13}$/,
    isValid: (t) =>
      hasDate(t, 2, 4) &&
      (11 - (weighted(t, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === lastDigit(t),
  },
  { country: 'CN', pattern: /^\d{17}[\dX]$/, isValid: isChineseId },
  {
    country: 'SE',
    pattern: /^(?:\d\d)?\d{10}$/,
    isValid: (t) => hasDate(t.slice(-10), 2, 4) && isLuhn(t.slice(-10)),
  },
  {
    country: 'NL',
    pattern: /^\d{9}$/,
    isValid: (t) => weighted(t, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
  },
  { country: 'CA', pattern: /^[1-9]\d{8}$/, isValid: isLuhn },
  {
    country: 'CH',
    pattern: /^756\d{10}$/,
    isValid: (t) => (10 - (weighted(t, ahvWeights) % 10)) % 10 === lastDigit(t),
  },
  {
    country: 'CZ',
    pattern: /^\d{10}$/,
    isValid: (t) => hasDate(t, 2, 4) && remainder(t, 11) === 0,
  },
  { country: 'TW', pattern: /^[A-Z][12]\d{8}$/, isValid: () => true },
  { country: 'SG', pattern: /^[STFGM]\d{7}[A-Z]$/, isValid: () => true },
  { country: 'IN', pattern: /^[A-Z]{3}P[A-Z]\d{4}[A-Z]$/, isValid: () => true },
  {
    country: 'GB',
    pattern: /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/,
    isValid: () => true,
  },
  { country: 'MX', pattern: /^[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d$/, isValid: isCurp },
  {
    country: 'IT',
    pattern: /^[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]$/,
    isValid: isCodiceFiscale,
  },
  { country: 'ES', pattern: /^[XYZ\d]\d{7}[A-Z]$/, isValid: isDni },
  { country: 'FI', pattern: /^\d{6}[A+]?\d{3}[0-9A-Y]$/, isValid: isHetu },
  { country: 'CL', pattern: /^\d{7,8}[\dK]$/, isValid: isRut },
];

/** Upper case, without the characters that people write between the digits. */
export const compactNumber = (text: string): string =>
  text.replaceAll(/[\s./-]/g, '').toUpperCase();
