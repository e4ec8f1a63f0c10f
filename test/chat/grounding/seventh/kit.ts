import type { Dice } from '../../../conformance/seeded.ts';

/** As many numbers as a text needs; a text that asks for more is a mistake of the set. */
type Few = readonly [number, number, number, number, number, number, number, number];

/** The numbers of a column. */
export const amounts = (rows: readonly (readonly (string | number)[])[], column = 1): Few =>
  rows.map((row) => Number(row[column])) as unknown as Few;

/** A number of each range. */
export const thrown = (dice: Dice, ...ranges: readonly (readonly [number, number])[]): Few =>
  ranges.map(([low, high]) => dice.between(low, high)) as unknown as Few;

/** Names, each with a number of each range. */
export function table(
  dice: Dice,
  names: string,
  ...ranges: readonly (readonly [number, number])[]
): readonly (readonly [string, ...number[]])[] {
  return names
    .split('|')
    .map((name) => [name, ...ranges.map(([low, high]) => dice.between(low, high))] as const);
}

export const total = (numbers: readonly number[]) => numbers.reduce((sum, own) => sum + own, 0);
