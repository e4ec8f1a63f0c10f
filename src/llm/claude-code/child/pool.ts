/** What a pool can hold. */
interface Poolable {
  isAlive(): boolean;
  end(): Promise<void>;
}

type StartItem<T> = (signal: AbortSignal) => Promise<T>;

export interface Pool<T extends Poolable> {
  /** Returns an item that waits under the key, or starts a new one. */
  take(key: string, start: StartItem<T>, signal: AbortSignal): Promise<T>;
  /** Starts as many items in the background as are in use under the key. A start keeps a core busy. */
  refill(key: string, start: StartItem<T>): void;
  /** Reports that a taken item is no longer in use. */
  release(key: string): void;
  close(): Promise<void>;
}

interface PoolSlot<T> {
  readonly key: string;
  readonly controller: AbortController;
  /** Undefined if the start failed. The call that needs an item starts one again and gets the error. */
  readonly item: Promise<T | undefined>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A pool of items that serve once and are started in advance. Items of one key are interchangeable.
 * At most `most` items wait at a time. Own code, because pool libraries keep equal, reusable items:
 * these serve once, differ by key and end when they idle.
 */
export function openPool<T extends Poolable>({
  most,
  idleMs,
}: {
  readonly most: number;
  readonly idleMs: number;
}): Pool<T> {
  const slots = new Set<PoolSlot<T>>();
  const inUse = new Map<string, number>();
  let isClosed = false;

  const removeSlot = (slot: PoolSlot<T>): Promise<T | undefined> => {
    clearTimeout(slot.timer);
    slots.delete(slot);
    return slot.item;
  };
  const discard = async (slot: PoolSlot<T>): Promise<void> => {
    slot.controller.abort();
    await (await removeSlot(slot))?.end();
  };
  const slotsOf = (key: string): PoolSlot<T>[] => [...slots].filter((slot) => slot.key === key);
  const addSlot = (key: string, start: StartItem<T>): void => {
    const controller = new AbortController();
    const item = start(controller.signal).catch(() => undefined);
    const timer = setTimeout(() => void discard(slot), idleMs).unref();
    const slot = { key, controller, item, timer };
    slots.add(slot);
  };

  return {
    async take(key, start, signal) {
      inUse.set(key, (inUse.get(key) ?? 0) + 1);
      for (let [slot] = slotsOf(key); slot !== undefined; [slot] = slotsOf(key)) {
        const { controller } = slot;
        const stop = (): void => controller.abort();
        signal.addEventListener('abort', stop, { once: true });
        const item = await removeSlot(slot);
        signal.removeEventListener('abort', stop);
        if (item?.isAlive() === true) return item;
      }
      return start(signal);
    },
    refill(key, start) {
      const wanted = isClosed ? 0 : Math.min(most, inUse.get(key) ?? 0);
      for (let waiting = slotsOf(key).length; waiting < wanted; waiting += 1) {
        const oldestOther = [...slots].find((slot) => slot.key !== key);
        if (slots.size >= most && oldestOther !== undefined) void discard(oldestOther);
        addSlot(key, start);
      }
    },
    release(key) {
      const left = (inUse.get(key) ?? 1) - 1;
      if (left > 0) inUse.set(key, left);
      else inUse.delete(key);
    },
    async close() {
      isClosed = true;
      await Promise.all([...slots].map(discard));
    },
  };
}
