import type { Release } from './reservations.ts';
import type { TurnAhead } from './turn-estimate.ts';
import type { Spending } from '../spending.ts';

/**
 * The money reserved for the current turn of one call. It is given back when the cost of the turn
 * is known. While tools run nothing is reserved, so that a tool can make calls of its own; the
 * answer of the last tool waits until the next turn is covered.
 */
export class TurnHold {
  readonly #spending: Spending;
  readonly #turn: TurnAhead;
  readonly #signal: AbortSignal;
  #release: Release | undefined;
  #runningTools = 0;
  /** True from the time that the cost of a turn is known until the next request is sent. */
  #isSettled = false;

  constructor(spending: Spending, turn: TurnAhead, signal: AbortSignal) {
    this.#spending = spending;
    this.#turn = turn;
    this.#signal = signal;
  }

  /** Waits until the next turn is covered. Throws the reason of an abort. */
  async begin(): Promise<void> {
    this.release();
    this.#release = await this.#spending.reserve(this.#turn, this.#signal);
  }

  /**
   * A request has been sent. Without a reservation, as after a refused tool call, it gets one now.
   */
  requestSent(): void {
    this.#release ??= this.#spending.take(this.#turn);
    this.#isSettled = false;
  }

  /** The cost of the turn is known. */
  turnEnded(costUsd: number | null): void {
    if (costUsd !== null) this.#spending.learn(this.#turn.kind, costUsd);
    this.#isSettled = true;
    this.release();
  }

  toolStarted(): void {
    this.#runningTools += 1;
    if (this.#isSettled) this.release();
  }

  /** After the last tool of a turn, waits until the next turn is covered. */
  async toolEnded(): Promise<void> {
    this.#runningTools -= 1;
    if (this.#runningTools === 0 && this.#isSettled && !this.#signal.aborted)
      await this.begin().catch(() => undefined);
  }

  release(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
