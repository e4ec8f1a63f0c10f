import { LlmError } from '../../port/error.ts';

/** A call, as this file tells calls apart. */
type WatchedCall = object;

interface WaitingCall {
  readonly goOn: () => void;
  readonly fail: (error: LlmError) => void;
}

/** What failed longer ago says nothing about the network of now. */
const memoryMs = 60_000;

/**
 * Notices that the network is away, so that not every call of a run finds out by all its attempts.
 * When requests of two calls have failed by the network and none was answered in between, one call
 * goes on with its attempts, and the others wait for what comes of them: they go on with the first
 * answer, or all fail with its last attempt.
 */
export class NetworkWatch {
  /** Calls whose last request failed, since any request was answered. */
  readonly #failing = new Set<WatchedCall>();
  readonly #waiting = new Map<WatchedCall, WaitingCall>();
  /** The call whose attempts decide. */
  #probe: WatchedCall | undefined;
  /** A call has used all its attempts since any request was answered. */
  #hasGivenUp = false;
  #away: LlmError | undefined;
  #failedAt = 0;

  /** The provider has answered a request, with whatever. */
  reached(): void {
    this.#failing.clear();
    this.#probe = undefined;
    this.#hasGivenUp = false;
    this.#away = undefined;
    for (const { goOn } of this.#waiting.values()) goOn();
    this.#waiting.clear();
  }

  /**
   * A request of the call failed by the network. Resolves when the call may go on with its
   * attempts. Throws once the network counts as away.
   */
  async failed(
    call: WatchedCall,
    failure: LlmError,
    { isLast, signal }: { readonly isLast: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    this.#forgetLongAgo();
    this.#failedAt = Date.now();
    this.#failing.add(call);
    const isAlone = this.#failing.size === 1 && !this.#hasGivenUp && this.#away === undefined;
    const decides = isLast && (this.#probe ?? call) === call;
    if (isLast) this.#hasGivenUp = true;
    if (isAlone) return;
    if (decides || this.#away !== undefined || (this.#hasGivenUp && this.#probe === undefined))
      throw this.#giveUp(failure);
    this.#probe ??= [...this.#failing][0];
    if (this.#probe !== call) await this.#wait(call, signal);
  }

  /**
   * A call is about to send its first request. Waits while another one finds out whether the
   * network is away. Throws if it has found so since `before`.
   */
  async waitForProbe(
    call: WatchedCall,
    before: LlmError | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    this.#forgetLongAgo();
    if (this.#away !== undefined && this.#away !== before) throw this.#away;
    if (this.#probe !== undefined) await this.#wait(call, signal);
  }

  /** Why the network counts as away; undefined if it does not. */
  get away(): LlmError | undefined {
    return this.#away;
  }

  /** The call has ended. If its attempts were to decide, those of another call do now. */
  left(call: WatchedCall): void {
    this.#failing.delete(call);
    this.#waiting.delete(call);
    if (this.#probe !== call) return;
    const [next] = this.#waiting;
    this.#probe = next?.[0];
    if (next === undefined) return;
    this.#waiting.delete(next[0]);
    next[1].goOn();
  }

  #wait(call: WatchedCall, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#waiting.delete(call);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting.set(call, { goOn: resolve, fail: reject });
    return promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  #giveUp(failure: LlmError): LlmError {
    const error = awayError(failure);
    this.#away = error;
    this.#probe = undefined;
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
    return error;
  }

  #forgetLongAgo(): void {
    if (Date.now() - this.#failedAt < memoryMs || this.#probe !== undefined) return;
    this.#failing.clear();
    this.#hasGivenUp = false;
    this.#away = undefined;
  }
}

function awayError(failure: LlmError): LlmError {
  const message = `The model provider cannot be reached. ${failure.message}`;
  return new LlmError('network', message, {
    hint: 'Check the network, the proxy and base_url, then run the command again. Finished work is kept.',
    status: failure.status,
    endsRun: true,
    cause: failure,
  });
}
