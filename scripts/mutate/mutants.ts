import { contextMutants } from './context.ts';
import { egressMutants } from './egress.ts';
import { evalMutants } from './eval.ts';
import { gateMutants } from './gate.ts';
import { llmMutants } from './llm.ts';
import type { Mutant } from './mutant.ts';
import { semanticMutants } from './semantic.ts';
import { storeMutants } from './store.ts';

/** Every mutant, in the order of `npm run mutate`. */
export const mutants: readonly Mutant[] = [
  ...gateMutants,
  ...storeMutants,
  ...llmMutants,
  ...egressMutants,
  ...semanticMutants,
  ...contextMutants,
  ...evalMutants,
];
