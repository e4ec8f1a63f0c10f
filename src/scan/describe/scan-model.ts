import type { KtxLlmRuntimePort } from '../../llm/port/runtime.ts';
import type { Journal } from '../../store/journal.ts';

/** The language model that a scan may call. */
export interface ScanModel {
  readonly runtime: KtxLlmRuntimePort;
  readonly concurrency: number;
  /** Stores each answer as it arrives, so that nothing is paid for twice. */
  readonly journal: Pick<Journal, 'result' | 'keep'>;
  /** Whether frequent values may be sent to the model. Values of personal kinds are never sent. */
  readonly samples: boolean;
}
