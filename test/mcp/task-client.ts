import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

const replySchema = z.object({
  result: z.looseObject({}).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});

export const taskSchema = z.looseObject({
  resultType: z.string(),
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().optional(),
  result: z
    .looseObject({
      content: z.array(z.looseObject({ text: z.string() })),
      isError: z.boolean().optional(),
    })
    .optional(),
});

/** The parameters of a request of 2026-07-28 by a client that takes tasks, or does not. */
function paramsOf(params: object, extensions: object = { [tasksExtension]: {} }) {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { extensions },
    },
  };
}

/** A client that sends requests of 2026-07-28 as they are. */
export function openTaskClient(url: string, token: string, extensions?: object) {
  const send = async (method: string, params: { name?: string; taskId?: string }) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': params.name ?? params.taskId ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: paramsOf(params, extensions) }),
    });
    const text = await response.text();
    const json = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
    return replySchema.parse(JSON.parse(json));
  };
  const get = async (taskId: string) =>
    taskSchema.parse((await send('tasks/get', { taskId })).result);
  return {
    send,
    get,
    ingest: async (args: object = {}) => {
      const params = { name: 'ingest', arguments: args };
      const { result, error } = await send('tools/call', params);
      if (error !== undefined) throw new Error(error.message);
      return result ?? {};
    },
    /** Asks until the task is as wanted, or until the test ends. */
    async until(taskId: string, isWanted: (task: z.infer<typeof taskSchema>) => boolean) {
      for (;;) {
        const task = await get(taskId);
        if (isWanted(task)) return task;
        await sleep(50);
      }
    },
  };
}
