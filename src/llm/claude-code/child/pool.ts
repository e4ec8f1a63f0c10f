/** What a pool can hold. */
interface Poolable {
  isAlive(): boolean;
  end(): Promise<void>;
}

type StartItem<T> = (signal: AbortSignal) => Promise<T>;

export interface Pool<T extends Poolable> {
  /**
   * Returns an item that waits under the key, or starts one; without a key it always starts one.
   * Waits, and ends waiting items of other keys, if there would be too many.
   */
  take(key: string | undefined, start: StartItem<T>, signal: AbortSignal): Promise<T>;
  /** Reports that a taken item is gone, or will be. */
  release(gone?: Promise<void>): void;
  /** Lets a taken item wait under the key as soon as it is ready. Undefined if it has ended. */
  keep(key: string, item: Promise<T | undefined>): void;
  /** Starts as many items in the background as are in use. A start keeps a core busy. */
  refill(key: string, start: StartItem<T>): void;
  close(): Promise<void>;
}

interface PoolSlot<T> {
  readonly key: string;
  readonly controller: AbortController;
  /**
   * Undefined if the item cannot be used. The call that needs one starts one and gets the error.
   */
  readonly item: Promise<T | undefined>;
  readonly timer: NodeJS.Timeout;
}

interface PoolOptions {
  readonly most: number;
  readonly idleMs: number;
}

/**
 * A pool of items that are started in advance or used again. Items of one key are interchangeable.
 * At most `most` items exist at a time, in use, waiting or ending. Own code, because pool libraries
 * keep equal items: these differ by key and end when they idle.
 */
export function openPool<T extends Poolable>(options: PoolOptions): Pool<T> {
  return new KeyedPool<T>(options);
}

class KeyedPool<T extends Poolable> implements Pool<T> {
  readonly #options: PoolOptions;
  readonly #slots = new Set<PoolSlot<T>>();
  /** Items that are in use or ending. */
  #busy = 0;
  #change = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async take(key: string | undefined, start: StartItem<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const waiting = this.#slotsOf(key)[0];
      const taken = waiting && (await this.#takeSlot(waiting, signal));
      if (taken !== undefined) return taken;
      if (waiting !== undefined) continue;
      if (this.#countAll() < this.#options.most) return this.#startItem(start, signal);
      const [oldest] = this.#slots;
      await (oldest === undefined
        ? untilAborted(this.#change.promise, signal)
        : this.#discard(oldest));
    }
  }

  release(gone = Promise.resolve()): void {
    const leave = (): void => this.#leave();
    void gone.then(leave, leave);
  }

  keep(key: string, item: Promise<T | undefined>): void {
    if (this.#isClosed) this.release(item.then((unused) => unused?.end()));
    else {
      this.#addSlot(key, item, new AbortController());
      this.#leave();
    }
  }

  refill(key: string, start: StartItem<T>): void {
    const wanted = this.#isClosed ? 0 : this.#busy - this.#slotsOf(key).length;
    const room = Math.min(wanted, this.#options.most - this.#countAll());
    for (let count = 0; count < room; count += 1) {
      const controller = new AbortController();
      this.#addSlot(key, start(controller.signal), controller);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#slots].map((slot) => this.#discard(slot)));
  }

  #countAll(): number {
    return this.#busy + this.#slots.size;
  }

  #slotsOf(key: string | undefined): PoolSlot<T>[] {
    return [...this.#slots].filter((slot) => slot.key === key);
  }

  #addSlot(key: string, started: Promise<T | undefined>, controller: AbortController): void {
    const item = started.catch(() => undefined);
    const timer = setTimeout(() => void this.#discard(slot), this.#options.idleMs).unref();
    const slot = { key, controller, item, timer };
    this.#slots.add(slot);
  }

  /** The item of a slot counts as busy from now on. */
  #removeSlot(slot: PoolSlot<T>): Promise<T | undefined> {
    clearTimeout(slot.timer);
    this.#slots.delete(slot);
    this.#busy += 1;
    return slot.item;
  }

  #leave(): void {
    this.#busy -= 1;
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  async #discard(slot: PoolSlot<T>): Promise<void> {
    slot.controller.abort();
    await (await this.#removeSlot(slot))?.end();
    this.#leave();
  }

  async #takeSlot(slot: PoolSlot<T>, signal: AbortSignal): Promise<T | undefined> {
    const stop = (): void => slot.controller.abort();
    signal.addEventListener('abort', stop, { once: true });
    const item = await this.#removeSlot(slot);
    signal.removeEventListener('abort', stop);
    if (item?.isAlive() === true) return item;
    this.#leave();
    return undefined;
  }

  async #startItem(start: StartItem<T>, signal: AbortSignal): Promise<T> {
    this.#busy += 1;
    try {
      return await start(signal);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }
}

/** Resolves with the promise, or at once after an abort. */
async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = (): void => aborted.resolve();
  signal.addEventListener('abort', stop, { once: true });
  await Promise.race([promise, aborted.promise]);
  signal.removeEventListener('abort', stop);
}
