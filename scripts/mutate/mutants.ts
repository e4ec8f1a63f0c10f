import { gateMutants } from './gate.ts';
import type { Mutant } from './mutant.ts';
import { llmMutants } from './llm.ts';
import { storeMutants } from './store.ts';

/** Every mutant, in the order of `npm run mutate`. */
export const mutants: readonly Mutant[] = [...gateMutants, ...llmMutants, ...storeMutants];
