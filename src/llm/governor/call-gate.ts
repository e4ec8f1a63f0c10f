import { LlmError } from '../port/error.ts';
import type { LimitReport } from '../port/backend.ts';

/** A wait of all calls for the reset of a limit. */
export interface Pause {
  readonly window: string;
  readonly until: Date;
}

export interface CallGateOptions {
  /** Calls at once. */
  readonly concurrency: number;
  /** A reset further away than this is not waited for: the call fails with the time of the reset. */
  readonly longestPauseMs: number;
  readonly onPause: (pause: Pause) => void;
}

/**
 * The one gate that every call of the process passes: so many at once; one at a time while a limit is near; none until
 * the reset of a limit that is reached.
 */
export interface CallGate {
  /** Resolves when the call may start, with what gives its place back. */
  enter(signal: AbortSignal): Promise<() => void>;
  report(limit: LimitReport): void;
  /** The limit that is waited for now. */
  pause(): Pause | undefined;
}

/** Clocks differ, and providers round a reset down to its second. */
const marginMs = 1000;

export function openCallGate({ concurrency, longestPauseMs, onPause }: CallGateOptions): CallGate {
  const closed = new Map<string, Date>();
  const near = new Map<string, Date>();
  const waiting: (() => void)[] = [];
  let running = 0;
  let announced = 0;

  const forgetPast = (now: number): void => {
    for (const limits of [closed, near]) {
      for (const [window, until] of limits) if (until.getTime() <= now) limits.delete(window);
    }
  };
  const pause = (): Pause | undefined => {
    forgetPast(Date.now());
    const [last] = [...closed].toSorted(([, a], [, b]) => b.getTime() - a.getTime());
    return last && { window: last[0], until: last[1] };
  };
  const isFree = (): boolean => running < (near.size > 0 ? 1 : concurrency);
  const wakeNext = (): void => waiting.shift()?.();

  return {
    pause,
    async enter(signal) {
      try {
        for (;;) {
          signal.throwIfAborted();
          const reached = pause();
          if (reached !== undefined) await sleepThrough(reached, signal);
          else if (isFree()) break;
          else await turn(waiting, signal);
        }
        running += 1;
      } finally {
        // Whoever was woken and goes away, or leaves room beside itself, wakes the next: a turn is never lost.
        if (isFree()) wakeNext();
      }
      return () => {
        running -= 1;
        wakeNext();
      };
    },
    report({ window, state, resetsAt }) {
      near.delete(window);
      if (state === 'near')
        near.set(window, isMoment(resetsAt) ? resetsAt : new Date(Date.now() + 60_000));
      if (state === 'closed' && isMoment(resetsAt)) {
        closed.set(window, resetsAt);
        announce({ window, until: resetsAt });
      }
      // With room again, more than one may go on.
      for (let free = waiting.length; free > 0 && isFree(); free -= 1) wakeNext();
    },
  };

  /** Said once a reset, when it is heard of: the wait may be inside a call that is running. */
  function announce(reached: Pause): void {
    const ms = reached.until.getTime() - Date.now();
    // Calls that were refused together name the same reset some milliseconds apart.
    if (ms > 0 && ms <= longestPauseMs && Math.abs(announced - reached.until.getTime()) > 1000)
      onPause(reached);
    announced = reached.until.getTime();
  }

  async function sleepThrough(reached: Pause, signal: AbortSignal): Promise<void> {
    const ms = reached.until.getTime() - Date.now();
    if (ms > longestPauseMs) throw limitReached(reached);
    announce(reached);
    const { setTimeout: sleep } = await import('node:timers/promises');
    await sleep(Math.max(1, ms + marginMs), undefined, { signal }).catch(() =>
      signal.throwIfAborted(),
    );
  }
}

const isMoment = (time: Date | undefined): time is Date =>
  time !== undefined && !Number.isNaN(time.getTime());

function limitReached({ window, until }: Pause): LlmError {
  const message = `The limit of the model provider is reached (${window.replaceAll('_', ' ')}); it resets at ${until.toISOString()}.`;
  return new LlmError('rate_limit', message, { resetsAt: until, window });
}

/** Resolves when a place is free; leaves the queue when aborted. */
function turn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const wake = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(wake), 1);
      reject(signal.reason as Error);
    };
    waiting.push(wake);
    signal.addEventListener('abort', leave, { once: true });
  });
}
