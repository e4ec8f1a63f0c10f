import { decimalCell, doubleCell } from './number-cells.ts';

/**
 * JSON in which a number that a double cannot hold is its digits, as text. Throws a SyntaxError for
 * anything else.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

function keepDigits(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isInteger = /^-?\d+$/.test(source);
  if (!isInteger) return decimalCell(source);
  return Number.isSafeInteger(value) ? doubleCell(value) : source;
}
