import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { withProjectLock } from '../../src/store/lock.ts';
import { ingestedShop, sql } from '../ingest/ingest-project.ts';
import { itemOf } from './changes-shop.ts';
import { serveRegions } from './http-shop.ts';
import { openTaskClient, taskSchema, tasksExtension } from './task-client.ts';

const subscriptionId = 'io.modelcontextprotocol/subscriptionId';

interface Event {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

async function serveShop() {
  const server = await serveRegions({}, {}, await ingestedShop());
  onTestFinished(() => server[Symbol.asyncDispose]());
  const tokenOf = async (
    name: string,
    scopes: ('read' | 'query' | 'write')[] = ['read', 'write'],
  ) => (await server.tokens.create({ name, scopes })).text;
  return { server, dir: server.dir, url: server.url, tokenOf };
}

interface Listening {
  readonly url: string;
  readonly token: string;
  readonly taskIds: readonly string[];
  readonly signal?: AbortSignal;
  readonly extensions?: object;
  /** The header of the method. */
  readonly named?: string;
}

function listen({ url, token, taskIds, signal, extensions, named }: Listening): Promise<Response> {
  const method = 'subscriptions/listen';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {
      extensions: extensions ?? { [tasksExtension]: {} },
    },
  };
  return fetch(url, {
    method: 'POST',
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': named ?? method,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method,
      params: { _meta: meta, notifications: { taskIds } },
    }),
  });
}

/** The messages of a stream, as they come. */
async function* read(response: Response): AsyncGenerator<Event> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of response.body ?? []) {
    text += decoder.decode(piece as Uint8Array, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Event;
    }
  }
}

async function collect(stream: AsyncIterable<Event>): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const accepted = (event: Event | undefined) => event?.params?.['notifications'];

test('a client that listens to an ingest hears each state, and its result in the end', async () => {
  const { dir, url, tokenOf } = await serveShop();
  sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
  const token = await tokenOf('ann');
  const client = openTaskClient(url, token);
  const { taskId, rest } = await withProjectLock(dir, async () => {
    const task = taskSchema.parse(await client.ingest({ wait: 0 }));
    const stream = read(await listen({ url, token, taskIds: [task.taskId, 'unknown'] }));
    const first = (await stream.next()).value as Event;
    expect(first.method).toBe('notifications/subscriptions/acknowledged');
    expect(accepted(first)).toEqual({ taskIds: [task.taskId] });
    const second = (await stream.next()).value as Event;
    expect(second).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId: task.taskId, status: 'working', _meta: { [subscriptionId]: 7 } },
    });
    return { taskId: task.taskId, rest: stream };
  });
  const events = await collect(rest);
  const states = events.filter(({ method }) => method === 'notifications/tasks');
  expect(states.length).toBeGreaterThan(1);
  expect(states.some(({ params }) => params?.['statusMessage'] !== undefined)).toBe(true);
  const last = await client.get(taskId);
  const { status, result } = last;
  expect(states.at(-1)?.params).toMatchObject({ taskId, status, result });
  expect(itemOf(last.result?.content[0]?.text ?? '')['status']).toBe('complete');
  expect(events.at(-1)).toMatchObject({
    id: 7,
    result: { resultType: 'complete', _meta: { [subscriptionId]: 7 } },
  });
});

test('who lost the connection listens again and gets the result; one that is cancelled says so', async () => {
  const { dir, url, tokenOf } = await serveShop();
  sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
  const token = await tokenOf('ann');
  const client = openTaskClient(url, token);
  const { taskId, cancelled } = await withProjectLock(dir, async () => {
    const task = taskSchema.parse(await client.ingest({ wait: 0 }));
    const gone = new AbortController();
    const { signal } = gone;
    const lost = read(await listen({ url, token, taskIds: [task.taskId], signal }));
    await lost.next();
    gone.abort();
    await expect(collect(lost)).rejects.toThrow();
    const other = taskSchema.parse(await client.ingest({ connections: ['shop'], wait: 0 }));
    const stream = collect(read(await listen({ url, token, taskIds: [other.taskId] })));
    await client.send('tasks/cancel', { taskId: other.taskId });
    return { taskId: task.taskId, cancelled: await stream };
  });
  expect(cancelled.at(-2)?.params).toMatchObject({ status: 'cancelled' });
  const events = await collect(read(await listen({ url, token, taskIds: [taskId] })));
  expect(events.at(-2)?.params).toMatchObject({ taskId, status: 'completed' });
  expect((await client.get(taskId)).status).toBe('completed');
});

test('nobody hears of the task of another, and a stream ends with the server', async () => {
  const { server, dir, url, tokenOf } = await serveShop();
  const token = await tokenOf('ann');
  const client = openTaskClient(url, token);
  const [bob, reader] = [await tokenOf('bob'), await tokenOf('rea', ['read'])];
  await withProjectLock(dir, async () => {
    const { taskId } = taskSchema.parse(await client.ingest({ wait: 0 }));
    const taskIds = [taskId];
    const refused = [
      { url, token: bob, taskIds },
      { url, token: reader, taskIds },
      { url, token, taskIds, extensions: {} },
      { url, token, taskIds: ['unknown'] },
    ];
    for (const request of refused) {
      const events = await collect(read(await listen(request)));
      expect(accepted(events[0])).toEqual({});
      expect(JSON.stringify(events)).not.toContain('notifications/tasks');
    }
    expect((await listen({ url, token, taskIds, named: 'tasks/get' })).status).toBe(400);
    const open = await Promise.all(
      Array.from({ length: 16 }, () => listen({ url, token, taskIds })),
    );
    const beyond = await collect(read(await listen({ url, token, taskIds })));
    expect(accepted(beyond[0])).toEqual({});
    const streams = open.map((response) => collect(read(response)));
    await sleep(10);
    server.interrupt();
    for (const events of await Promise.all(streams)) expect(events.at(-1)).toHaveProperty('result');
  });
});
