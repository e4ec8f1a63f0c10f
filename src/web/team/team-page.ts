import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { Identity } from '../../mcp/http/identity.ts';
import { sendJson } from '../../mcp/http/exchange.ts';
import type { PageDoor, GuardedPage } from '../../mcp/page/page-route.ts';
import { pageKeyHeader, refuseOtherSites, type RequestRefusal } from '../guard.ts';
import { sendEnvelope, sendFailure } from '../page-answer.ts';
import { type PageFiles, sendPageFile } from '../page-files.ts';
import { setPageHeaders } from '../page-headers.ts';
import { readCommand, readInput } from '../page-input.ts';
import { hashText } from '../secret.ts';
import { answerCaller, type RunForCaller, statusOf } from './answer-caller.ts';
import { teamRoutes } from './team-routes.ts';
import {
  isLoopbackName,
  openTeamSessions,
  type TeamSession,
  type TeamSessions,
} from './team-sessions.ts';

interface TeamPageOptions {
  readonly files: PageFiles;
  /** The folder's name. */
  readonly project: string;
  readonly run: RunForCaller;
}

interface TeamServer extends TeamPageOptions {
  readonly sessions: TeamSessions;
  readonly door: PageDoor;
}

/** One request, with what has been read of it. */
interface TeamRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly host: string;
}

/**
 * The page of `ktx web` for everybody with a token: each with their role, scopes and limits. It has
 * no login of its own: a token lets in here exactly as long as it does over MCP.
 */
export function openTeamPage(options: TeamPageOptions): GuardedPage {
  const sessions = openTeamSessions();
  const { files } = options;
  return {
    answers: (path) =>
      path === '/' || path === '/session' || path.startsWith('/api/') || files.has(path),
    async answer(request, response, door) {
      const server = { ...options, sessions, door };
      try {
        setPageHeaders(response);
        await answerPath(server, request, response);
      } catch (error) {
        fail(response, error, door);
      }
    },
  };
}

function fail(response: ServerResponse, error: unknown, door: PageDoor): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  if (error instanceof UserError) {
    const { code, message } = error;
    return sendFailure(response, statusOf(error), { code, message });
  }
  door.report({ error: inspect(error) });
  const message = 'The server failed. .ktx/logs/http.jsonl says why.';
  sendFailure(response, 500, { code: 'failed', message });
}

async function answerPath(
  server: TeamServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const foreign = refuseOtherSites(request, isOwnOrigin);
  if (foreign !== undefined) return refuse(server, response, foreign);
  const { host = '' } = request.headers;
  const url = new URL(request.url ?? '/', 'http://localhost');
  const asked = { request, response, url, host };
  if (url.pathname === '/session') return answerSession(server, asked);
  if (!url.pathname.startsWith('/api/')) return sendPageFile(response, server.files, url.pathname);
  const session = server.sessions.find(request.headers.cookie, host);
  if (session === undefined) return sendLogin(asked);
  const stranger = refuseStranger(request, session);
  if (stranger !== undefined) return refuse(server, response, stranger);
  const identity = await identityOf(server, asked, session.token);
  if (identity !== undefined) return answerData(server, asked, identity);
}

/** Only under https, except on this machine: another machine could stand in between. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const url = URL.parse(origin);
  if (url === null || url.host !== host?.toLowerCase()) return false;
  return url.protocol === 'https:' || isLoopbackName(url.hostname);
}

/** The page asks who it is before anybody logs in; for a browser a 401 would be a defect. */
function sendLogin({ url, response }: TeamRequest): void {
  const status = url.pathname === '/api/about' ? 200 : 401;
  sendFailure(response, status, { code: 'login', message: 'Log in with your token.' });
}

/** The cookie alone is not enough: the page also has a key, which no other page can read. */
function refuseStranger(
  { headers, method }: IncomingMessage,
  session: TeamSession,
): RequestRefusal | undefined {
  const key = headers[pageKeyHeader];
  if (typeof key !== 'string' || !timingSafeEqual(hashText(key), session.keyHash))
    return { status: 403, code: 'page', message: 'Only the page of ktx may ask for data.' };
  if (method !== 'GET' && headers.origin === undefined)
    return { status: 403, code: 'origin', message: 'A change has to say which page it is from.' };
  return undefined;
}

/** Undefined if the request was answered: the token does not let in, or not any more. */
async function identityOf(
  { sessions, door }: TeamServer,
  { request, response, host }: TeamRequest,
  token: string,
): Promise<Identity | undefined> {
  const login = await door.whoHas(token);
  if (login.kind === 'in') return login.identity;
  door.report({ refused: login.code, from: request.socket.remoteAddress });
  const code = login.status === 503 ? login.code : 'login';
  // What cannot be checked now may still hold.
  const cookie = login.status === 503 ? undefined : sessions.end(request.headers.cookie, host);
  const headers: Record<string, string> = cookie === undefined ? {} : { 'set-cookie': cookie };
  const body = { ok: false, error: { code, message: login.error } };
  sendJson(response, login.status, { body, headers });
  return undefined;
}

/** Logs in with a token, or out. */
async function answerSession(server: TeamServer, asked: TeamRequest): Promise<void> {
  const { request, response, host } = asked;
  const { method, headers } = request;
  const isLogin = method === 'POST';
  if (!isLogin && method !== 'DELETE')
    return sendFailure(response, 404, { code: 'route_unknown', message: 'There is no such data.' });
  if (headers.origin === undefined)
    return sendFailure(response, 403, { code: 'origin', message: 'Only the page logs in.' });
  if (!isLogin) {
    const cookie = server.sessions.end(headers.cookie, host);
    return sendJson(response, 200, { body: { ok: true }, headers: { 'set-cookie': cookie } });
  }
  const input = await readInput(request);
  const token = input instanceof Object && 'token' in input ? input.token : undefined;
  const identity = await identityOf(server, asked, typeof token === 'string' ? token : '');
  if (identity === undefined || typeof token !== 'string') return;
  const { cookie, key } = server.sessions.begin({ token, who: identity.id }, host);
  const body = { ok: true, data: { key } };
  sendJson(response, 200, { body, headers: { 'set-cookie': cookie } });
}

async function answerData(
  server: TeamServer,
  { request, response, url }: TeamRequest,
  identity: Identity,
): Promise<void> {
  const { pathname } = url;
  if (pathname === '/api/about') {
    const { name, role, scopes } = identity;
    const read_only = !scopes.includes('write');
    const login = { name, role, scopes };
    const data = { project: server.project, read_only, version: readVersion(), login };
    return sendJson(response, 200, { body: { ok: true, data } });
  }
  const route = Object.hasOwn(teamRoutes, pathname) ? teamRoutes[pathname] : undefined;
  if (route === undefined || route.method !== request.method)
    return sendFailure(response, 404, { code: 'route_unknown', message: 'There is no such data.' });
  using taken = server.door.take(identity);
  const { caller, limits } = taken.caller;
  const wait = await limits.takeRequest();
  if (wait > 0) {
    const message = `Too many requests. Send the next one in ${wait} s.`;
    return sendFailure(response, 429, { code: 'rate_limited', message });
  }
  const asked = { route, request, query: url.searchParams };
  const routed = await readCommand(asked, response, server.door.end);
  if (routed === undefined) return;
  const name = pathname.slice('/api/'.length);
  const call = { ...routed, name, effect: route.effect, run: server.run };
  sendEnvelope(response, route, await answerCaller(caller, call));
}

function refuse(
  { door }: TeamServer,
  response: ServerResponse,
  { status, code, message }: RequestRefusal,
): void {
  door.report({ refused: code, from: response.req.socket.remoteAddress });
  sendFailure(response, status, { code, message });
}
