/**
 * Holds tools back until the answer that calls them has arrived in full. The program starts a tool as
 * soon as its call is complete, and the rest of the answer may never come. It also holds back what tools
 * answer to a conversation that is over: the program would ask the model again.
 */
export class AnswerGate {
  readonly #calls = new Map<string, PromiseWithResolvers<boolean>>();
  #signal: AbortSignal | undefined;

  /** A conversation begins. It is over when `signal` is aborted, or with `close`. */
  open(signal: AbortSignal): void {
    this.#signal = signal;
  }

  close(): void {
    this.#signal = undefined;
  }

  /** Resolves while the conversation goes on, and never if it is over. */
  goesOn(): Promise<void> {
    const isOver = this.#signal === undefined || this.#signal.aborted;
    return isOver ? new Promise(() => undefined) : Promise.resolve();
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
