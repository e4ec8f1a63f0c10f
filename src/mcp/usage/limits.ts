import { UserError } from '../../lib/error.ts';
import type { DaySpendingLimits } from './day-spending.ts';
import type { DayLimits, DayUsage } from './day-usage.ts';

/** What one caller may ask. */
export interface CallerLimits extends DayLimits, DaySpendingLimits {
  readonly requestsPerMinute: number;
  readonly concurrentQueries: number;
}

/** HTTP requests for each call of a tool: a client of 2025 sends a few before its first call. */
export const requestsPerCall = 10;

/** Counts what one caller asks. */
export interface OpenLimits {
  /** Takes an HTTP request. Seconds to wait if there are too many; otherwise 0. */
  takeRequest(): number | Promise<number>;
  /** Takes a call of a tool; the error is for the model that called too often. */
  takeCall(): UserError | undefined | Promise<UserError | undefined>;
  /** Takes a query until `endQuery`; the error is for the model that asks too much at once. */
  startQuery(): UserError | undefined | Promise<UserError | undefined>;
  /** `bytes` of its answer. */
  endQuery(bytes: number): void | Promise<void>;
}

/** Counts what one caller asks of this server. `now` is a clock in milliseconds. */
export function openLimits(
  { requestsPerMinute, concurrentQueries }: CallerLimits,
  day: DayUsage,
  now: () => number = () => performance.now(),
) {
  const calls = openBucket(requestsPerMinute, now);
  const requests = openBucket(requestsPerMinute * requestsPerCall, now);
  let running = 0;
  return {
    takeRequest: (): number => requests.take(),
    takeCall(): UserError | undefined {
      const wait = calls.take();
      return wait === 0 ? undefined : rateLimited(requestsPerMinute, wait);
    },
    startQuery(): UserError | undefined {
      if (running >= concurrentQueries) return tooManyQueries(concurrentQueries);
      const error = day.takeQuery();
      if (error === undefined) running += 1;
      return error;
    },
    endQuery(bytes: number): void {
      running -= 1;
      day.addBytes(bytes);
    },
  } satisfies OpenLimits;
}

export function rateLimited(perMinute: number, wait: number): UserError {
  const message = `This token may call ${perMinute} tools a minute, and did.`;
  const hint = `Wait ${wait} s, then call again.`;
  return new UserError('rate_limited', message, { hint, retryable: true });
}

export function tooManyQueries(most: number): UserError {
  const message = `This token may run ${most} queries at a time, and does.`;
  const hint = 'Wait for the answer of one of them, then call again.';
  return new UserError('too_many_queries', message, { hint, retryable: true });
}

/** A bucket of `perMinute` that is full at first and fills up again evenly. */
export function openBucket(perMinute: number, now: () => number) {
  const minute = 60_000;
  const interval = minute / perMinute;
  let fullAt = now();
  return {
    /** Takes one and returns 0. If there is none, returns the seconds until there is one. */
    take(): number {
      const at = now();
      const next = Math.max(fullAt, at) + interval;
      const wait = next - at - minute;
      // Adding up intervals is not exact: a thousandth of a millisecond is no wait.
      if (wait > 0.001) return Math.ceil(wait / 1000);
      fullAt = next;
      return 0;
    },
  };
}
