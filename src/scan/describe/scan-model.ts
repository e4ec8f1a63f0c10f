import type { DeclaringRuntime } from '../../llm/port/runtime.ts';
import type { SendSettings } from '../profile/send-policy.ts';
import type { Journal } from '../../store/journal.ts';

/** The language model that a scan may call. */
export interface ScanModel {
  readonly runtime: DeclaringRuntime;
  readonly concurrency: number;
  /** Stores each answer as it arrives, so that nothing is paid for twice. */
  readonly journal: Pick<Journal, 'result' | 'keep'>;
  /** Which values may be sent to the model. Personal ones are never sent. */
  readonly send: SendSettings;
}
