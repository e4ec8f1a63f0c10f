import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type WarehouseErrorCode, warehouseError } from '../warehouse-error.ts';
import type { EngineAnswer, EngineMessage, EngineReply, SentError } from './messages.ts';
import { programEnvironment } from './program-environment.ts';

/** A program that holds one engine. Its entry file calls `serveRequests`. */
export interface EngineProgram {
  /** The engine's name in errors. */
  readonly engine: string;
  readonly entry: URL;
  /**
   * True if it answers several calls at once and can stop one of them. Otherwise only a kill stops
   * a call.
   */
  readonly isConcurrent: boolean;
}

/** Thrown by calls whose process ended before it answered. */
export class EngineEnded extends Error {
  readonly signal: NodeJS.Signals | null;
  /** True if the call was running, and no other that could have ended the process. */
  readonly isSuspect: boolean;

  constructor(signal: NodeJS.Signals | null, isSuspect: boolean) {
    super('the process of the engine ended');
    this.signal = signal;
    this.isSuspect = isSuspect;
  }
}

interface PendingCall {
  hasStarted: boolean;
  readonly batches: unknown[];
  readonly resolve: (answer: EngineAnswer) => void;
  readonly reject: (error: Error) => void;
}

type EngineCall =
  | { readonly kind: 'open'; readonly setup: unknown; readonly memory: number }
  | { readonly kind: 'run'; readonly request: unknown }
  | { readonly kind: 'close' };

/** A running engine process. */
export type EngineChild = ReturnType<typeof launchEngine>;

/** Starts the program. The process keeps this one alive only while it works, and ends with it. */
export function launchEngine(program: EngineProgram) {
  const child = forkProgram(program);
  const pending = new Map<number, PendingCall>();
  let hasEnded = false;
  let lastId = 0;
  const keepAliveWhileBusy = (): void => {
    if (pending.size === 1) {
      child.ref();
      child.channel?.ref();
    } else if (pending.size === 0) {
      child.unref();
      child.channel?.unref();
    }
  };
  const settle = (id: number): PendingCall | undefined => {
    const call = pending.get(id);
    pending.delete(id);
    keepAliveWhileBusy();
    return call;
  };
  const endAll = (signal: NodeJS.Signals | null): void => {
    hasEnded = true;
    const started = [...pending.values()].filter((call) => call.hasStarted);
    for (const [id, call] of pending) {
      const isSuspect = call.hasStarted && started.length === 1;
      settle(id)?.reject(new EngineEnded(signal, isSuspect));
    }
  };
  child.on('message', (reply: EngineReply) => {
    const call = pending.get(reply.id);
    if (call === undefined) return;
    if (reply.kind === 'started') call.hasStarted = true;
    else if (reply.kind === 'batch') call.batches.push(reply.batch);
    else if (reply.kind === 'error') settle(reply.id)?.reject(receivedError(reply.error));
    else settle(reply.id)?.resolve(answerOf(call.batches, reply));
  });
  // The last messages can arrive after the exit; none arrives after the channel is closed.
  const exit = once(child, 'exit');
  Promise.all([exit, once(child, 'disconnect')]).then(
    ([[, signal]]) => endAll(signal as NodeJS.Signals | null),
    () => endAll(null),
  );
  const send = (message: EngineMessage): void => {
    // A process that has just ended fails the call when its end is seen.
    if (child.connected) child.send(message, () => undefined);
  };
  keepAliveWhileBusy();
  return {
    hasEnded: (): boolean => hasEnded || !child.connected,
    isBusy: (): boolean => pending.size > 0,
    /** The id is for `cancel`. Rejects with the engine's error, or with `EngineEnded`. */
    call(call: EngineCall): { readonly id: number; readonly answer: Promise<EngineAnswer> } {
      const id = (lastId += 1);
      const { promise, resolve, reject } = Promise.withResolvers<EngineAnswer>();
      pending.set(id, { hasStarted: false, batches: [], resolve, reject });
      keepAliveWhileBusy();
      if (hasEnded) settle(id)?.reject(new EngineEnded(null, false));
      else send({ ...call, id });
      return { id, answer: promise };
    },
    /** Asks the engine to stop a call. It does not have to obey. */
    cancel: (id: number): void => send({ kind: 'cancel', id }),
    kill(): void {
      child.kill('SIGKILL');
      endAll('SIGKILL');
    },
  };
}

function answerOf(
  batches: readonly unknown[],
  { batch, value }: Extract<EngineReply, { readonly kind: 'value' }>,
): EngineAnswer {
  return { batches: batch === undefined ? batches : [...batches, batch], value };
}

function forkProgram({ entry }: EngineProgram): ChildProcess {
  return fork(fileURLToPath(entry), [], {
    serialization: 'advanced',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: programEnvironment(),
  });
}

/** The error as the engine process threw it. Only a `UserError` has a code. */
function receivedError({ message, code, ...options }: SentError): Error {
  return code === undefined
    ? new Error(message)
    : warehouseError(code as WarehouseErrorCode, message, options);
}
