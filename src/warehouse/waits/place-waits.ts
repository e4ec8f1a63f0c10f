import { AsyncLocalStorage } from 'node:async_hooks';

/** Hears that a statement waits for one of the connections to a warehouse. */
export interface PlaceWaitListener {
  began(): void;
  ended(milliseconds: number): void;
}

const listeners = new AsyncLocalStorage<PlaceWaitListener>();

/** Runs the work; the listener hears of the waits of its statements. */
export function hearPlaceWaits<T>(listener: PlaceWaitListener, work: () => T): T {
  return listeners.run(listener, work);
}

/** A statement begins to wait. The caller tells when it has ended to. */
export function beginPlaceWait(): () => void {
  const listener = listeners.getStore();
  const begun = performance.now();
  listener?.began();
  return () => listener?.ended(performance.now() - begun);
}
