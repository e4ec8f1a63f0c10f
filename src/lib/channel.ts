/** A queue that an async iterator reads in order, until it is closed and empty. One reader only. */
export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void;
  close(): void;
}

export function openChannel<T>(): Channel<T> {
  let queue: T[] = [];
  let isClosed = false;
  let wakeReader = (): void => undefined;
  return {
    push(value) {
      queue.push(value);
      wakeReader();
    },
    close() {
      isClosed = true;
      wakeReader();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const batch = queue;
        queue = [];
        yield* batch;
        if (queue.length > 0) continue;
        if (isClosed) return;
        await new Promise<void>((resolve) => (wakeReader = resolve));
      }
    },
  };
}
