import type { LlmConfig } from '../config.ts';
import { LlmError } from '../port/error.ts';

/** The time limits of one call. */
export interface CallTimeouts extends Pick<LlmConfig['timeouts'], 'idle_seconds' | 'call_seconds'> {
  /** The setting that an error about the whole call names. Default `llm.timeouts.call_seconds`. */
  readonly callLimit?: string | undefined;
}

/**
 * Two clocks of one call: how long the model is silent, and how long the whole call takes. Each
 * calls `onExpired` when its limit passes.
 */
export class CallClocks {
  readonly #timeouts: CallTimeouts;
  readonly #onExpired: (error: LlmError) => void;
  #idleTimer: NodeJS.Timeout | undefined;
  #callTimer: NodeJS.Timeout | undefined;
  #callTimerStartedAt = 0;
  #remainingMs: number;
  #holds = 0;
  #freezes = 0;

  constructor(timeouts: CallTimeouts, onExpired: (error: LlmError) => void) {
    this.#timeouts = timeouts;
    this.#onExpired = onExpired;
    this.#remainingMs = timeouts.call_seconds * 1000;
  }

  start(): void {
    if (this.#callTimer === undefined) this.#startCallTimer();
    this.restartIdle();
  }

  /** Stops both clocks. The next `start` begins with the full time. */
  stop(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#callTimer);
    this.#callTimer = undefined;
    this.#remainingMs = this.#timeouts.call_seconds * 1000;
  }

  /** Something arrived from the model. */
  restartIdle(): void {
    clearTimeout(this.#idleTimer);
    if (this.#callTimer === undefined || this.#holds > 0) return;
    const { idle_seconds: seconds } = this.#timeouts;
    this.#idleTimer = setTimeout(
      () => this.#expire(`The model sent nothing for ${seconds} s (llm.timeouts.idle_seconds).`),
      seconds * 1000,
    );
  }

  /** Stops the idle clock until `releaseIdle` was called as often as this. */
  holdIdle(): void {
    this.#holds += 1;
    clearTimeout(this.#idleTimer);
  }

  releaseIdle(): void {
    this.#holds -= 1;
    this.restartIdle();
  }

  /** Stops the clock of the whole call until `thaw` was called as often as this. */
  freeze(): void {
    this.#freezes += 1;
    if (this.#freezes > 1 || this.#callTimer === undefined) return;
    clearTimeout(this.#callTimer);
    this.#remainingMs -= performance.now() - this.#callTimerStartedAt;
  }

  thaw(): void {
    this.#freezes -= 1;
    if (this.#freezes === 0 && this.#callTimer !== undefined) this.#startCallTimer();
  }

  #startCallTimer(): void {
    const { call_seconds: seconds, callLimit = 'llm.timeouts.call_seconds' } = this.#timeouts;
    this.#callTimerStartedAt = performance.now();
    this.#callTimer = setTimeout(
      () => this.#expire(`The call took longer than ${seconds} s (${callLimit}).`),
      this.#remainingMs,
    );
  }

  #expire(message: string): void {
    this.#onExpired(new LlmError('timeout', message));
  }
}
