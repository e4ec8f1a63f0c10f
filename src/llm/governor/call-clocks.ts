import type { LlmConfig } from '../config.ts';
import { LlmError } from '../port/error.ts';

/** The limits in time of one call, and where a person changes that of the whole call. */
export interface CallTimeouts {
  readonly idle_seconds: LlmConfig['timeouts']['idle_seconds'];
  readonly call_seconds: LlmConfig['timeouts']['call_seconds'];
  /** Default `llm.timeouts.call_seconds`. */
  readonly callLimit?: string | undefined;
}

/** The idle clock and that of the whole call, in wall time since `start`. */
export function openClocks(timeouts: CallTimeouts, expire: (error: LlmError) => void) {
  const {
    idle_seconds: idleSeconds,
    call_seconds: callSeconds,
    callLimit = 'llm.timeouts.call_seconds',
  } = timeouts;
  let idle: NodeJS.Timeout | undefined;
  let whole: NodeJS.Timeout | undefined;
  let held = 0;
  let frozen = 0;
  let left = callSeconds * 1000;
  let since = 0;
  const runWhole = (): void => {
    const error = () =>
      new LlmError('timeout', `The call took longer than ${callSeconds} s (${callLimit}).`);
    since = performance.now();
    whole = setTimeout(() => expire(error()), left);
  };
  const alive = (): void => {
    clearTimeout(idle);
    if (whole === undefined || held > 0) return;
    const error = () =>
      new LlmError(
        'timeout',
        `The model said nothing for ${idleSeconds} s (llm.timeouts.idle_seconds).`,
      );
    idle = setTimeout(() => expire(error()), idleSeconds * 1000);
  };
  return {
    alive,
    /** The idle clock stands still, whatever arrives meanwhile, until there was a `release` for each. */
    hold(): void {
      held += 1;
      clearTimeout(idle);
    },
    release(): void {
      held -= 1;
      alive();
    },
    /** The clock of the whole call stands still until there was a `thaw` for each. */
    freeze(): void {
      frozen += 1;
      if (frozen > 1 || whole === undefined) return;
      clearTimeout(whole);
      left -= performance.now() - since;
    },
    thaw(): void {
      frozen -= 1;
      if (frozen === 0 && whole !== undefined) runWhole();
    },
    start(): void {
      if (whole === undefined) runWhole();
      alive();
    },
    stop(): void {
      clearTimeout(idle);
      clearTimeout(whole);
      whole = undefined;
      left = callSeconds * 1000;
    },
  };
}
