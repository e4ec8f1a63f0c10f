import { type CallLimits, withTimeLimit } from '../time-limit.ts';
import { warehouseError } from '../warehouse-error.ts';
import { type EngineChild, EngineEnded, type EngineProgram } from './engine-child.ts';
import type { EngineAnswer } from './messages.ts';
import { giveEngineBack, takeEngine } from './spare-engines.ts';

/**
 * How long an engine may take to stop a call that it was asked to stop. After that its process is
 * killed.
 */
const obeyMs = 300;
/** How long it may take to close a database. */
const closeMs = 2000;

export interface EngineSetup {
  /** Goes to the `open` function of the program. */
  readonly database: unknown;
  /** The process is killed when it has more bytes than this in memory. */
  readonly memoryBytes: number;
}

/** A database that is open in a process of its own. */
export interface Engine {
  /**
   * Runs one request. Throws the engine's error, `query_timeout`, `query_cancelled`, or
   * `out_of_memory`. After the process was killed or has died, the next request opens the database
   * in a new one.
   */
  send(request: unknown, limits: CallLimits): Promise<EngineAnswer>;
  close(): Promise<void>;
}

interface OpenedChild {
  readonly child: EngineChild;
  readonly opened: Promise<unknown>;
}

/** Nothing waits: the first request does. */
export function openEngine(program: EngineProgram, setup: EngineSetup): Engine {
  let current: OpenedChild | undefined = openChild(program, setup);
  // Requests to an engine that takes one at a time, and repeated ones, wait for the one before.
  const runInTurn = createQueue();
  const repeatInTurn = createQueue();

  const openedChild = async (): Promise<EngineChild> => {
    if (current === undefined || current.child.hasEnded()) current = openChild(program, setup);
    const attempt = current;
    await attempt.opened.catch((error: unknown) => {
      // Nothing is open in the process, unless it has ended.
      if (current === attempt) current = undefined;
      if (!attempt.child.isBusy()) giveEngineBack(program, attempt.child);
      throw error;
    });
    return attempt.child;
  };
  const exchange = async (request: unknown, stop: AbortSignal): Promise<EngineAnswer> => {
    stop.throwIfAborted();
    const child = await openedChild();
    stop.throwIfAborted();
    const { id, answer } = child.call({ kind: 'run', request });
    const release = stopCall(program, child, { id, stop });
    return answer.finally(release).catch((error: unknown) => {
      // The next request finds a process that has opened the database already.
      if (error instanceof EngineEnded && current?.child === child)
        current = openChild(program, setup);
      throw error;
    });
  };
  /**
   * Another request may have ended the process. If so, this one is repeated: requests only read.
   */
  const exchangeOrRepeat = (request: unknown, stop: AbortSignal): Promise<EngineAnswer> =>
    exchange(request, stop).catch((error: unknown) => {
      const isInnocent = error instanceof EngineEnded && !error.isSuspect && !stop.aborted;
      if (isInnocent) return repeatInTurn(() => exchange(request, stop));
      throw error;
    });

  return {
    async send(request, limits) {
      const stop = new AbortController();
      const run = (): Promise<EngineAnswer> => exchangeOrRepeat(request, stop.signal);
      return withTimeLimit({ ...limits, cancel: () => stop.abort() }, () =>
        (program.isConcurrent ? run() : runInTurn(run)).catch((error: unknown) => {
          throw error instanceof EngineEnded ? endedError(program, error) : error;
        }),
      );
    },
    async close() {
      const closing = current;
      current = undefined;
      if (closing === undefined || closing.child.hasEnded()) return;
      if (closing.child.isBusy() || !(await isClosed(closing.child))) closing.child.kill();
      else giveEngineBack(program, closing.child);
    },
  };
}

function openChild(program: EngineProgram, setup: EngineSetup): OpenedChild {
  const child = takeEngine(program);
  const call = { kind: 'open', setup: setup.database, memory: setup.memoryBytes } as const;
  const opened = child.call(call).answer;
  // The first request throws it.
  opened.catch(() => undefined);
  return { child, opened };
}

/**
 * Stops the call when `stop` is aborted: politely where the engine can, otherwise by a kill.
 * Returns how to end the watch.
 */
function stopCall(
  program: EngineProgram,
  child: EngineChild,
  { id, stop }: { readonly id: number; readonly stop: AbortSignal },
): () => void {
  let killTimer: NodeJS.Timeout | undefined;
  const kill = (): void => child.kill();
  const onStop = (): void => {
    if (!program.isConcurrent) return kill();
    child.cancel(id);
    killTimer = setTimeout(kill, obeyMs);
  };
  stop.addEventListener('abort', onStop, { once: true });
  return () => {
    stop.removeEventListener('abort', onStop);
    clearTimeout(killTimer);
  };
}

/** Runs one piece of work after the other. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

async function isClosed(child: EngineChild): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), closeMs);
  const closed = child.call({ kind: 'close' }).answer.then(
    () => true,
    () => false,
  );
  return Promise.race([closed, late]).finally(() => clearTimeout(timer));
}

/**
 * The limit of memory kills with SIGKILL, and so does the operating system when it has none left.
 */
function endedError({ engine }: EngineProgram, { signal }: EngineEnded): Error {
  if (signal === 'SIGKILL')
    return warehouseError(
      'out_of_memory',
      `The statement needed more memory than ${engine} may use, and its process was ended.`,
    );
  return warehouseError(
    'query_failed',
    `The process of ${engine} ended while it ran the statement (${signal ?? 'it could not start'}).`,
    { hint: 'Write the statement in a simpler way; the next one runs in a new process.' },
  );
}
