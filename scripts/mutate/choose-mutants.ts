import type { Mutant } from './mutant.ts';

interface Choice {
  /** Parts of names; empty selects every mutant. */
  readonly words: readonly string[];
  /** 0 to 4, or '' for the fifth whose turn is today. Undefined selects every mutant. */
  readonly fifth: string | undefined;
  readonly now: number;
}

/**
 * The mutants that a run tries. Every mutant belongs to one fifth, and each has its turn within
 * five days.
 */
export function chooseMutants(
  mutants: readonly Mutant[],
  { words, fifth, now }: Choice,
): readonly Mutant[] {
  const today = Math.floor(now / 86_400_000) % 5;
  const turn = fifth === '' ? today : Number(fifth);
  if (fifth !== undefined && ![0, 1, 2, 3, 4].includes(turn))
    throw new Error(`--fifth=${fifth}: use 0, 1, 2, 3 or 4, or --fifth alone for today's.`);
  return mutants
    .filter((_, index) => fifth === undefined || index % 5 === turn)
    .filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
}
