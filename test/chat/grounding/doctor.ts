import type { Dice } from '../../conformance/seeded.ts';
import type { Claim, Part } from './say.ts';
import { strangers } from './worlds.ts';

/** An answer with one fault in it. */
export interface DoctoredAnswer {
  readonly text: string;
  /** What was put in; empty if something was left out. */
  readonly fault: readonly [start: number, end: number];
}

/** Replaces the claim; undefined if the fault cannot be put into it. */
type Change = (claim: Claim, dice: Dice) => string | undefined;

/** The digits as a whole number of steps, changed, and written again. */
function byDigits(change: (digits: string, dice: Dice) => string | undefined): Change {
  return ({ value, write, step }, dice) => {
    if (value === undefined || write === undefined || step === undefined) return undefined;
    const digits = String(Math.round(Math.abs(value) / step));
    const changed = change(digits, dice);
    if (changed === undefined || changed === digits || Number(changed) === 0) return undefined;
    return write(Math.sign(value) * Number(changed) * step);
  };
}

function byValue(change: (value: number) => number): Change {
  return ({ value, write }) =>
    value === undefined || value === 0 ? undefined : write?.(change(value));
}

function fromRivals(name: string): Change {
  return ({ rivals, write, value = 0, step = 0 }, dice) => {
    const different = (rivals?.[name] ?? []).filter((rival) => Math.abs(rival - value) > 2 * step);
    const [first, ...rest] = different;
    return first === undefined ? undefined : write?.(dice.one([first, ...rest]));
  };
}

function fromTexts(name: string): Change {
  return ({ texts }, dice) => {
    const [first, ...rest] = texts?.[name] ?? [];
    return first === undefined ? undefined : dice.one([first, ...rest]);
  };
}

function changedDigit(digits: string, dice: Dice): string {
  const index = dice.between(0, digits.length - 1);
  const digit = Number(digits[index]);
  const other = (digit + dice.between(2, 8)) % 10;
  return (
    digits.slice(0, index) +
    (index === 0 && other === 0 ? 1 + (digit % 8) : other) +
    digits.slice(index + 1)
  );
}

function swappedDigits(digits: string, dice: Dice): string | undefined {
  const places = [...Array.from(digits.slice(1)).keys()].filter(
    (at) => digits[at] !== digits[at + 1] && digits[at + 1] !== '0',
  );
  const [first, ...rest] = places;
  if (first === undefined) return undefined;
  const at = dice.one([first, ...rest]);
  return digits.slice(0, at) + digits[at + 1] + digits[at] + digits.slice(at + 2);
}

const only =
  (kinds: readonly Claim['kind'][], change: Change): Change =>
  (claim, dice) =>
    kinds.includes(claim.kind) ? change(claim, dice) : undefined;
const figures = ['number', 'percent'] as const;

/** Each way to make an answer wrong that changes one claim. */
const changes: Readonly<Record<string, Change>> = {
  'digit-changed': byDigits(changedDigit),
  'digits-swapped': byDigits(swappedDigits),
  'digit-dropped': byDigits((digits, dice) => {
    const at = dice.between(0, digits.length - 1);
    return digits.length < 3 ? undefined : digits.slice(0, at) + digits.slice(at + 1);
  }),
  'digit-added': byDigits((digits, dice) => {
    const at = dice.between(1, digits.length);
    return digits.slice(0, at) + dice.between(1, 9) + digits.slice(at);
  }),
  'thousand-times': only(
    ['number'],
    byValue((value) => value * 1000),
  ),
  'ten-times': byValue((value) => value * 10),
  'a-tenth': only(['number'], ({ value = 0, step = 1, write }) =>
    Math.abs(value) / step < 100 ? undefined : write?.(value / 10),
  ),
  doubled: byValue((value) => value * 2),
  'rounded-wrong': byDigits((digits) => String(Number(digits) + (digits.endsWith('9') ? -3 : 3))),
  'sign-flipped': only(figures, ({ value = 0, write, rivals }) =>
    value < 0 || rivals?.['sign-flipped'] !== undefined ? write?.(-value) : undefined,
  ),
  'other-unit': ({ otherUnit }) => otherUnit,
  'neighbour-row': fromRivals('neighbour-row'),
  'other-column': fromRivals('other-column'),
  'wrong-share': fromRivals('wrong-share'),
  'wrong-growth': fromRivals('wrong-growth'),
  'wrong-difference': fromRivals('wrong-difference'),
  'wrong-ratio': fromRivals('wrong-ratio'),
  'wrong-total': fromRivals('wrong-total'),
  'wrong-average': fromRivals('wrong-average'),
  'wrong-count': fromRivals('wrong-count'),
  'wrong-citation': fromTexts('wrong-citation'),
  'missing-citation': fromTexts('missing-citation'),
  'wrong-member': fromTexts('wrong-member'),
  'unknown-member': only(['member'], (_, dice) => dice.one(strangers as [string, ...string[]])),
  'wrong-period': fromTexts('wrong-period'),
  'wrong-direction': fromTexts('wrong-direction'),
};

export const operators = [...Object.keys(changes), 'cells-swapped', 'figure-invented'];

export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** Puts one fault into the answer; undefined if it has nothing of that kind. */
export function doctor(
  parts: readonly Part[],
  operator: string,
  dice: Dice,
): DoctoredAnswer | undefined {
  if (operator === 'figure-invented') return withInventedFigure(parts, dice);
  if (operator === 'cells-swapped') return withSwappedCells(parts, dice);
  const change = changes[operator];
  const choices = parts.flatMap((part, index) => {
    const text = typeof part === 'string' ? undefined : change?.(part, dice);
    return text === undefined || typeof part === 'string' || text === part.text
      ? []
      : [{ index, text }];
  });
  const [first, ...rest] = choices;
  if (first === undefined) return undefined;
  const { index, text } = dice.one([first, ...rest]);
  return replaced(parts, index, text);
}

function replaced(parts: readonly Part[], index: number, text: string): DoctoredAnswer {
  const before = textOf(parts.slice(0, index));
  return {
    text: before + text + textOf(parts.slice(index + 1)),
    fault: [before.length, before.length + text.length],
  };
}

/** The values of two claims of the same column change places. */
function withSwappedCells(parts: readonly Part[], dice: Dice): DoctoredAnswer | undefined {
  const pairs = parts.flatMap((part, index) => {
    if (typeof part === 'string' || part.rivals?.['neighbour-row'] === undefined) return [];
    return parts.slice(index + 1).flatMap((other, offset) => {
      if (typeof other === 'string' || other.value === undefined || part.value === undefined)
        return [];
      const isRival = part.rivals?.['neighbour-row']?.includes(other.value) === true;
      const isApart = Math.abs(other.value - part.value) > 2 * (part.step ?? 0);
      return isRival && isApart ? [{ index, second: index + 1 + offset, part, other }] : [];
    });
  });
  const [first, ...rest] = pairs;
  if (first === undefined) return undefined;
  const { index, second, part, other } = dice.one([first, ...rest]);
  const swapped = parts.with(second, other.write?.(part.value ?? 0) ?? '');
  return replaced(swapped, index, part.write?.(other.value ?? 0) ?? '');
}

function withInventedFigure(parts: readonly Part[], dice: Dice): DoctoredAnswer {
  const text = textOf(parts);
  const sentence = dice.one([
    `A further ${dice.between(21, 89)}.${dice.between(1, 9)} % is expected next quarter.`,
    `The target was ${dice.between(1201, 9899)} EUR.`,
    `This is ${dice.between(31, 97)} % of the plan.`,
  ]);
  return {
    text: `${text} ${sentence}`,
    fault: [text.length + 1, text.length + 1 + sentence.length],
  };
}
