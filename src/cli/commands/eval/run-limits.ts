import { InvalidArgumentError } from '@commander-js/extra-typings';

/** How often a case is asked, or how many at once. */
export function parseCount(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('must be a whole number from 1 to 100.');
}

/** US dollars. */
export function parseBudget(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('must be an amount in US dollars, such as 2.50.');
}

export function parseMinutes(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('must be a number of minutes.');
}
