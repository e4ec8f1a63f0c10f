import type { Cell } from '../warehouse.ts';

/** A number if a double holds the integer exactly, otherwise its digits as text. */
export function integerCell(value: bigint): Cell {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/**
 * A number if a double keeps all digits, otherwise the text unchanged. Text that is not a number
 * stays text.
 */
export function decimalCell(text: string): Cell {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  const withoutTrailingZeros = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  const digits = withoutTrailingZeros === '-0' ? '0' : withoutTrailingZeros;
  const isExact = /e/i.test(text) ? isDouble(text, number) : String(number) === digits;
  return isExact ? doubleCell(number) : text;
}

/** False for more digits than a double has, and for a value that it takes for zero. */
function isDouble(text: string, number: number): boolean {
  const [mantissa = ''] = text.toLowerCase().split('e');
  const digits = mantissa.replaceAll(/\D/g, '').replace(/^0+|0+$/g, '');
  return digits.length <= 17 && (digits === '') === (number === 0);
}

/**
 * JSON has neither infinities nor NaN, so they are text. Minus zero is zero, as every comparison in
 * SQL has it.
 */
export function doubleCell(value: number): Cell {
  if (!Number.isFinite(value)) return String(value);
  return value === 0 ? 0 : value;
}

/**
 * A single-precision number by its shortest digits: 0.1, where the same bits as a double are
 * 0.10000000149011612.
 */
export function floatCell(value: number): Cell {
  const precisions = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  const digits = precisions.find(
    (precision) => Math.fround(Number(value.toPrecision(precision))) === value,
  );
  const isExact = !Number.isFinite(value) || digits === undefined;
  return doubleCell(isExact ? value : Number(value.toPrecision(digits)));
}
