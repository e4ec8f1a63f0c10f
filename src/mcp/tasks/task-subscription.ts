import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Caller } from '../caller.ts';
import { declaresTasks } from './task-methods.ts';
import type { ServerTask } from './task-table.ts';

/** Tasks that one subscription may name. */
const mostTasks = 100;
/** States that wait for a client that does not read. Beyond that only the last one counts. */
const mostUnread = 64;
/** Milliseconds between two signs of life, so that proxies keep the stream. */
const keepAliveMs = 15_000;

const listenSchema = z.object({
  id: z.union([z.string(), z.number()]),
  method: z.literal('subscriptions/listen'),
  params: z.object({
    _meta: z.looseObject({}),
    notifications: z.looseObject({ taskIds: z.array(z.string()).max(mostTasks) }),
  }),
});

interface SubscriptionsInput {
  readonly caller: Pick<Caller, 'tasks' | 'mayOffer'>;
  /** Subscriptions that the caller may hold open. */
  readonly most: number;
  /** Aborts when the server stops. */
  readonly end: AbortSignal;
}

/**
 * Answers `subscriptions/listen` for tasks of a caller with `notifications/tasks`: the state that
 * each of them has, and every later one, until all have ended. Anything else gets the answer of
 * the SDK, and so do tasks that are not there: it has checked the request, and says that nothing
 * was accepted.
 */
export function openTaskSubscriptions({ caller, most, end }: SubscriptionsInput) {
  let open = 0;
  return ({ signal }: Request, message: unknown, answer: Response): Response => {
    const { data: asked } = listenSchema.safeParse(message);
    const isTaken = answer.headers.get('content-type') === 'text/event-stream';
    if (asked === undefined || !isTaken || open >= most) return answer;
    const { id, params } = asked;
    const { _meta: meta } = params;
    if (!declaresTasks(meta) || !caller.mayOffer('write')) return answer;
    const tasks = new Map<string, ServerTask>();
    for (const taskId of params.notifications.taskIds) {
      const task = caller.tasks.find(taskId);
      if (task !== undefined) tasks.set(taskId, task);
    }
    if (tasks.size === 0) return answer;
    void answer.body?.cancel();
    open += 1;
    const body = openTaskStream({ id, tasks, signal, end, onClose: () => void (open -= 1) });
    return new Response(body, { headers: answer.headers });
  };
}

interface TaskStream {
  readonly id: string | number;
  readonly tasks: ReadonlyMap<string, ServerTask>;
  readonly signal: AbortSignal;
  readonly end: AbortSignal;
  readonly onClose: () => void;
}

/** A stream of server-sent events. */
function openTaskStream({ id, tasks, signal, end, onClose }: TaskStream) {
  const marked = { _meta: { [SUBSCRIPTION_ID_META_KEY]: id } };
  const encoder = new TextEncoder();
  const over = new AbortController();
  /** Without an answer the client takes it for a broken connection. */
  const close = (controller: ReadableStreamDefaultController, isAnswered: boolean): void => {
    if (over.signal.aborted) return;
    const result = { resultType: 'complete', ...marked };
    if (isAnswered) controller.enqueue(encode({ id, result }));
    over.abort();
    onClose();
    controller.close();
  };
  const encode = (message: object): Uint8Array =>
    encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);

  const start = (controller: ReadableStreamDefaultController): void => {
    const notify = (method: string, params: object): void =>
      controller.enqueue(encode({ method, params: { ...params, ...marked } }));
    const tell = (task: ServerTask): void => {
      const state = task.state();
      if (state.status === 'working' && (controller.desiredSize ?? 0) <= 0) return;
      notify('notifications/tasks', state);
      const isOver = [...tasks.values()].every((own) => own.state().status !== 'working');
      if (isOver) close(controller, true);
    };
    notify('notifications/subscriptions/acknowledged', {
      notifications: { taskIds: [...tasks.keys()] },
    });
    const until = { signal: over.signal, once: true };
    signal.addEventListener('abort', () => close(controller, false), until);
    end.addEventListener('abort', () => close(controller, true), until);
    const alive = setInterval(() => controller.enqueue(encoder.encode(': \n\n')), keepAliveMs);
    over.signal.addEventListener('abort', () => clearInterval(alive));
    for (const task of tasks.values()) {
      if (over.signal.aborted) return;
      task.watch(() => tell(task), over.signal);
      tell(task);
    }
  };
  return new ReadableStream<Uint8Array>(
    { start, cancel: () => void (over.signal.aborted || (over.abort(), onClose())) },
    new CountQueuingStrategy({ highWaterMark: mostUnread }),
  );
}
