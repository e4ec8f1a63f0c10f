import type { LlmErrorKind } from '../../port/error.ts';
import type { Pause } from '../call-gate.ts';

/**
 * A pause as an event of `--json`: all calls wait for a reset, or one call before its next attempt.
 */
export type PauseEvent =
  | { readonly type: 'rate_limited'; readonly window: string; readonly resetsAt: string }
  | {
      readonly type: 'model_retried';
      readonly kind: LlmErrorKind;
      /** The attempt that follows. */
      readonly attempt: number;
      readonly attempts: number;
      readonly until: string;
    };

export function pauseEvent({ window, until, retry }: Pause): PauseEvent {
  return retry === undefined
    ? { type: 'rate_limited', window, resetsAt: until.toISOString() }
    : { type: 'model_retried', ...retry, until: until.toISOString() };
}
