import { warehouseError } from './warehouse-error.ts';

/** The largest number that timers and the wire protocols take. */
export const maxInt32 = 2 ** 31 - 1;

export interface CallLimits {
  readonly signal: AbortSignal;
  /** Two minutes if undefined; statements over an engine's own catalogs use that. */
  readonly timeoutMs?: number;
}

/** How long an engine may take to stop after a cancel; after that the call fails without waiting for it. */
const graceMs = 1000;

/**
 * Runs `work` until it ends, the caller aborts, or the time is over. `work` gets the limit in whole milliseconds. `cancel` is
 * called once if the caller or the limit comes first. Throws `query_cancelled` or `query_timeout`.
 */
export async function withTimeLimit<T>(
  { timeoutMs = 120_000, signal, cancel }: CallLimits & { readonly cancel: () => void },
  work: (milliseconds: number) => Promise<T>,
): Promise<T> {
  const milliseconds = Math.min(Math.ceil(timeoutMs), maxInt32);
  const stop = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const graceOver = Promise.withResolvers<never>();
  let graceTimer: NodeJS.Timeout | undefined;
  const cancelWork = (): void => {
    cancel();
    graceTimer = setTimeout(() => graceOver.reject(stop.reason), graceMs);
  };
  stop.addEventListener('abort', cancelWork, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work(milliseconds), graceOver.promise]);
  } catch (error) {
    if (!stop.aborted) throw error;
    if (stop.reason === signal.reason)
      throw warehouseError('query_cancelled', 'The query was cancelled.');
    throw warehouseError(
      'query_timeout',
      `The query ran longer than ${timeoutMs / 1000} s and was cancelled.`,
    );
  } finally {
    stop.removeEventListener('abort', cancelWork);
    clearTimeout(graceTimer);
  }
}
