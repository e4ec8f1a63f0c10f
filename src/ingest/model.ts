import type { KtxLlmRuntimePort } from '../llm/port/runtime.ts';
import type { Journal } from '../store/journal.ts';
import type { LoopTools } from './loop-tools.ts';

/** What the stages of a run need of a model. */
export interface IngestModel {
  readonly runtime: KtxLlmRuntimePort;
  /** Keeps what was paid for as it arrives, before anything else uses it. */
  readonly journal: Pick<Journal, 'result' | 'keep'>;
  /** Work units at once. */
  readonly concurrency: number;
  /** Assistant turns of one loop at most. */
  readonly stepBudget: number;
  readonly tools: LoopTools;
}
