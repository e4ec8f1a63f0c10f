import type { LlmError } from '../../port/error.ts';
import { brokenAnswer } from './outcome.ts';

/**
 * Follows the turns of a conversation. A turn counts as a step once it is whole. If its answer breaks
 * off after a block was complete, the program asks the model to go on: the next message is then the
 * rest of the same turn.
 */
export class TurnTracker {
  readonly #onStep: (isLast: boolean) => void;
  readonly #ids = new Set<string>();
  readonly #counted = new Set<string>();
  #streamingId = '';
  /** The streamed message that has not reported its end. */
  #openId: string | undefined;
  /** Tools of the open turn have run. */
  #hasRunTools = false;
  /** The next message is the rest of a turn that broke off. */
  #goesOn = false;
  #begun = 0;

  /** `isLast`: the turn asks for nothing more. */
  constructor(onStep: (isLast: boolean) => void) {
    this.#onStep = onStep;
  }

  /** Turns that have begun. */
  get begun(): number {
    return this.#begun;
  }

  /** Turns that are whole. */
  get steps(): number {
    return this.#counted.size;
  }

  /** The message whose stream is read now. */
  get streamingId(): string {
    return this.#streamingId;
  }

  get isStreaming(): boolean {
    return this.#openId !== undefined;
  }

  /** The failure of the turn before, if it broke off: it never reported its end, and the program goes on with its tools. */
  startStream(id: string): LlmError | undefined {
    const isBroken = this.#hasRunTools && this.breakOff();
    if (isBroken) this.#count(this.#streamingId);
    this.#hasRunTools = false;
    this.#streamingId = id;
    this.#openId = id;
    return isBroken ? brokenAnswer() : undefined;
  }

  /** A tool may have run before the turn reports its end, so that alone does not mean that it broke off. */
  ranTools(): void {
    this.#hasRunTools = this.#openId !== undefined;
  }

  endStream(isLast: boolean): void {
    const id = this.#openId;
    this.#openId = undefined;
    if (id !== undefined && this.#ids.has(id)) this.#count(id, isLast);
  }

  /** The stream ended without its end. True if there was one. */
  breakOff(): boolean {
    const isBroken = this.#openId !== undefined;
    this.#openId = undefined;
    return isBroken;
  }

  /** A block of a turn. True if the text of the turn starts with it. */
  addBlock(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const startsText = !this.#goesOn;
    if (startsText) this.#begun += 1;
    this.#goesOn = false;
    if (id !== this.#openId) this.#count(id);
    return startsText;
  }

  /** The program has asked for more. The failure of the turn, if it broke off: then that is its rest. */
  askedForMore(): LlmError | undefined {
    if (!this.breakOff()) return undefined;
    this.#goesOn = this.#ids.has(this.#streamingId);
    return brokenAnswer();
  }

  #count(id: string, isLast = false): void {
    if (this.#counted.has(id)) return;
    this.#counted.add(id);
    this.#onStep(isLast);
  }
}
