import { warehouseError } from './warehouse-error.ts';

/** The largest number that timers and the wire protocols take. */
export const maxInt32 = 2 ** 31 - 1;

export interface CallLimits {
  readonly signal: AbortSignal;
  /** Two minutes if undefined; statements over an engine's own catalogs use that. */
  readonly timeoutMs?: number;
}

interface CancellableLimits extends CallLimits {
  readonly cancel: () => void;
  /** For the error: how to find a statement that does not stop. */
  readonly hintIfRunning?: string;
}

/**
 * How long an engine may take to stop after a cancel; after that the call fails without waiting for
 * it.
 */
const graceMs = 1000;

/**
 * Runs `work` until it ends, the caller aborts, or the time is over. `work` gets the limit in whole
 * milliseconds. `cancel` is called once if the caller or the limit comes first. Throws
 * `query_cancelled` or `query_timeout`, which say so if `work` did not end after that: then the
 * engine may still be at it.
 */
export async function withTimeLimit<T>(
  { timeoutMs = 120_000, signal, cancel, hintIfRunning }: CancellableLimits,
  work: (milliseconds: number) => Promise<T>,
): Promise<T> {
  const milliseconds = Math.min(Math.ceil(timeoutMs), maxInt32);
  // A timeout of AbortSignal would stay until its time is over, one for each statement.
  const stopping = new AbortController();
  const stop = stopping.signal;
  const stopForCaller = (): void => stopping.abort(signal.reason);
  const limitTimer = setTimeout(() => stopping.abort(), milliseconds).unref();
  if (signal.aborted) stopForCaller();
  signal.addEventListener('abort', stopForCaller, { once: true });
  const graceOver = Promise.withResolvers<never>();
  let graceTimer: NodeJS.Timeout | undefined;
  let mayStillRun = false;
  const cancelWork = (): void => {
    cancel();
    graceTimer = setTimeout(() => {
      mayStillRun = true;
      graceOver.reject(stop.reason);
    }, graceMs);
  };
  stop.addEventListener('abort', cancelWork, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work(milliseconds), graceOver.promise]);
  } catch (error) {
    if (!stop.aborted) throw error;
    const limitMs = stop.reason === signal.reason ? undefined : timeoutMs;
    throw stopError({ limitMs, mayStillRun, hintIfRunning });
  } finally {
    clearTimeout(limitTimer);
    signal.removeEventListener('abort', stopForCaller);
    stop.removeEventListener('abort', cancelWork);
    clearTimeout(graceTimer);
  }
}

interface StopOutcome {
  /** Undefined if the caller stopped the query. */
  readonly limitMs: number | undefined;
  readonly mayStillRun: boolean;
  readonly hintIfRunning: string | undefined;
}

function stopError({ limitMs, mayStillRun, hintIfRunning }: StopOutcome): Error {
  const code = limitMs === undefined ? 'query_cancelled' : 'query_timeout';
  const isLate = limitMs === undefined ? '' : `ran longer than ${limitMs / 1000} s and `;
  if (!mayStillRun) return warehouseError(code, `The query ${isLate}was cancelled.`);
  const message = `The query ${isLate}was told to stop, but has not stopped: it may still be running.`;
  // Another try would be one more of the same.
  return warehouseError(code, message, { hint: hintIfRunning, retryable: false });
}
