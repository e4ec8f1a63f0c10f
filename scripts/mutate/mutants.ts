import { childrenMutants } from './children.ts';
import { contextMutants } from './context.ts';
import { describeMutants } from './describe.ts';
import { egressMutants } from './egress.ts';
import { embeddingMutants } from './embeddings.ts';
import { evalMutants } from './eval.ts';
import { extensionMutants } from './extensions.ts';
import { faultMutants } from './faults.ts';
import { gateMutants } from './gate.ts';
import { hostileServerMutants } from './hostile-servers.ts';
import { llmMutants } from './llm.ts';
import type { Mutant } from './mutant.ts';
import { secondStageMutants } from './second-stage.ts';
import { semanticMutants } from './semantic.ts';
import { sourceMutants } from './sources.ts';
import { storeMutants } from './store.ts';
import { timeSpineMutants } from './time-spine.ts';
import { trustMutants } from './trust.ts';

/** Every mutant, in the order of `npm run mutate`. */
export const mutants: readonly Mutant[] = [
  ...gateMutants,
  ...extensionMutants,
  ...storeMutants,
  ...timeSpineMutants,
  ...trustMutants,
  ...hostileServerMutants,
  ...llmMutants,
  ...faultMutants,
  ...childrenMutants,
  ...egressMutants,
  ...embeddingMutants,
  ...semanticMutants,
  ...secondStageMutants,
  ...contextMutants,
  ...describeMutants,
  ...evalMutants,
  ...sourceMutants,
];
