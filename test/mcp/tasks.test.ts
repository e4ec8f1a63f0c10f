import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openProject } from '../../src/project/open/open.ts';
import { withProjectLock } from '../../src/store/lock.ts';
import { ingestedShop, sql } from '../ingest/ingest-project.ts';
import { run } from '../store/git-project.ts';
import { itemOf } from './changes-shop.ts';
import { connect, makeRegions, serveRegions } from './http-shop.ts';
import { openTaskClient, taskSchema, tasksExtension } from './task-client.ts';

type Scopes = ('read' | 'query' | 'write')[];

async function serveShop(dir?: string) {
  const server = await serveRegions({}, {}, dir ?? (await ingestedShop()));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const tokenOf = async (
    name: string,
    scopes: Scopes = ['read', 'query', 'write'],
    role?: string,
  ) => (await server.tokens.create({ name, scopes, role })).text;
  return { server, dir: server.dir, url: server.url, tokenOf };
}

const begin = async (client: ReturnType<typeof openTaskClient>, args: object = {}) =>
  taskSchema.parse(await client.ingest(args));

test('an ingest is a task that works, says what it does, and has the answer of the call in the end', async () => {
  const { dir, url, tokenOf } = await serveShop();
  sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
  const client = openTaskClient(url, await tokenOf('ann'));
  const discovered = await client.send('server/discover', {});
  expect(discovered.result).toMatchObject({
    capabilities: { extensions: { [tasksExtension]: {} } },
  });
  const task = await withProjectLock(dir, async () => {
    const begun = await begin(client, { wait: 0 });
    expect(begun).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 86_400_000 });
    const waiting = await client.until(begun.taskId, (own) => own.statusMessage !== undefined);
    expect(waiting).toMatchObject({ resultType: 'complete', status: 'working' });
    expect(waiting.statusMessage).toMatch(/^Another ktx/);
    return begun;
  });
  const ended = await client.until(task.taskId, ({ status }) => status !== 'working');
  expect(ended).toMatchObject({ status: 'completed', result: { isError: false } });
  const head = run(dir, 'rev-parse', 'HEAD');
  const item = itemOf(ended.result?.content[0]?.text ?? '');
  expect(item).toMatchObject({ status: 'complete', commit: head });
  // The state of a run is an answer at once.
  const asked = await client.ingest({ run: item['run'], wait: 0 });
  expect(asked).toMatchObject({ resultType: 'complete', isError: false });
  const lines = readFileSync(
    join(dir, `.ktx/audit/${new Date().toISOString().slice(0, 10)}.jsonl`),
    'utf8',
  );
  const outcomes = lines.match(/"tool":"ingest"/g) ?? [];
  expect(outcomes).toHaveLength(4);
});

test('a cancelled one leaves the project as it was', async () => {
  const { dir, url, tokenOf } = await serveShop();
  sql(dir, 'CREATE TABLE extra (id INTEGER PRIMARY KEY, word TEXT)');
  const head = run(dir, 'rev-parse', 'HEAD');
  const client = openTaskClient(url, await tokenOf('ann'));
  await withProjectLock(dir, async () => {
    const { taskId } = await begin(client);
    expect(await client.send('tasks/cancel', { taskId })).toMatchObject({
      result: { resultType: 'complete' },
    });
    const ended = await client.until(taskId, ({ status }) => status !== 'working');
    expect(ended.status).toBe('cancelled');
    expect(await client.send('tasks/cancel', { taskId })).not.toHaveProperty('error');
    expect((await client.get(taskId)).status).toBe('cancelled');
  });
  expect(run(dir, 'rev-parse', 'HEAD')).toBe(head);
  expect(run(dir, 'status', '--porcelain')).toBe('');
  const { taskId } = await begin(client);
  const ended = await client.until(taskId, ({ status }) => status !== 'working');
  expect(ended.status).toBe('completed');
  expect(run(dir, 'rev-list', `${head}..HEAD`).split('\n')).toHaveLength(1);
});

test('it belongs to its caller', async () => {
  const { dir, url, tokenOf } = await serveShop();
  const ann = openTaskClient(url, await tokenOf('ann'));
  await withProjectLock(dir, async () => {
    const { taskId } = await begin(ann);
    for (const name of ['bo', 'ann2']) {
      const other = openTaskClient(url, await tokenOf(name));
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect((await other.send(method, { taskId })).error?.code).toBe(-32_602);
    }
    expect((await ann.get(taskId)).status).toBe('working');
    await ann.send('tasks/cancel', { taskId });
  });
});

test('a client without tasks gets a plain answer, with the id of the run', async () => {
  const { dir, url, tokenOf } = await serveShop();
  const text = await tokenOf('ann');
  const plain = openTaskClient(url, text, {});
  await withProjectLock(dir, async () => {
    const answer = await plain.ingest({ wait: 0 });
    expect(answer).toMatchObject({ resultType: 'complete', isError: false });
    expect(JSON.stringify(answer)).toContain('running');
    const taskId = 'x';
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
      expect((await plain.send(method, { taskId })).error?.code).toBe(-32_021);
    // A client of 2025 that names the extension has no such tasks.
    const capabilities = { extensions: { [tasksExtension]: {} } };
    const legacy = await connect(url, text, { mode: 'legacy', capabilities });
    onTestFinished(() => legacy[Symbol.asyncDispose]());
    expect(itemOf((await legacy.call('ingest', { wait: 0 })).text)['status']).toBe('running');
  });
});

test('a caller who may not write sees nothing of it', async () => {
  const { url, tokenOf } = await serveShop();
  const reader = openTaskClient(url, await tokenOf('rea', ['read', 'query']));
  const { result } = await reader.send('server/discover', {});
  expect(JSON.stringify(result)).not.toContain(tasksExtension);
  expect((await reader.send('tasks/get', { taskId: 'x' })).error?.code).toBe(-32_601);
  const refused = await reader.send('tools/call', { name: 'ingest' }).catch(() => undefined);
  expect(JSON.stringify(refused ?? {})).not.toContain('taskId');
});

test('two of the same are one run, and beyond eight there is no task', async () => {
  const { dir, url, tokenOf } = await serveShop();
  const client = openTaskClient(url, await tokenOf('ann'));
  const tasks = await withProjectLock(dir, async () => {
    const begun = [];
    for (let index = 0; index < 8; index += 1) begun.push(await begin(client));
    expect(await client.ingest({ wait: 0 })).toMatchObject({ resultType: 'complete' });
    return begun;
  });
  const ended = await Promise.all(
    tasks.map(({ taskId }) => client.until(taskId, ({ status }) => status !== 'working')),
  );
  const runs = ended.map(({ result }) => itemOf(result?.content[0]?.text ?? '')['run']);
  expect(new Set(runs).size).toBe(1);
  expect(await begin(client)).toMatchObject({ resultType: 'task' });
});

test('it outlives a changed configuration, and ends with the server', async () => {
  const dir = await ingestedShop();
  const server = await serveRegions({ refreshMs: 20, reopen: () => openProject(dir) }, {}, dir);
  const { text } = await server.tokens.create({ name: 'ann', scopes: ['read', 'write'] });
  const client = openTaskClient(server.url, text);
  const taskId = await withProjectLock(dir, async () => {
    const begun = await begin(client);
    const config = join(dir, 'ktx.yaml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}query: {max_rows: 7}\n`);
    await isReadAgain(dir);
    expect((await client.get(begun.taskId)).status).toBe('working');
    await server.stop();
    return begun.taskId;
  });
  const head = run(dir, 'rev-parse', 'HEAD');
  const { url } = (await serveShop(dir)).server;
  const next = openTaskClient(url, text);
  expect((await next.send('tasks/get', { taskId })).error?.code).toBe(-32_602);
  const again = await begin(next);
  const ended = await next.until(again.taskId, ({ status }) => status !== 'working');
  expect(ended).toMatchObject({ status: 'completed', result: { isError: false } });
  expect(run(dir, 'rev-parse', 'HEAD')).toBe(head);
});

/** Returns when the server has read its configuration a second time. */
async function isReadAgain(dir: string): Promise<void> {
  const log = join(dir, '.ktx/logs/http.jsonl');
  while (!existsSync(log) || !readFileSync(log, 'utf8').includes('"configuration":"read"'))
    await sleep(20);
}

test('an ingest that cannot begin is a completed task with the error, and shows no rows', async () => {
  const { url, tokenOf } = await serveShop(await makeRegions());
  const client = openTaskClient(url, await tokenOf('ann', ['read', 'query', 'write'], 'us'));
  const wrong = await begin(client, { connections: ['shp'] });
  const failed = await client.until(wrong.taskId, ({ status }) => status !== 'working');
  expect(failed).toMatchObject({ status: 'completed', result: { isError: true } });
  expect(failed.result?.content[0]?.text).toContain('connection_unknown');
  const { taskId } = await begin(client);
  const ended = await client.until(taskId, ({ status }) => status !== 'working');
  expect(ended.status).toBe('completed');
  expect(JSON.stringify(ended)).not.toContain('canary');
});
