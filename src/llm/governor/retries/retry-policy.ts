import { durationMs } from '../../../lib/time/duration.ts';
import type { LlmConfig } from '../../config.ts';

/**
 * How often a request is sent that fails for a reason that passes, and when. The same for every
 * backend.
 */
export interface RetryPolicy {
  /** How often a request is sent at most, the first time included. */
  readonly attempts: number;
  /** The first pause. Each further pause is twice as long. */
  readonly firstPauseMs: number;
  /** No pause is longer: the call fails instead. */
  readonly longestWaitMs: number;
}

/** A longer pause helps no more, if the provider did not ask for it. */
const longestPauseMs = 30_000;

export function retryPolicy({ retries, max_wait: maxWait }: LlmConfig): RetryPolicy {
  return {
    attempts: retries.attempts,
    firstPauseMs: retries.first_pause_seconds * 1000,
    longestWaitMs: durationMs(maxWait),
  };
}

/**
 * The pause after so many failed attempts. Calls that failed together are spread by up to a
 * quarter, so that they do not come back together.
 */
export function pauseMs(
  failed: number,
  { firstPauseMs }: Pick<RetryPolicy, 'firstPauseMs'>,
  random: () => number = Math.random,
): number {
  const doubled = Math.min(longestPauseMs, firstPauseMs * 2 ** (failed - 1));
  return doubled * (0.75 + random() / 2);
}
