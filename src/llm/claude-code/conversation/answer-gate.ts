import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

/**
 * Holds tools back until the answer that calls them has arrived in full. The program starts a tool
 * as soon as its call is complete, and the rest of the answer may never come. It also holds back
 * what tools answer to a conversation that is over: the program would ask the model again.
 */
export class AnswerGate {
  readonly #calls = new Map<string, PromiseWithResolvers<boolean>>();
  #signal: AbortSignal | undefined;
  #running = 0;
  #idle = Promise.withResolvers<void>();
  #reported = Promise.resolve();

  /** A conversation begins. It is over when `signal` is aborted, or with `close`. */
  open(signal: AbortSignal): void {
    this.#signal = signal;
  }

  close(): void {
    this.#signal = undefined;
  }

  /**
   * Resolves while the conversation goes on, once the turn is reported, and never if it is over.
   */
  async goesOn(): Promise<void> {
    await this.#reported;
    const isOver = this.#signal === undefined || this.#signal.aborted;
    if (isOver) await new Promise(() => undefined);
  }

  /** Runs a tool of a whole answer. */
  async run<T>(tool: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await tool();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) {
        this.#idle.resolve();
        this.#idle = Promise.withResolvers<void>();
      }
    }
  }

  /**
   * Reports a turn when the tools that waited for its end have run, before the model gets their
   * answers.
   */
  async report(turn: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reported = promise;
    // The tools begin now.
    await setImmediate();
    const signal = this.#signal;
    if (this.#running > 0 && signal?.aborted === false)
      await Promise.race([this.#idle.promise, once(signal, 'abort')]);
    try {
      turn();
    } finally {
      resolve();
    }
  }

  /** Resolves with true once the tool may run, and with false if the answer broke off. */
  wait(callId: string): Promise<boolean> {
    return this.#call(callId).promise;
  }

  /** The answer with these calls is whole. */
  pass(callIds: Iterable<string>): void {
    for (const id of callIds) this.#call(id).resolve(true);
  }

  /** The answer with these calls broke off, and the model is asked again. */
  refuse(callIds: Iterable<string>): void {
    for (const id of callIds) this.#call(id).resolve(false);
  }

  #call(id: string): PromiseWithResolvers<boolean> {
    const known = this.#calls.get(id);
    if (known !== undefined) return known;
    const made = Promise.withResolvers<boolean>();
    this.#calls.set(id, made);
    return made;
  }
}
