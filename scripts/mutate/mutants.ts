import type { Mutant } from './mutant.ts';

/** Every mutant, in the order of `npm run mutate`. */
export const mutants: readonly Mutant[] = [];
