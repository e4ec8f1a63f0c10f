import { writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorMessage, UserError } from '../../lib/error.ts';
import type { EngineMessage, EngineReply, SentError } from './messages.ts';
import type { WatchedLimits } from './watch-limits.ts';

/** What a program does with the messages of `openEngine`. */
export interface EngineHandlers<Setup, Request> {
  open(setup: Setup): void | Promise<void>;
  run(request: Request, call: ServedCall): unknown;
  close(): void;
}

export interface ServedCall {
  readonly signal: AbortSignal;
  /** Sends a part of the answer; resolves when the part before has left this process. */
  readonly emit: (batch: unknown) => Promise<void>;
}

/** Serves the calls of the process that started this one, and ends with it. */
export function serveRequests<Setup, Request>(handlers: EngineHandlers<Setup, Request>): void {
  const running = new Map<number, AbortController>();
  const watch = watchLimits();
  preferAsVictim();
  const run = async (id: number, work: (call: ServedCall) => unknown): Promise<void> => {
    const controller = new AbortController();
    running.set(id, controller);
    watch.setBusy(true);
    void sendReply({ kind: 'started', id });
    // Most answers have one batch: it goes with the value.
    let last: unknown;
    const emit = async (batch: unknown): Promise<void> => {
      const ready = last;
      last = batch;
      if (ready !== undefined) await sendReply({ kind: 'batch', id, batch: ready });
    };
    try {
      const value = await work({ signal: controller.signal, emit });
      void sendReply({ kind: 'value', id, value, batch: last });
    } catch (error) {
      void sendReply({ kind: 'error', id, error: sentError(error) });
    } finally {
      running.delete(id);
      watch.setBusy(running.size > 0);
    }
  };
  process.on('message', (message: EngineMessage) => {
    if (message.kind === 'cancel') running.get(message.id)?.abort();
    else if (message.kind === 'run')
      void run(message.id, (call) => handlers.run(message.request as Request, call));
    else if (message.kind === 'close') void run(message.id, () => handlers.close());
    else {
      watch.start(message.memory);
      // This process never ends by itself, so Node would never write its cache of compiled code.
      void run(message.id, () => handlers.open(message.setup as Setup)).then(flushCompileCache);
    }
  });
  // Ctrl-C in a terminal reaches this process too; the one that started it decides.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}

/**
 * Resolves when the operating system has taken the message, so that batches do not pile up here.
 */
function sendReply(reply: EngineReply): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.send?.(reply, undefined, undefined, () => resolve());
  return promise;
}

function sentError(error: unknown): SentError {
  if (!(error instanceof UserError)) return { message: errorMessage(error) };
  const { message, code, hint, details } = error;
  return { message, code, hint, details };
}

/**
 * A thread that ends this process when it exceeds its memory or its parent is gone; the main thread
 * may be blocked.
 */
function watchLimits() {
  const state = new BigInt64Array(new SharedArrayBuffer(16));
  let worker: Worker | undefined;
  return {
    start(memoryBytes: number): void {
      Atomics.store(state, 1, BigInt(memoryBytes));
      if (worker !== undefined) return;
      const workerData: WatchedLimits = { state, parent: process.ppid };
      const file = new URL(`watch-limits${extname(import.meta.url)}`, import.meta.url);
      worker = new Worker(file, { workerData });
      worker.unref();
    },
    setBusy(isBusy: boolean): void {
      Atomics.store(state, 0, isBusy ? 1n : 0n);
      Atomics.notify(state, 0);
    },
  };
}

/** If the machine runs out of memory, Linux ends this process before others. */
function preferAsVictim(): void {
  try {
    if (process.platform === 'linux') writeFileSync('/proc/self/oom_score_adj', '900');
  } catch {
    // Not permitted here; the limit of memory still holds.
  }
}
