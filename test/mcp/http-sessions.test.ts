import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createServer } from '../../src/mcp/server.ts';
import { serveRegions } from './http-shop.ts';

const ended: string[] = [];

/** The server of ktx with prompts that ask the client for a name, as a tool of ktx may. */
const createAsking: typeof createServer = (caller, stop) => {
  const mcp = createServer(caller, stop);
  mcp.server.setRequestHandler('prompts/get', async (_, { mcpReq }) => {
    mcpReq.signal.addEventListener('abort', () => ended.push('aborted'));
    const answer = await mcp.server.elicitInput(
      {
        mode: 'form',
        message: 'Which name?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      },
      {
        relatedRequestId: mcpReq.id,
        signal: AbortSignal.any([mcpReq.signal, stop].flatMap((signal) => signal ?? [])),
      },
    );
    const text = JSON.stringify(answer.content);
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
  return mcp;
};

const limits = { mostOfOne: 2, mostOfAll: 3, idleMs: 60_000 };
const serve = (sessions = limits) =>
  serveRegions({ createServer: createAsking, sessions, graceMs: 50 });

interface Sent {
  readonly token?: string;
  readonly session?: string | undefined;
  readonly method?: string;
  readonly accept?: string;
}

/** Sends a message, and returns the answer as soon as it begins. */
async function begin(url: string, message: object | undefined, given: Sent = {}) {
  const { token, session, method = 'POST' } = given;
  const { accept = 'application/json, text/event-stream' } = given;
  const sent = request(url, {
    method,
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
    },
  });
  sent.end(message === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', ...message }));
  const [response] = await once(sent, 'response');
  response.setEncoding('utf8');
  return { sent, response, status: response.statusCode as number };
}

async function send(url: string, message: object | undefined, given: Sent = {}) {
  const { response, status } = await begin(url, message, given);
  let text = '';
  for await (const piece of response) text += String(piece);
  const id: unknown = response.headers['mcp-session-id'];
  return { status, text, session: typeof id === 'string' ? id : undefined };
}

const initialize = (capabilities: object) => ({
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'test', version: '1' },
  },
});
const asking = initialize({ elicitation: { form: {} } });
const list = { id: 2, method: 'tools/list', params: {} };
const ask = { id: 3, method: 'prompts/get', params: { name: 'x' } };

/** Begins a call in whose middle the server asks, and waits for its question. */
async function beginAsking(url: string, given: Sent) {
  const call = await begin(url, ask, given);
  let text = '';
  while (!/"method":"elicitation\/create"/.test(text)) {
    const [piece] = await once(call.response, 'data');
    text += String(piece);
  }
  return { ...call, question: /"id":(\d+|"[^"]+")/.exec(text)?.[1] ?? '' };
}

describe('a session over HTTP', () => {
  it.for([{ elicitation: {} }, { sampling: {} }])('is for a client with %j', async (can) => {
    await using served = await serve();
    const opened = await send(served.url, initialize(can));
    expect(opened.session).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    const again = await send(served.url, initialize(can));
    expect(again.session).not.toBe(opened.session);
    expect((await send(served.url, list, { session: opened.session })).text).toContain('run_sql');
  });

  it('is not for a client that cannot be asked anything', async () => {
    await using served = await serve();
    const { status, session } = await send(served.url, initialize({ roots: {} }));
    expect({ status, session }).toEqual({ status: 200, session: undefined });
    expect((await send(served.url, list)).text).toContain('run_sql');
    for (const method of ['GET', 'DELETE'])
      expect((await send(served.url, undefined, { method })).status).toBe(405);
  });

  it('carries a question and its answer in the middle of a call', async () => {
    await using served = await serve();
    const { session } = await send(served.url, asking);
    const { response, question } = await beginAsking(served.url, { session });
    const result = { action: 'accept', content: { name: 'revenue' } };
    const answered = await send(served.url, { id: JSON.parse(question), result }, { session });
    expect(answered.status).toBe(202);
    let text = '';
    for await (const piece of response) text += String(piece);
    expect(text).toContain('revenue');
  });

  it('belongs to the token that opened it', async () => {
    await using served = await serve();
    const make = async (name: string) =>
      (await served.tokens.create({ name, role: 'us', scopes: ['read', 'query'] })).text;
    const [own, other] = [await make('own'), await make('other')];
    const { session } = await send(served.url, asking, { token: own });
    expect(session).toBeDefined();
    for (const method of ['POST', 'GET', 'DELETE']) {
      const message = method === 'POST' ? list : undefined;
      expect((await send(served.url, message, { token: other, session, method })).status).toBe(404);
    }
    expect((await send(served.url, list, { token: own, session })).text).toContain('run_sql');
  });

  it('is bounded for each caller and in all; more clients have none', async () => {
    await using served = await serve();
    const make = async (name: string) =>
      (await served.tokens.create({ name, role: 'us', scopes: ['read'] })).text;
    const open = async (token: string) => (await send(served.url, asking, { token })).session;
    const [one, two] = [await make('one'), await make('two')];
    const opened = [await open(one), await open(one), await open(one)];
    expect(opened.map((id) => id !== undefined)).toEqual([true, true, false]);
    const others = [await open(two), await open(two)];
    expect(others.map((id) => id !== undefined)).toEqual([true, false]);
    const [session] = opened;
    await send(served.url, undefined, { token: one, session, method: 'DELETE' });
    expect(await open(two)).toBeDefined();
  });

  it('makes room when it is idle, but not while a call runs', async () => {
    await using served = await serve({ mostOfOne: 1, mostOfAll: 1, idleMs: 0 });
    const first = await send(served.url, asking);
    const second = await send(served.url, asking);
    expect((await send(served.url, list, { session: first.session })).status).toBe(404);
    const { session } = second;
    const call = await beginAsking(served.url, { session });
    expect((await send(served.url, asking)).session).toBeUndefined();
    expect((await send(served.url, list, { session })).status).toBe(200);
    call.sent.destroy();
  });

  it('takes no room if it did not begin', async () => {
    await using served = await serve({ ...limits, mostOfOne: 1 });
    const refused = await send(served.url, asking, { accept: 'text/html' });
    expect(refused.status).toBe(406);
    expect((await send(served.url, asking)).session).toBeDefined();
  });

  it('ends by DELETE', async () => {
    await using served = await serve();
    const { session } = await send(served.url, asking);
    expect((await send(served.url, undefined, { session, method: 'DELETE' })).status).toBe(200);
    expect((await send(served.url, list, { session })).status).toBe(404);
  });

  it('cancels the call of a client that goes away', async () => {
    await using served = await serve();
    const { session } = await send(served.url, asking);
    const call = await beginAsking(served.url, { session });
    ended.length = 0;
    call.sent.destroy();
    await expect.poll(() => ended).toEqual(['aborted']);
    expect((await send(served.url, list, { session })).status).toBe(200);
  });

  it('ends when the server stops, with its streams', async () => {
    await using served = await serve();
    const { session } = await send(served.url, asking);
    const stream = await begin(served.url, undefined, { session, method: 'GET' });
    expect(stream.status).toBe(200);
    const call = await beginAsking(served.url, { session });
    const closed = Promise.all([stream, call].map(({ response }) => once(response, 'close')));
    stream.response.resume().on('error', () => undefined);
    call.response.resume().on('error', () => undefined);
    await served.stop();
    await closed;
  });
});
