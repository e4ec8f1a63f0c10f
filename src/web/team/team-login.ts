import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from '../../mcp/http/exchange.ts';
import type { Identity } from '../../mcp/http/identity.ts';
import type { PageDoor } from '../../mcp/page/page-route.ts';
import { sendFailure } from '../page-answer.ts';
import { readInput } from '../page-input.ts';
import type { TeamSessions } from './team-sessions.ts';

/** What answers a login needs of the server. */
export interface LoginServer {
  readonly sessions: TeamSessions;
  readonly door: PageDoor;
}

/** One request, with what has been read of it. */
export interface TeamRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly host: string;
}

const sessionPath = '/session';
/** Where the browser is sent to log in at the company. */
const companyPath = '/session/company';

export function isSessionPath(path: string): boolean {
  return path === sessionPath || path === companyPath;
}

/** The page asks who it is before anybody logs in; for a browser a 401 would be a defect. */
export function sendLogin({ door }: LoginServer, { url, response, host }: TeamRequest): void {
  const status = url.pathname === '/api/about' ? 200 : 401;
  const message = companyOf(door, host) === undefined ? 'Log in with your token.' : 'Log in first.';
  const error = { code: 'login', message, company: companyOf(door, host)?.provider };
  sendJson(response, status, { body: { ok: false, error } });
}

/** Undefined if the request was answered: the token does not let in, or not any more. */
export async function identityOf(
  { sessions, door }: LoginServer,
  { request, response, host }: TeamRequest,
  token: string,
): Promise<Identity | undefined> {
  const login = await door.whoHas(token);
  if (login.kind === 'in') return login.identity;
  door.report({ refused: login.code, from: request.socket.remoteAddress });
  const code = login.status === 503 ? login.code : 'login';
  // What cannot be checked now may still hold.
  const cookie = login.status === 503 ? undefined : sessions.end(request.headers.cookie, host);
  if (cookie !== undefined) response.appendHeader('set-cookie', cookie);
  sendJson(response, login.status, { body: { ok: false, error: { code, message: login.error } } });
  return undefined;
}

/** Logs in, or out. */
export async function answerSession(server: LoginServer, asked: TeamRequest): Promise<void> {
  const { request, response, url } = asked;
  const isCompany = url.pathname === companyPath;
  const isLogin = request.method === 'POST';
  if (!isLogin && (isCompany || request.method !== 'DELETE'))
    return sendFailure(response, 404, { code: 'route_unknown', message: 'There is no such data.' });
  if (request.headers.origin === undefined)
    return sendFailure(response, 403, { code: 'origin', message: 'Only the page logs in.' });
  if (isCompany) return beginAtCompany(server, asked);
  return isLogin ? logIn(server, asked) : logOut(server, asked);
}

/** The login at the company, under the one name of the page to which that leads back. */
function companyOf({ company }: PageDoor, host: string): PageDoor['company'] {
  return company?.host === host.toLowerCase() ? company : undefined;
}

/** Says where the browser goes, and binds what comes back to it. */
async function beginAtCompany({ door }: LoginServer, asked: TeamRequest): Promise<void> {
  const { response, host } = asked;
  const company = companyOf(door, host);
  if (company === undefined)
    return sendFailure(response, 404, {
      code: 'route_unknown',
      message: 'There is no such login.',
    });
  const { url, cookies } = await company.begin();
  response.setHeader('set-cookie', [...cookies]);
  sendJson(response, 200, { body: { ok: true, data: { url } } });
}

/** With a token that a person has given, or with the login at the company that just ended. */
async function logIn(server: LoginServer, asked: TeamRequest): Promise<void> {
  const { request, response, host } = asked;
  const input = await readInput(request);
  const isCompany = input instanceof Object && 'company' in input;
  const given = input instanceof Object && 'token' in input ? input.token : undefined;
  const token = isCompany ? await redeem(server, asked) : typeof given === 'string' ? given : '';
  if (token === undefined) return;
  const identity = await identityOf(server, asked, token);
  if (identity === undefined) return;
  const { cookie, key } = server.sessions.begin({ token, who: identity.id }, host);
  response.appendHeader('set-cookie', cookie);
  sendJson(response, 200, { body: { ok: true, data: { key } } });
}

/** Undefined if the request was answered: nobody logged in at the company in this browser. */
async function redeem({ door }: LoginServer, asked: TeamRequest): Promise<string | undefined> {
  const { request, response, host } = asked;
  const company = companyOf(door, host);
  const token = await company?.redeem(request.headers.cookie);
  if (company !== undefined) response.appendHeader('set-cookie', company.forget);
  if (token !== undefined) return token;
  door.report({ refused: 'login_expired', from: request.socket.remoteAddress });
  const message = 'This login has expired, or began in another browser.';
  sendFailure(response, 403, { code: 'login', message });
  return undefined;
}

/** Also what the company let in ends, on every server. */
async function logOut({ sessions, door }: LoginServer, asked: TeamRequest): Promise<void> {
  const { request, response, host } = asked;
  const { cookie } = request.headers;
  const session = sessions.find(cookie, host);
  response.appendHeader('set-cookie', sessions.end(cookie, host));
  if (session !== undefined) await door.company?.end(session.token);
  sendJson(response, 200, { body: { ok: true } });
}
