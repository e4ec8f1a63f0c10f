import { isMainThread, workerData } from 'node:worker_threads';

export interface WatchedLimits {
  /** First 1 while the main thread works, otherwise 0; then the limit of memory in bytes. */
  readonly state: BigInt64Array;
  readonly parent: number;
}

const pollMs = 10;

/**
 * While the main thread works, ends the process when it has too much memory or its parent is gone.
 * Never returns.
 */
function watch({ state, parent }: WatchedLimits): void {
  for (;;) {
    Atomics.wait(state, 0, 0n);
    const isTooLarge = process.memoryUsage.rss() > Number(Atomics.load(state, 1));
    if (isTooLarge || process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
    Atomics.wait(state, 0, 1n, pollMs);
  }
}

if (!isMainThread) watch(workerData as WatchedLimits);
