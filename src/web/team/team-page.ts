import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { UserError } from '../../lib/error.ts';
import { readVersion } from '../../lib/version.ts';
import type { Identity } from '../../mcp/http/identity.ts';
import { sendJson } from '../../mcp/http/exchange.ts';
import type { GuardedPage, PageDoor } from '../../mcp/page/page-route.ts';
import { pageKeyHeader, refuseOtherSites, type RequestRefusal } from '../guard.ts';
import { sendEnvelope, sendFailure } from '../page-answer.ts';
import { type PageFiles, sendPageFile } from '../page-files.ts';
import { setPageHeaders } from '../page-headers.ts';
import { readCommand } from '../page-input.ts';
import { hashText } from '../secret.ts';
import { answerCaller, type RunForCaller, statusOf } from './answer-caller.ts';
import {
  answerSession,
  identityOf,
  isSessionPath,
  type LoginServer,
  sendLogin,
  type TeamRequest,
} from './team-login.ts';
import { teamRoutes } from './team-routes.ts';
import { isLoopbackName, openTeamSessions, type TeamSession } from './team-sessions.ts';

interface TeamPageOptions {
  readonly files: PageFiles;
  /** The folder's name. */
  readonly project: string;
  readonly run: RunForCaller;
}

interface TeamServer extends TeamPageOptions, LoginServer {}

/**
 * The page of `ktx web` for everybody with a token: each with their role, scopes and limits. A
 * token lets in here exactly as long as it does over MCP.
 */
export function openTeamPage(options: TeamPageOptions): GuardedPage {
  const sessions = openTeamSessions();
  const { files } = options;
  return {
    answers: (path) =>
      path === '/' || isSessionPath(path) || path.startsWith('/api/') || files.has(path),
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
  if (isSessionPath(url.pathname)) return answerSession(server, asked);
  if (!url.pathname.startsWith('/api/')) return sendPageFile(response, server.files, url.pathname);
  const session = server.sessions.find(request.headers.cookie, host);
  if (session === undefined) return sendLogin(server, asked);
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
