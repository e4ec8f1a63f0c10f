import { InvalidArgumentError } from '@commander-js/extra-typings';
import { parseByteSize } from '../../lib/byte-size.ts';

/** Parses the value of a flag: `10GB`, or a number of bytes. */
export function parseBytes(value: string): number {
  const bytes = parseByteSize(value);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError('a size such as 10GB');
}

/** Parses the value of a flag. */
export function parsePositiveInteger(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('a positive whole number');
}

/** Parses the value of a flag: an amount of money, which need not be whole. */
export function parsePositiveAmount(value: string): number {
  const number = Number(value);
  if (Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError('an amount such as 2.50');
}
