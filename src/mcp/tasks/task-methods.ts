import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { answerRead, describeAsked } from '../answer-call.ts';
import type { Caller } from '../caller.ts';
import type { ServerTask, TaskState } from './task-table.ts';

/** The extension by which a call is answered with a task, and its result is asked for later. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const declaredSchema = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    extensions: z.object({ [tasksExtension]: z.object({}) }),
  }),
});

/** A client says it with each request. The revisions of 2025 have no such tasks. */
export function takesTasks({ mcpReq: { envelope } }: ServerContext): boolean {
  return declaresTasks(envelope);
}

/** Whether `_meta` of a request says that its client takes tasks. */
export function declaresTasks(meta: unknown): boolean {
  return declaredSchema.safeParse(meta).success;
}

const named = z.looseObject({ taskId: z.string() });
const anything = z.looseObject({});

/** What asks for a task, and cancels one. No task of ktx waits for input. */
export function addTaskMethods({ server }: McpServer, caller: Pick<Caller, 'tasks' | 'record'>) {
  const find = (taskId: string, context: ServerContext): ServerTask => {
    if (!takesTasks(context))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [tasksExtension]: {} } },
      });
    const task = caller.tasks.find(taskId);
    if (task !== undefined) return task;
    const message = 'There is no such task of this client, or the server has started again since.';
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  };
  const schemas = { params: named, result: anything };
  server.setRequestHandler('tasks/get', schemas, ({ taskId }, context) => ({
    ...find(taskId, context).state(),
  }));
  server.setRequestHandler('tasks/update', schemas, ({ taskId }, context) => {
    find(taskId, context);
    return {};
  });
  server.setRequestHandler('tasks/cancel', schemas, ({ taskId }, context) => {
    const asked = describeAsked(server, context, { tool: 'tasks/cancel', input: { taskId } });
    return answerRead(caller, asked, () => {
      find(taskId, context).cancel();
      return {};
    });
  });
}

/** The answer of a call that has become a task. The SDK passes on types of results it lacks. */
export function taskResult(state: TaskState): {
  readonly content: [];
  readonly resultType: string;
} {
  return { ...state, content: [], resultType: 'task' };
}
