import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwAwayCertificate } from './certificate.ts';
import {
  type Answer,
  fail,
  type ModelCall,
  type Protocol,
  type Reply,
  say,
  type Script,
  type StreamFault,
} from './model-script.ts';
import { anthropicWire } from './model-wire-anthropic.ts';
import { gatewayWire } from './model-wire-gateway.ts';
import { openaiWire } from './model-wire-openai.ts';
import type { Wire, WireRequest } from './model-wire.ts';

/**
 * A scripted model on loopback: over HTTP by `url`, and over HTTPS as api.anthropic.com for whoever
 * goes through `proxy`.
 */
export interface ModelEndpoint {
  /** Without a path; each protocol is told apart by what is asked for. */
  readonly url: string;
  /** CONNECT proxy that reaches api.anthropic.com:443 (this endpoint) and nothing else. */
  readonly proxy: string;
  /** PEM file with the certificate of the HTTPS side. */
  readonly caFile: string;
  /** Everything that was asked for, model calls included, in order. */
  readonly requests: readonly RecordedRequest[];
  /** Hosts that the proxy refused. */
  readonly refused: readonly string[];
  /**
   * Answers the requests whose text contains the marker of the case, or that ask for its model.
   * Cases may run at the same time.
   */
  start(script: Script, model?: string): ModelCase;
  /**
   * Answers the model requests that belong to no case; without it they are bad requests, except the
   * check that a model can be used.
   */
  fallback: Script | undefined;
  /** What other paths answer, as JSON. */
  readonly documents: Map<string, unknown>;
  close(): Promise<void>;
}

export interface ModelCase {
  /**
   * Belongs into the prompt or the system text of every call of the case, unless the case has a
   * model of its own.
   */
  readonly marker: string;
  /** Every model request of the case so far. */
  readonly calls: readonly ModelCall[];
  /** Resolves when the n-th model request has come in. */
  arrived(n: number): Promise<void>;
  /** Resolves when a client has gone away before its answer was complete. */
  readonly abandoned: Promise<void>;
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it came over the wire. */
  readonly text: string;
}

interface RunningCase extends ModelCase {
  readonly script: Script;
  readonly model: string | undefined;
  readonly calls: ModelCall[];
  readonly waiting: { readonly n: number; readonly resolve: () => void }[];
  readonly abandon: () => void;
}

const anthropicHost = 'api.anthropic.com';

export async function openModelEndpoint(): Promise<ModelEndpoint> {
  const folder = await mkdtemp(join(tmpdir(), 'ktx-test-model-'));
  const caFile = join(folder, 'ca.pem');
  const { key, certificate } = throwAwayCertificate(anthropicHost);
  await writeFile(caFile, certificate);
  const state: EndpointState = {
    requests: [],
    cases: [],
    documents: new Map(),
    fallback: undefined,
  };
  const listener: RequestListener = (request, response) => {
    respond(state, request, response).catch((error: unknown) => response.destroy(error as Error));
  };
  const plain = await listen(createServer(listener));
  const secure = await listen(createSecureServer({ key, cert: certificate }, listener));
  const refused: string[] = [];
  const proxy = await listen(connectProxy(secure.port, refused));
  return {
    url: `http://127.0.0.1:${plain.port}`,
    proxy: `http://127.0.0.1:${proxy.port}`,
    caFile,
    requests: state.requests,
    documents: state.documents,
    refused,
    start: (script, model) => startCase(state, script, model),
    get fallback() {
      return state.fallback;
    },
    set fallback(script) {
      state.fallback = script;
    },
    close: async () => {
      await Promise.all([plain, secure, proxy].map((server) => server.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface EndpointState {
  readonly requests: RecordedRequest[];
  readonly cases: RunningCase[];
  readonly documents: Map<string, unknown>;
  fallback: Script | undefined;
}

function startCase(state: EndpointState, script: Script, model: string | undefined): ModelCase {
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>();
  const calls: ModelCall[] = [];
  const waiting: RunningCase['waiting'] = [];
  const arrived = (n: number): Promise<void> =>
    calls.length >= n
      ? Promise.resolve()
      : new Promise((resolve) => void waiting.push({ n, resolve }));
  const started: RunningCase = {
    marker: `case-${randomUUID()}`,
    script,
    model,
    calls,
    waiting,
    arrived,
    abandoned,
    abandon,
  };
  state.cases.push(started);
  return started;
}

async function respond(
  state: EndpointState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { method = '', url: path = '', headers } = request;
  state.requests.push({ method, path, headers, text });
  const protocol = method === 'POST' ? protocolOf(path) : undefined;
  if (path.includes('/count_tokens'))
    return json(response, 200, { input_tokens: Math.ceil(text.length / 4) });
  if (path.startsWith('/computeMetadata/')) return metadata(path, response);
  const document = state.documents.get(path);
  if (document !== undefined) return json(response, 200, document);
  if (protocol !== undefined)
    return answerModelCall(state, { protocol, path, headers, text }, response);
  json(response, 404, {
    type: 'error',
    error: { type: 'not_found_error', message: 'Not found' },
  });
}

interface ModelRequest extends Pick<RecordedRequest, 'path' | 'headers' | 'text'> {
  readonly protocol: Protocol;
}

async function answerModelCall(
  state: EndpointState,
  { protocol, path, headers, text }: ModelRequest,
  response: ServerResponse,
): Promise<void> {
  const wire = wires[protocol];
  const asked: WireRequest = {
    path: path.replace(/\?.*$/, ''),
    headers,
    body: JSON.parse(text) as Record<string, unknown>,
  };
  const read = wire.read(asked);
  const belongs = state.cases.find(
    ({ marker, model }) => text.includes(marker) || model === read.model,
  );
  const gone = new AbortController();
  const call: ModelCall = {
    ...read,
    protocol,
    gone: gone.signal,
    n: (belongs?.calls.length ?? 0) + 1,
    path,
    headers,
    body: asked.body,
  };
  belongs?.calls.push(call);
  belongs?.waiting.filter(({ n }) => n <= call.n).forEach(({ resolve }) => resolve());
  const unknown: Script = isCheck(text) ? () => say('ready') : () => fail('bad-request');
  const script = belongs?.script ?? state.fallback ?? unknown;
  response.on('close', () => {
    if (response.writableFinished) return;
    gone.abort();
    belongs?.abandon();
  });
  await send(response, wire, { asked, answer: await script(call) });
}

/** The one call that ktx makes to find out whether a model can be used. */
function isCheck(text: string): boolean {
  return text.includes('with the word ready') || text.includes('with the one word: ready');
}

/** Where a Google client gets its token from, if GCE_METADATA_HOST names this endpoint. */
function metadata(path: string, response: ServerResponse): void {
  response.setHeader('metadata-flavor', 'Google');
  json(
    response,
    200,
    path.includes('/token')
      ? { access_token: 'made-up', expires_in: 3600, token_type: 'Bearer' }
      : 'test-project',
  );
}

const wires: Record<Protocol, Wire> = {
  anthropic: anthropicWire,
  openai: openaiWire,
  gateway: gatewayWire,
};

function protocolOf(path: string): Protocol | undefined {
  if (/\/messages(?:\?|$)/.test(path) || /:(?:streamRawPredict|rawPredict)$/.test(path))
    return 'anthropic';
  if (path.endsWith('/chat/completions')) return 'openai';
  if (path.endsWith('/language-model')) return 'gateway';
  return undefined;
}

async function send(
  response: ServerResponse,
  wire: Wire,
  { asked, answer }: { asked: WireRequest; answer: Answer },
): Promise<void> {
  if (answer.kind === 'drop') return void response.socket?.resetAndDestroy();
  for (const [name, value] of Object.entries({
    'request-id': `req_${randomUUID()}`,
    ...answer.headers,
  }))
    response.setHeader(name, value);
  if (answer.kind === 'raw-failure') return json(response, answer.status, answer.body);
  if (answer.kind === 'failure') {
    const { status, body } = wire.failure(answer.name);
    return json(response, status, body);
  }
  const written = wire.reply(asked, answer);
  if (written.kind === 'events')
    return sendEvents(response, withFault(wire, written.events, answer), answer);
  if (answer.hang !== undefined) return;
  const what = answer.cut === true ? 'cut' : answer.fault?.what;
  if (what === undefined) return json(response, 200, written.body);
  sendBrokenBody(response, wire, { what, body: written.body });
}

/** Without a stream there is one place for a fault: the middle of the body. */
function sendBrokenBody(
  response: ServerResponse,
  wire: Wire,
  { what, body }: { what: StreamFault['what']; body: unknown },
): void {
  if (what === 'cut') return void response.socket?.destroy();
  if (what === 'end' || what === 'broken-line') {
    const text = JSON.stringify(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(text.slice(0, text.length / 2));
  }
  const failed = wire.failure(what);
  json(response, failed.status, failed.body);
}

/** The events up to the fault, and what comes in place of the rest. */
function withFault(wire: Wire, events: readonly string[], { fault }: Reply): readonly string[] {
  if (fault === undefined) return events;
  const before = events.slice(0, fault.after);
  if (fault.what === 'cut' || fault.what === 'end') return before;
  if (fault.what === 'broken-line')
    return [...before, 'data: {"type": "content_blo\n\n', ...events.slice(fault.after)];
  return [...before, wire.streamedFailure(fault.what)];
}

async function sendEvents(
  response: ServerResponse,
  events: readonly string[],
  { hang, dripMs, ...reply }: Reply,
): Promise<void> {
  const cut = reply.cut === true || reply.fault?.what === 'cut';
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  response.flushHeaders();
  if (hang === 'at-start') return;
  // The last delta, the end of its block and the end of the message are held back.
  const sent = hang === 'mid-stream' || reply.cut === true ? events.slice(0, -4) : events;
  for (const event of sent) {
    if (dripMs !== undefined) await sleep(dripMs);
    if (response.destroyed) return;
    response.write(event);
  }
  if (cut) {
    // What was written still arrives. Otherwise the load of the machine would decide what the
    // client sees.
    await sleep(100);
    response.socket?.end();
  } else if (hang === undefined) response.end();
}

function json(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' });
  response.end(isText ? body : JSON.stringify(body));
}

function connectProxy(port: number, refused: string[]): Server {
  const server = createServer((request, response) => {
    refused.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    client.on('error', () => undefined);
    if (request.url !== `${anthropicHost}:443`) {
      refused.push(request.url ?? '');
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    // Either end may vanish: an aborted child, a cut answer.
    upstream.on('error', () => client.destroy());
    upstream.on('close', () => client.destroySoon());
    client.on('close', () => upstream.destroy());
  });
  return server;
}

async function listen(server: Server): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  // Node closes idle connections after 5 seconds. If it was stalled meanwhile, that cuts off a
  // request that has just come in, and the client sends it again.
  server.keepAliveTimeout = 120_000;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, close };
}
