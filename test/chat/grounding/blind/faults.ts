import type { Dice } from '../../../conformance/seeded.ts';

interface Faulty {
  readonly operator: string;
  readonly text: string;
  /** Where the fault is. */
  readonly span: readonly [start: number, end: number];
}

const pattern = /\{(?:([mpdc]):([^~{}]*)~([^{}]*)|([^{}]*))\}/g;

/** The text without its marks. */
export function plainText(marked: string): string {
  return marked.replaceAll(
    pattern,
    (...[, , right, , number]: readonly (string | undefined)[]) => right ?? number ?? '',
  );
}

const digits = (text: string) => [...text.matchAll(/\d/g)].map(({ index }) => index);

function withDigit(text: string, at: number | undefined, change: (digit: number) => number) {
  if (at === undefined) return undefined;
  const changed = text.slice(0, at) + String(change(Number(text[at]))) + text.slice(at + 1);
  return /(?<!\d)0(?=\d)/.test(changed) && !/(?<!\d)0(?=\d)/.test(text) ? undefined : changed;
}

type Operator = (text: string, dice: Dice) => string | undefined;

/** What goes wrong with a number as it is written. Undefined where it cannot. */
const operators: Readonly<Record<string, Operator>> = {
  'first-digit': (text) => withDigit(text, digits(text)[0], (digit) => (digit % 9) + 1),
  'second-digit': (text) => withDigit(text, digits(text)[1], (digit) => (digit + 3) % 10),
  'last-digit': (text) => withDigit(text, digits(text).at(-1), (digit) => (digit + 4) % 10),
  'middle-digit': (text) => {
    const places = digits(text);
    return places.length < 4
      ? undefined
      : withDigit(text, places[Math.floor(places.length / 2)], (digit) => (digit + 6) % 10);
  },
  'digits-swapped': (text) => {
    const places = digits(text);
    const at = places.find((place, index) => {
      const next = places[index + 1];
      return next !== undefined && text[place] !== text[next] && text[next] !== '0';
    });
    const next = at === undefined ? undefined : places[places.indexOf(at) + 1];
    if (at === undefined || next === undefined) return undefined;
    return (
      text.slice(0, at) + text[next] + text.slice(at + 1, next) + text[at] + text.slice(next + 1)
    );
  },
  'digit-dropped': (text) => {
    const places = digits(text);
    const [at] = places.slice(1);
    return places.length < 3 || at === undefined || /[.,\s’']/.test(text)
      ? undefined
      : text.slice(0, at) + text.slice(at + 1);
  },
  'sign-added': (text) => (/^[-−+(]/.test(text) ? undefined : `-${text}`),
  'percent-for-amount': (text) => (/[%％]|\p{L}/u.test(text) ? undefined : `${text} %`),
  'ten-times-the-percent': (text) => {
    const [, number = '', rest = ''] = /^([\d]+)[.,]\d+(\s?[%％])$/.exec(text) ?? [];
    return number === '' ? undefined : `${number}${(Number(number) * 7 + 3) % 10}${rest}`;
  },
  'thousand-times': (text) => (/^[\d.,\s]+$/.test(text) ? `${text} million` : undefined),
  'number-of-nowhere': (text, dice) =>
    text.replaceAll(/\d/g, (digit) =>
      digit === '0' ? '0' : String(1 + ((Number(digit) + dice.between(1, 7)) % 9)),
    ),
};

const kinds: Readonly<Record<string, string>> = {
  m: 'wrong-member',
  p: 'wrong-period',
  d: 'wrong-direction',
  c: 'wrong-citation',
};

/** Each fault that each mark can have, one at a time. */
export function faultsOf(marked: string, dice: Dice): readonly Faulty[] {
  return [...marked.matchAll(pattern)].flatMap((mark) => {
    const [whole, kind, right = '', wrong = '', number] = mark;
    const put = (operator: string, text: string, was: string): Faulty => {
      const before = plainText(marked.slice(0, mark.index));
      const after = plainText(marked.slice(mark.index + whole.length));
      const span = [before.length, before.length + Math.max(text.length, was.length)] as const;
      return { operator, text: before + text + after, span };
    };
    if (kind !== undefined) return [put(kinds[kind] ?? kind, wrong, right)];
    return Object.entries(operators).flatMap(([operator, change]) => {
      const text = change(number ?? '', dice);
      return text === undefined || text === number ? [] : [put(operator, text, number ?? '')];
    });
  });
}
