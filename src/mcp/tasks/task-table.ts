import { randomUUID } from 'node:crypto';
import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
} from '@modelcontextprotocol/server';
import { errorMessage } from '../../lib/error.ts';

/** What a client reads of a task, in any state. Times are ISO 8601. */
interface TaskFields {
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** `failed` is for errors of the protocol: a tool that failed has completed. */
export type TaskState = TaskFields &
  (
    | { readonly status: 'working' | 'cancelled' }
    | { readonly status: 'completed'; readonly result: CallToolResult }
    | { readonly status: 'failed'; readonly error: { code: number; message: string } }
  );

/** What the work of a task gets. */
interface TaskWork {
  /** Aborts when the client cancels the task, or the server stops. */
  readonly signal: AbortSignal;
  /** Tells what it is doing, in words for a person. */
  readonly report: (step: string) => void;
}

export interface ServerTask {
  readonly state: () => TaskState;
  /** Calls after each change of the state, until the signal aborts. */
  readonly watch: (changed: () => void, until: AbortSignal) => void;
  readonly cancel: () => void;
}

export type TaskTable = ReturnType<typeof openTaskTable>;

/** Milliseconds from its start for which a task that has ended is kept. */
const keptMs = 24 * 3_600_000;
const pollIntervalMs = 2000;
/** Of one caller. Calls beyond that are no tasks: they are answered when they end. */
const mostRunning = 8;
/** Of one caller, that have ended. */
const mostEnded = 100;

/** The tasks of one caller, in memory: they end with the process. Nobody else finds them. */
export function openTaskTable(end: AbortSignal) {
  const tasks = new Map<string, ServerTask>();
  const isRunning = (task: ServerTask) => task.state().status === 'working';

  const makeRoom = (): void => {
    const ended = [...tasks].filter(([, task]) => !isRunning(task));
    const old = Date.now() - keptMs;
    for (const [index, [id, task]] of ended.entries()) {
      const isOld = Date.parse(task.state().createdAt) < old;
      if (isOld || ended.length - index > mostEnded) tasks.delete(id);
    }
  };

  return {
    hasRoom: (): boolean => [...tasks.values()].filter(isRunning).length < mostRunning,
    /** Starts the work; its task is found from then on. */
    begin(work: (given: TaskWork) => Promise<CallToolResult>): TaskState {
      makeRoom();
      const id = randomUUID();
      const task = runTask(id, work, end);
      tasks.set(id, task);
      return task.state();
    },
    find: (id: string): ServerTask | undefined => tasks.get(id),
  };
}

/** The tables of all callers of a server: they outlive the configuration. */
export function openTaskTables(end: AbortSignal): (owner: string) => TaskTable {
  const tables = new Map<string, TaskTable>();
  return (owner) => {
    const table = tables.get(owner) ?? openTaskTable(end);
    tables.set(owner, table);
    return table;
  };
}

function runTask(
  taskId: string,
  work: (given: TaskWork) => Promise<CallToolResult>,
  end: AbortSignal,
): ServerTask {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, end]);
  const createdAt = new Date().toISOString();
  const common = { taskId, createdAt, ttlMs: keptMs, pollIntervalMs };
  let state: TaskState = { ...common, status: 'working', lastUpdatedAt: createdAt };
  const watchers = new Set<() => void>();
  const become = (next: TaskState): void => {
    state = next;
    for (const changed of watchers) changed();
  };
  const stamp = () => ({ ...common, lastUpdatedAt: new Date().toISOString() });
  const report = (statusMessage: string): void => {
    if (state.status === 'working' && state.statusMessage !== statusMessage)
      become({ ...stamp(), status: 'working', statusMessage });
  };
  const settle = async (): Promise<void> => {
    try {
      const result = await work({ signal, report });
      // Work that was done before the cancellation reached it has a result.
      const isCancelled = signal.aborted && result.isError === true;
      become(
        isCancelled
          ? { ...stamp(), status: 'cancelled' }
          : { ...stamp(), status: 'completed', result },
      );
    } catch (error) {
      become(
        signal.aborted
          ? { ...stamp(), status: 'cancelled' }
          : { ...stamp(), status: 'failed', error: protocolError(error) },
      );
    }
  };
  void settle();
  const watch: ServerTask['watch'] = (changed, until) => {
    watchers.add(changed);
    until.addEventListener('abort', () => watchers.delete(changed), { once: true });
  };
  return { state: () => state, watch, cancel: () => stop.abort() };
}

/** The message of a defect is not for a client. */
function protocolError(error: unknown): { code: number; message: string } {
  return error instanceof ProtocolError
    ? { code: error.code, message: errorMessage(error) }
    : { code: ProtocolErrorCode.InternalError, message: 'Internal error' };
}
