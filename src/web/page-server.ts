import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { UserError } from '../lib/error.ts';
import { readVersion } from '../lib/version.ts';
import { sendJson } from '../mcp/http/exchange.ts';
import { serverLimits, startListening } from '../mcp/listen.ts';
import { refuseForeign, refuseStranger, type RequestRefusal } from './guard.ts';
import { sendEnvelope, sendFailure } from './page-answer.ts';
import { type PageFiles, sendPageFile } from './page-files.ts';
import { setPageHeaders } from './page-headers.ts';
import { readCommand, readInput, type RoutedRequest } from './page-input.ts';
import { pageRoutes, type PageCommand } from './page-routes.ts';
import { openPageSessions, type PageSessions } from './page-sessions.ts';

/** Runs one command line as `--json` does. Lines before the last go to `onLine`. */
export type RunForPage = (
  command: PageCommand,
  options: { readonly signal: AbortSignal; readonly onLine?: (line: string) => void },
) => Promise<string>;

export interface PageServerOptions {
  readonly port: number;
  readonly isReadOnly: boolean;
  readonly files: PageFiles;
  /** The folder's name. */
  readonly project: string;
  readonly run: RunForPage;
  readonly report: (entry: object) => void;
  readonly signal: AbortSignal;
  /** Called once the server accepts requests, with the link that lets one browser in. */
  readonly onListening: (started: { readonly url: string; readonly link: string }) => void;
}

const address = '127.0.0.1';

/** Serves the page to this machine until the signal aborts. */
export async function servePage(options: PageServerOptions): Promise<void> {
  const sessions = openPageSessions();
  const ended = new AbortController();
  const running = new Set<Promise<void>>();
  const server = createServer(serverLimits, (request, response) => {
    const answered = answer({ ...options, sessions, ended: ended.signal }, request, response);
    running.add(answered);
    void answered.finally(() => running.delete(answered));
  });
  server.maxConnections = 100;
  try {
    const { port } = await startListening(server, address, options.port);
    sessions.usePort(port);
    const url = `http://${address}:${port}/`;
    options.onListening({ url, link: `${url}#token=${sessions.newToken()}` });
    await aborted(options.signal);
    ended.abort();
  } finally {
    server.close();
    await Promise.allSettled(running);
    server.closeAllConnections();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface AnsweringServer extends PageServerOptions {
  readonly sessions: PageSessions;
  readonly ended: AbortSignal;
}

/** Never rejects: a failure is the answer, or the end of the connection. */
async function answer(
  server: AnsweringServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    setPageHeaders(response);
    await answerPath(server, request, response);
  } catch (error) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    server.report({ error: inspect(error) });
    const failed = { code: 'failed', message: '.ktx/logs/web.jsonl says why.' };
    // Such as a ktx.yaml that somebody is writing.
    const { code, message } = error instanceof UserError ? error : failed;
    sendFailure(response, 500, { code, message });
  }
}

async function answerPath(
  server: AnsweringServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { sessions, files } = server;
  const foreign = refuseForeign(request);
  if (foreign !== undefined) return refuse(server, response, foreign);
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/session') return letIn(sessions, request, response);
  if (!url.pathname.startsWith('/api/')) return sendPageFile(response, files, url.pathname);
  const stranger = refuseStranger(request, sessions);
  if (stranger !== undefined) return refuse(server, response, stranger);
  if (url.pathname === '/api/about') {
    const { project, isReadOnly } = server;
    const data = { project, read_only: isReadOnly, version: readVersion() };
    return sendJson(response, 200, { body: { ok: true, data } });
  }
  const route = Object.hasOwn(pageRoutes, url.pathname) ? pageRoutes[url.pathname] : undefined;
  if (route === undefined || route.method !== request.method)
    return sendFailure(response, 404, { code: 'route_unknown', message: 'There is no such data.' });
  return answerRoute(server, { route, request, query: url.searchParams }, response);
}

async function answerRoute(
  { run, isReadOnly, ended }: AnsweringServer,
  routed: RoutedRequest,
  response: ServerResponse,
): Promise<void> {
  const { route } = routed;
  if (route.writes === true && isReadOnly)
    return sendFailure(response, 403, {
      code: 'read_only',
      message: 'ktx web runs with --read-only.',
    });
  const asked = await readCommand(routed, response, ended);
  if (asked === undefined) return;
  const { command, signal } = asked;
  if (route.streams === true) return streamLines(response, { run, command, signal });
  const envelope = await run(command, { signal });
  sendEnvelope(response, route, envelope);
}

interface StreamedCommand {
  readonly run: RunForPage;
  readonly command: PageCommand;
  readonly signal: AbortSignal;
}

/** As server-sent events, the envelope last. */
async function streamLines(
  response: ServerResponse,
  { run, command, signal }: StreamedCommand,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  const send = (line: string): void => void response.write(`data: ${line}\n\n`);
  send(await run(command, { signal, onLine: send }));
  response.end();
}

/** Exchanges the token of the link for a cookie and the page's key. */
async function letIn(
  sessions: PageSessions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const input = request.method === 'POST' ? await readInput(request) : undefined;
  const link = input instanceof Object && 'link' in input ? input.link : undefined;
  const session = typeof link === 'string' ? sessions.redeem(link) : undefined;
  if (session === undefined)
    return sendFailure(response, 403, {
      code: 'link_used',
      message: 'The link was used before, or is of an earlier start. Start ktx web again.',
    });
  const headers = { 'set-cookie': session.cookie };
  return sendJson(response, 200, { body: { ok: true, data: { key: session.key } }, headers });
}

function refuse(
  { report }: AnsweringServer,
  response: ServerResponse,
  { status, code, message }: RequestRefusal,
): void {
  report({ refused: code, from: response.req.socket.remoteAddress });
  sendFailure(response, status, { code, message });
}
