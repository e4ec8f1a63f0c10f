import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import { UserError } from '../../lib/error.ts';
import { isRecord } from '../../lib/json.ts';
import type { Broker } from '../broker/open-broker.ts';
import { type AdmitInput, openAdmission } from './admit.ts';
import type { HttpCaller } from './callers.ts';
import { sendJson, sendResponse, sendText, toWebRequest } from './exchange.ts';
import { openPageRoute, type PageRouteInput } from '../page/page-route.ts';
import type { Metrics } from '../usage/metrics.ts';
import { readMessage } from './read-message.ts';
import type { ReloadingCallers } from './reload.ts';
import { signInPath, type WarehouseSignIns } from '../sign-in/warehouse-sign-ins.ts';
import { isMetadataPath, resourceMetadata } from './resource-metadata.ts';

interface RouteInput extends AdmitInput, Pick<PageRouteInput, 'page' | 'end'> {
  readonly callers: Pick<ReloadingCallers, 'take' | 'state'>;
  readonly metrics: Pick<Metrics, 'countRequest' | 'read'>;
  /** The names that `Host` and `Origin` may have. */
  readonly names: readonly string[];
  /** Answers the login of clients, if this server is their authorization server. */
  readonly broker?: Pick<Broker, 'answers' | 'answer' | 'page'> | undefined;
  /** Takes back browsers that were sent to sign in at a warehouse. */
  readonly signIns?: Pick<WarehouseSignIns, 'finish'> | undefined;
}

/** What the server answers to each path, and what of it still runs. */
export function openRoutes(input: RouteInput) {
  let state: 'starting' | 'ready' | 'stopping' = 'starting';
  const { metrics } = input;
  const admission = openAdmission(input);
  const mcp = openMcpRoute(input, admission);
  const login = openLoginRoutes(input);
  const page = openPageRoute(input, admission);

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ''] = (request.url ?? '').split('?');
    // Probes ask by the address of a container, and learn nothing here.
    if (path === '/health') return sendJson(response, 200, { body: { status: 'up' } });
    if (path === '/ready')
      return sendJson(response, state === 'ready' ? 200 : 503, {
        body: { status: state, ...input.callers.state() },
      });
    if (await login.answer(path, request, response)) return;
    if (path === '/metrics') return answerMetrics({ metrics, admission }, request, response);
    const isOfPage = page.answers(path);
    if (path !== '/mcp' && !isOfPage)
      return sendJson(response, 404, { body: { error: 'MCP is at /mcp, and little else here.' } });
    if (state === 'stopping')
      return sendJson(response, 503, { body: { error: 'The server stops. Try again later.' } });
    if (isOfPage) return page.answer(request, response);
    response.once('close', () => metrics.countRequest(response.statusCode));
    await mcp.answer(request, response);
  };

  const fail = (response: ServerResponse, error: unknown): void => {
    // A request that failed half-way, mostly because the client is gone, ends its connection.
    if (response.headersSent || response.destroyed) return void response.destroy();
    if (error instanceof UserError && error.retryable) {
      input.report({ refused: error.code });
      const body = { error: 'The server cannot answer at the moment. Try again later.' };
      return sendJson(response, 503, { body });
    }
    input.report({ error: inspect(error) });
    // Not the message: it may name folders of this machine to somebody without a login.
    const body = { error: 'The server failed. .ktx/logs/http.jsonl says why.' };
    sendJson(response, 500, { body });
  };

  return {
    /** Never rejects: a failure is the answer, or the end of the connection. */
    answer: (request: IncomingMessage, response: ServerResponse): Promise<void> =>
      answer(request, response).catch((error: unknown) => fail(response, error)),
    becomeReady: (): void => void (state = state === 'starting' ? 'ready' : state),
    stop: (): void => void (state = 'stopping'),
    /** Resolves when nothing that counts is running. */
    settled: async (): Promise<void> => void (await Promise.all([mcp.settled(), page.settled()])),
  };
}

/** Answers what clients ask before they have a token, and requests of strangers. */
function openLoginRoutes({ provider, broker, signIns, names, report }: RouteInput) {
  return {
    /** True if the request was answered. */
    async answer(
      path: string,
      request: IncomingMessage,
      response: ServerResponse,
    ): Promise<boolean> {
      const refusal = refuseStranger(request, names);
      if (provider !== undefined && isMetadataPath(path) && refusal?.header !== 'host') {
        // Pages that are clients read it, and it says nothing that is not public.
        const headers = { 'access-control-allow-origin': '*' };
        sendJson(response, 200, { body: resourceMetadata(provider.auth), headers });
        return true;
      }
      const isForBroker = broker?.answers(path) === true;
      // Pages that are clients ask for tokens; whether they may read them is up to their client.
      if (refusal !== undefined && !(isForBroker && isOpenToPages(path, refusal.header))) {
        report({ refused: refusal.header, from: request.socket.remoteAddress });
        sendJson(response, 403, { body: { error: refusal.error } });
        return true;
      }
      if (isForBroker) await broker?.answer(request, response);
      if (signIns === undefined || path !== signInPath) return isForBroker;
      const query = new URL(request.url ?? '', 'http://ktx').searchParams;
      const { status, text } = await signIns.finish(query);
      sendText(response, { status, type: 'text/plain; charset=utf-8', text });
      return true;
    },
  };
}

type HttpAdmission = ReturnType<typeof openAdmission>;

/** Answers MCP, once its sender was let in. */
function openMcpRoute(input: RouteInput, admission: HttpAdmission) {
  /** Without subscriptions, which run until the client ends them. */
  const running = new Set<Promise<void>>();

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const login = await admission.admit(request, response);
    if (login === undefined) return;
    const { identity } = login;
    using taken = input.callers.take(identity);
    const { caller } = taken;
    const wait = await caller.limits.takeRequest();
    if (wait > 0) {
      const body = { error: `Too many requests. Send the next one in ${wait} s.` };
      return sendJson(response, 429, { body, headers: { 'retry-after': String(wait) } });
    }
    const read = await readMessage(request);
    if (read.kind === 'refused') return sendJson(response, read.status, { body: read.reply });
    if (admission.asksForScope(response, identity, caller.missingScope(read.message))) return;
    const done = forward({ caller, message: read.message }, request, response);
    // Nobody waits for one that only listens.
    if (isSubscription(request, read.message)) taken[Symbol.dispose]();
    else running.add(done);
    await done.finally(() => running.delete(done));
  };

  return {
    answer,
    settled: async (): Promise<void> => void (await Promise.allSettled(running)),
  };
}

/** For whoever has a token for it; for everyone on this machine if the server has no login. */
async function answerMetrics(
  { metrics, admission }: Pick<RouteInput, 'metrics'> & { readonly admission: HttpAdmission },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const login = await admission.admit(request, response);
  if (login === undefined) return;
  if (login.identity?.scopes.includes('metrics') === false) {
    const error = 'This token does not have the scope metrics.';
    return sendJson(response, 403, { body: { error } });
  }
  const { type, text } = await metrics.read();
  sendText(response, { type, text });
}

/**
 * Why a request is not for this server: a page of another site may have sent it, by a name that it
 * made to lead here (DNS rebinding), or from a browser.
 */
function refuseStranger(
  { headers }: IncomingMessage,
  names: readonly string[],
): { readonly header: 'host' | 'origin'; readonly error: string } | undefined {
  const hint = 'ktx mcp serve --allow-host adds a name.';
  const host = validateHostHeader(headers.host, [...names]);
  if (!host.ok) return { header: 'host', error: `${host.message}. ${hint}` };
  const origin = validateOriginHeader(headers.origin, [...names]);
  return origin.ok ? undefined : { header: 'origin', error: `${origin.message}. ${hint}` };
}

/** What pages of other sites may ask for: nothing that a person sees. */
function isOpenToPages(path: string, refused: 'host' | 'origin'): boolean {
  const isPage = path.startsWith('/oauth/interaction/') || path === '/oauth/callback';
  return refused === 'origin' && !isPage;
}

/** Whether a client listens until it has had enough, in any revision of the protocol. */
function isSubscription({ method }: IncomingMessage, message: unknown): boolean {
  return method === 'GET' || (isRecord(message) && message['method'] === 'subscriptions/listen');
}

interface ForwardedMessage {
  readonly caller: HttpCaller;
  /** Undefined for a request without a body. */
  readonly message: unknown;
}

/** Lets the SDK answer. A client that goes away cancels what it asked for. */
async function forward(
  { caller, message }: ForwardedMessage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const web = toWebRequest(request, gone.signal);
  const answer = await caller.answer(web, message);
  await sendResponse(response, answer, gone.signal);
}
