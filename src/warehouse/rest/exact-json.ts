import { decimalCell } from '../result/number-cells.ts';

/**
 * JSON in which a number that a double cannot hold is the text of its digits. Throws a SyntaxError
 * for a text that is no JSON.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

function keepDigits(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const isInteger = /^-?\d+$/.test(source);
  if (!isInteger) return decimalCell(source);
  return Number.isSafeInteger(value) ? value : source;
}
