/** A queue between who tells and who listens: what is pushed comes out in order, until it is closed and empty. One listener. */
export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void;
  close(): void;
}

export function openChannel<T>(): Channel<T> {
  let queue: T[] = [];
  let isClosed = false;
  let wake = (): void => undefined;
  return {
    push(value) {
      queue.push(value);
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const ready = queue;
        queue = [];
        yield* ready;
        if (queue.length > 0) continue;
        if (isClosed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
