import type { DeclaringRuntime } from '../llm/port/runtime.ts';
import type { SendSettings } from '../scan/profile/send-policy.ts';
import type { Journal } from '../store/journal.ts';
import type { LoopTools } from './loop-tools.ts';

/** The model of a run, and what its stages need with it. */
export interface IngestModel {
  readonly runtime: DeclaringRuntime;
  /** Saves answers that were paid for as they arrive, before anything else uses them. */
  readonly journal: Pick<Journal, 'result' | 'keep'>;
  /** The number of work units at a time. */
  readonly concurrency: number;
  /** The maximum number of assistant turns of one loop. */
  readonly stepBudget: number;
  readonly tools: LoopTools;
  /** Which values may be sent to the model. Personal ones are never sent. */
  readonly send: SendSettings;
}
