import type { Dice } from '../../../conformance/seeded.ts';

/** A whole number near another one: each seed tells the same story with numbers of its own. */
export const near = (dice: Dice, value: number) =>
  dice.between(Math.round(value * 0.985), Math.round(value * 1.015));

/** Rows of a story: each number is thrown near the one that is written. */
export function story(
  dice: Dice,
  ...rows: readonly (readonly [string | number, ...number[]])[]
): readonly (readonly [string | number, ...number[]])[] {
  return rows.map(([name, ...values]) => [name, ...values.map((value) => near(dice, value))]);
}
