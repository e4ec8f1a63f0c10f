import { setTimeout as sleep } from 'node:timers/promises';
import type { UserError } from '../../../lib/error.ts';
import { isTransient, LlmError } from '../../port/error.ts';
import type { CallClocks } from '../call-clocks.ts';
import type { CallGate } from '../call-gate.ts';
import type { NetworkWatch } from './network-watch.ts';
import { pauseMs, type RetryPolicy } from './retry-policy.ts';

export interface RetryContext {
  readonly policy: RetryPolicy;
  readonly gate: CallGate;
  readonly network: NetworkWatch;
  readonly clocks: Pick<CallClocks, 'holdIdle' | 'releaseIdle' | 'freeze' | 'thaw'>;
  readonly signal: AbortSignal;
  /**
   * Called before a request is sent again. Throws if it must not be: the money is spent, or what is
   * sent cannot be recorded.
   */
  readonly beforeRepeat: () => void;
}

/** Decides whether and when a failed request of one call is sent again. */
export class RequestRetries {
  readonly #context: RetryContext;
  #failed = 0;
  /** The provider has begun to answer the last request. */
  #isReached = false;

  constructor(context: RetryContext) {
    this.#context = context;
  }

  /** A request was answered in full. The next one has all attempts again. */
  succeeded(): void {
    this.#failed = 0;
    this.answerBegan();
  }

  /** The provider has begun to answer a request, so the network is there. */
  answerBegan(): void {
    this.#isReached = true;
    this.#context.network.reached();
  }

  requestSent(): void {
    this.#isReached = false;
  }

  /** Waits before the first request while another call finds out whether the network is away. */
  async waitForNetwork(before: LlmError | undefined): Promise<void> {
    const { network, signal } = this.#context;
    await network.waitForProbe(this, before, signal);
  }

  /** The call has ended. */
  close(): void {
    this.#context.network.left(this);
  }

  /** Waits until the request may be sent again. Throws the failure if it may not. */
  async waitToRepeat(failure: UserError): Promise<void> {
    const { policy, signal, gate, beforeRepeat } = this.#context;
    signal.throwIfAborted();
    if (!(failure instanceof LlmError) || !isTransient(failure)) throw failure;
    this.#failed += 1;
    const { window = 'requests', resetsAt } = failure;
    const isLimit = failure.kind === 'rate_limit';
    if (isLimit && resetsAt !== undefined) gate.report({ window, state: 'closed', resetsAt });
    await this.#watchNetwork(failure);
    if (this.#failed >= policy.attempts) throw afterAttempts(failure, this.#failed);
    if (isLimit && resetsAt !== undefined) await this.#waitForLimit();
    else await this.#pause(failure);
    signal.throwIfAborted();
    beforeRepeat();
  }

  /** An answer that broke off, or a failure that the provider reported, came over the network. */
  async #watchNetwork(failure: LlmError): Promise<void> {
    const { network, policy, signal } = this.#context;
    if (failure.kind !== 'network' || this.#isReached) return network.reached();
    const isLast = this.#failed >= policy.attempts;
    await this.#withoutClocks(() => network.failed(this, failure, { isLast, signal }));
  }

  async #waitForLimit(): Promise<void> {
    const { gate, signal } = this.#context;
    await this.#withoutClocks(() => gate.waitForReset(signal));
  }

  /** What is waited for may be an hour away, so neither clock runs. */
  async #withoutClocks(wait: () => Promise<void>): Promise<void> {
    const { clocks } = this.#context;
    clocks.holdIdle();
    clocks.freeze();
    try {
      await wait();
    } finally {
      clocks.thaw();
      clocks.releaseIdle();
    }
  }

  async #pause(failure: LlmError): Promise<void> {
    const { policy, gate, clocks, signal } = this.#context;
    const { kind, resetsAt } = failure;
    const askedFor = resetsAt === undefined ? 0 : resetsAt.getTime() - Date.now();
    const ms = Math.max(askedFor, pauseMs(this.#failed, policy));
    if (ms > policy.longestWaitMs) throw failure;
    const until = new Date(Date.now() + ms);
    const { attempts } = policy;
    gate.announceRetry({
      window: kind,
      until,
      retry: { kind, attempt: this.#failed + 1, attempts },
    });
    clocks.holdIdle();
    try {
      await sleep(ms, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      clocks.releaseIdle();
    }
  }
}

function afterAttempts(failure: LlmError, attempts: number): LlmError {
  if (attempts === 1) return failure;
  const { kind, message, hint, status, resetsAt, window, cause } = failure;
  return new LlmError(kind, `${message} (${attempts} attempts)`, {
    hint,
    status,
    resetsAt,
    window,
    cause,
  });
}
