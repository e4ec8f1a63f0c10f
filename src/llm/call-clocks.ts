import type { LlmConfig } from './config.ts';
import { LlmError } from './error.ts';

/** The idle clock and that of the whole call, in wall time since `start`. */
export function openClocks(timeouts: LlmConfig['timeouts'], expire: (error: LlmError) => void) {
  let idle: NodeJS.Timeout | undefined;
  let whole: NodeJS.Timeout | undefined;
  let held = 0;
  const alive = (): void => {
    clearTimeout(idle);
    if (whole === undefined || held > 0) return;
    const error = () => new LlmError('timeout', `The model said nothing for ${timeouts.idle_seconds} s (llm.timeouts.idle_seconds).`);
    idle = setTimeout(() => expire(error()), timeouts.idle_seconds * 1000);
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
    start(): void {
      const error = () => new LlmError('timeout', `The call took longer than ${timeouts.call_seconds} s (llm.timeouts.call_seconds).`);
      whole ??= setTimeout(() => expire(error()), timeouts.call_seconds * 1000);
      alive();
    },
    stop(): void {
      clearTimeout(idle);
      clearTimeout(whole);
      whole = undefined;
    },
  };
}
