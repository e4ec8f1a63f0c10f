import { setTimeout as pause } from 'node:timers/promises';

/** Bounds how many requests of one connection, and of the process, are under way. */
export interface RequestGate {
  /** Does the work when there is room, and no pause. */
  pass<T>(work: () => Promise<T>): Promise<T>;
  /** Holds all requests that have not started, for so many milliseconds. */
  hold(milliseconds: number): void;
}

/** Of all connections together. */
const mostRequests = 8;
const everyConnection = openSlots(mostRequests);

/**
 * A limit of a server counts for a connection as a whole: once it says to wait, no request of the
 * connection is sent until then.
 */
export function openRequestGate(concurrency: number, signal: AbortSignal): RequestGate {
  const own = openSlots(concurrency);
  let openAt = 0;
  return {
    pass: (work) =>
      own(async () => {
        for (let wait = openAt - Date.now(); wait > 0; wait = openAt - Date.now())
          await pause(wait, undefined, { signal });
        return everyConnection(work);
      }),
    hold: (milliseconds) => {
      openAt = Math.max(openAt, Date.now() + milliseconds);
    },
  };
}

/** Does at most `count` works at once, the others in their order. */
function openSlots(count: number) {
  let free = count;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free -= 1;
    else
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
