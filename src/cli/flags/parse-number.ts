import { InvalidArgumentError } from '@commander-js/extra-typings';

/** Parses the value of a flag. */
export function parsePositiveInteger(value: string): number {
  const number = Number(value);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('a positive whole number');
}
