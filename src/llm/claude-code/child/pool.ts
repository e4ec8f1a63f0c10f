/** What can wait in a pool. */
interface Parked {
  isAlive(): boolean;
  end(): Promise<void>;
}

type Start<T> = (signal: AbortSignal) => Promise<T>;

export interface Pool<T extends Parked> {
  /** One that waits under the key, or a new one. */
  take(key: string, start: Start<T>, signal: AbortSignal): Promise<T>;
  /** Starts as many in the background as are in use under the key. To be called when there is time: a start takes a core. */
  refill(key: string, start: Start<T>): void;
  /** The one taken is in use no more. */
  done(key: string): void;
  close(): Promise<void>;
}

interface Place<T> {
  readonly key: string;
  readonly controller: AbortController;
  /** Undefined where the start failed: what fails here fails again, and is told, where it is needed. */
  readonly item: Promise<T | undefined>;
  readonly timer: NodeJS.Timeout;
}

/** Items that serve once, started ahead: those of one key can stand in for each other. At most `most` wait in all. */
export function openPool<T extends Parked>({
  most,
  idleMs,
}: {
  readonly most: number;
  readonly idleMs: number;
}): Pool<T> {
  const places = new Set<Place<T>>();
  const inUse = new Map<string, number>();
  let isClosed = false;

  const leave = (place: Place<T>): Promise<T | undefined> => {
    clearTimeout(place.timer);
    places.delete(place);
    return place.item;
  };
  const discard = async (place: Place<T>): Promise<void> => {
    place.controller.abort();
    await (await leave(place))?.end();
  };
  const under = (key: string): Place<T>[] => [...places].filter((place) => place.key === key);

  return {
    async take(key, start, signal) {
      inUse.set(key, (inUse.get(key) ?? 0) + 1);
      for (let [place] = under(key); place !== undefined; [place] = under(key)) {
        const { controller } = place;
        const stop = (): void => controller.abort();
        signal.addEventListener('abort', stop, { once: true });
        const item = await leave(place);
        signal.removeEventListener('abort', stop);
        if (item?.isAlive() === true) return item;
      }
      return start(signal);
    },
    refill(key, start) {
      const wanted = isClosed ? 0 : Math.min(most, inUse.get(key) ?? 0);
      for (let waiting = under(key).length; waiting < wanted; waiting += 1) {
        const [oldest] = places.size < most ? [] : [...places].filter((place) => place.key !== key);
        if (oldest !== undefined) void discard(oldest);
        const controller = new AbortController();
        const item = start(controller.signal).catch(() => undefined);
        const timer = setTimeout(() => void discard(place), idleMs).unref();
        const place = { key, controller, item, timer };
        places.add(place);
      }
    },
    done(key) {
      const left = (inUse.get(key) ?? 1) - 1;
      if (left > 0) inUse.set(key, left);
      else inUse.delete(key);
    },
    async close() {
      isClosed = true;
      await Promise.all([...places].map(discard));
    },
  };
}
