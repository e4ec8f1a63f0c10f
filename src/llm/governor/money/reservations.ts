/** Gives a reserved amount back. */
export type Release = () => void;

export interface Reservations {
  /**
   * Resolves with the amount reserved, in the order of the requests: as soon as what is left covers
   * it, or when nothing else is reserved. Then one call alone may exceed what is left. `amountUsd`
   * is asked each time, because it is known better once other calls have ended.
   */
  reserve(amountUsd: () => number, signal: AbortSignal): Promise<Release>;
  /** Reserves without waiting, for a turn that has begun. */
  take(amountUsd: number): Release;
  /** What is left has changed. */
  update(): void;
  /** Resolves when nothing is reserved: what all calls have cost is known then. */
  idle(): Promise<void>;
}

interface Waiting {
  readonly amountUsd: () => number;
  readonly grant: (release: Release) => void;
}

/**
 * `leftUsd` is undefined if nothing has to wait: without a limit, or when no call may start at all.
 */
export function openReservations(leftUsd: () => number | undefined): Reservations {
  const held = new Set<{ readonly amountUsd: number }>();
  const waiting: Waiting[] = [];
  let idle = Promise.withResolvers<void>();

  const take = (amountUsd: number): Release => {
    const amount = { amountUsd };
    held.add(amount);
    return () => {
      if (!held.delete(amount)) return;
      update();
      if (held.size > 0) return;
      idle.resolve();
      idle = Promise.withResolvers<void>();
    };
  };
  const isCovered = (amountUsd: number): boolean => {
    const left = leftUsd();
    if (left === undefined || held.size === 0) return true;
    const reserved = [...held].reduce((sum, { amountUsd: other }) => sum + other, 0);
    return reserved + amountUsd <= left;
  };
  const update = (): void => {
    for (let [first] = waiting; first !== undefined; [first] = waiting) {
      const amountUsd = first.amountUsd();
      if (!isCovered(amountUsd)) return;
      waiting.shift();
      first.grant(take(amountUsd));
    }
  };
  return {
    take,
    update,
    idle: () => (held.size === 0 ? Promise.resolve() : idle.promise),
    async reserve(amountUsd, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Release>();
      const request = { amountUsd, grant: resolve };
      const onAbort = (): void => {
        const place = waiting.indexOf(request);
        if (place >= 0) waiting.splice(place, 1);
        reject(signal.reason as Error);
        update();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push(request);
      update();
      return promise.finally(() => signal.removeEventListener('abort', onAbort));
    },
  };
}
