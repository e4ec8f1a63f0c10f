import type { Cell } from './warehouse.ts';

/** A number if a double holds the integer exactly, otherwise its digits as text. */
export function integerCell(value: bigint): Cell {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A number if a double keeps all digits, otherwise the text unchanged. Text that is not a number stays text. */
export function decimalCell(text: string): Cell {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  const withoutTrailingZeros = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  const digits = withoutTrailingZeros === '-0' ? '0' : withoutTrailingZeros;
  const isExact = /e/i.test(text) || String(number) === digits;
  return isExact ? number : text;
}
