import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { LimitReport } from '../port/backend.ts';
import { LlmError, type LlmErrorKind } from '../port/error.ts';

/**
 * A limit that is reached: all calls wait for its reset. Or, with `retry`, the pause of one call.
 */
export interface Pause {
  readonly window: string;
  readonly until: Date;
  readonly retry?: {
    readonly kind: LlmErrorKind;
    /** The attempt that follows. */
    readonly attempt: number;
    readonly attempts: number;
  };
}

export interface CallGateOptions {
  /** Maximum number of calls at once. */
  readonly concurrency: number;
  /** If a reset is further away than this, calls fail with the time of the reset. */
  readonly longestPauseMs: number;
  readonly onPause: (pause: Pause) => void;
}

/** Clocks differ, and providers round the reset down to a second. */
const marginMs = 1000;
/** How long a limit counts as near if the provider names no reset. */
const nearMs = 60_000;

/**
 * Every call of the process passes this gate. Normally `concurrency` calls run at once; close to a
 * limit only one; while a limit is reached none.
 */
export class CallGate {
  readonly #options: CallGateOptions;
  readonly #queue: PQueue;
  readonly #reachedUntil = new Map<string, Date>();
  readonly #nearUntil = new Map<string, Date>();
  #announcedReset = 0;

  constructor(options: CallGateOptions) {
    this.#options = options;
    this.#queue = new PQueue({ concurrency: options.concurrency });
  }

  /** Resolves when the call may start. The returned function gives the slot back. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.#adjustConcurrency();
    const entered = Promise.withResolvers<() => void>();
    const left = Promise.withResolvers<void>();
    const onAbort = (): void => entered.reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const holdSlot = async (): Promise<void> => {
      await this.waitForReset(signal);
      signal.throwIfAborted();
      entered.resolve(left.resolve);
      await left.promise;
      this.#adjustConcurrency();
    };
    // The queue does not get the signal: it would free the slot of a call that is still ending.
    this.#queue.add(holdSlot).catch(entered.reject);
    return entered.promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  report({ window, state, resetsAt }: LimitReport): void {
    this.#nearUntil.delete(window);
    if (state === 'near')
      this.#nearUntil.set(window, isValidDate(resetsAt) ? resetsAt : new Date(Date.now() + nearMs));
    if (state === 'closed' && isValidDate(resetsAt)) {
      this.#reachedUntil.set(window, resetsAt);
      this.#announce({ window, until: resetsAt });
    }
    this.#adjustConcurrency();
  }

  /** The reached limit with the latest reset; undefined if no limit is reached. */
  pause(): Pause | undefined {
    dropPast(this.#reachedUntil);
    const [latest] = [...this.#reachedUntil].toSorted(([, a], [, b]) => b.getTime() - a.getTime());
    return latest && { window: latest[0], until: latest[1] };
  }

  /** Waiting calls start at once if there is room for them again. */
  #adjustConcurrency(): void {
    dropPast(this.#nearUntil);
    this.#queue.concurrency = this.#nearUntil.size > 0 ? 1 : this.#options.concurrency;
  }

  /** One call pauses before its request is sent again. */
  announceRetry(pause: Pause): void {
    this.#options.onPause(pause);
  }

  /** Waits inside the slot, so that a call whose reset is too far away can fail. */
  async waitForReset(signal: AbortSignal): Promise<void> {
    for (let reached = this.pause(); reached !== undefined; reached = this.pause()) {
      signal.throwIfAborted();
      const ms = reached.until.getTime() - Date.now();
      if (ms > this.#options.longestPauseMs) throw limitReachedError(reached);
      this.#announce(reached);
      await sleep(Math.max(1, ms + marginMs), undefined, { signal }).catch(() =>
        signal.throwIfAborted(),
      );
    }
  }

  /** Announces each reset once, as soon as it is known. */
  #announce(reached: Pause): void {
    const { longestPauseMs, onPause } = this.#options;
    const reset = reached.until.getTime();
    const ms = reset - Date.now();
    // Calls that were refused together report the same reset some milliseconds apart.
    const isNew = Math.abs(this.#announcedReset - reset) > 1000;
    if (ms > 0 && ms <= longestPauseMs && isNew) onPause(reached);
    this.#announcedReset = reset;
  }
}

function dropPast(resets: Map<string, Date>): void {
  const now = Date.now();
  for (const [window, until] of resets) if (until.getTime() <= now) resets.delete(window);
}

function isValidDate(time: Date | undefined): time is Date {
  return time !== undefined && !Number.isNaN(time.getTime());
}

function limitReachedError({ window, until }: Pause): LlmError {
  const name = window.replaceAll('_', ' ');
  const message = `The model provider's limit is reached (${name}); it resets at ${until.toISOString()}.`;
  return new LlmError('rate_limit', message, { resetsAt: until, window, endsRun: true });
}
