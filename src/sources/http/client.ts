import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { errorMessage, UserError } from '../../lib/error.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import {
  isLoopback,
  lookupPublic,
  PrivateAddress,
  refusePrivateHost,
  refusePrivateName,
} from '../../http/private-address.ts';
import { type ProxyRoute, proxyRoute } from '../../http/proxy.ts';
import { openRequestGate, type RequestGate } from './request-gate.ts';
import type { ServerWait } from '../source.ts';
import { isPassing, askedPause, backOff, longestPause } from '../../http/retry-pause.ts';
import { AnswerTooLarge, type RawAnswer, sendOnce } from '../../http/send-once.ts';

interface HttpOptions {
  /** The name of the connection, for errors. */
  readonly connection: string;
  /** Everything that is asked lies below it. */
  readonly baseUrl: string;
  /** The headers of the login. They are sent to no other origin. */
  readonly headers: Readonly<Record<string, string>>;
  /** Logs in again after a refused request, once for the same login; returns the new headers. */
  readonly renewLogin?: () => Promise<Readonly<Record<string, string>>>;
  /** False: a host with an address of a private network is refused. */
  readonly allowPrivate: boolean;
  /** How many requests are under way at most. */
  readonly concurrency?: number;
  /** How long the server may ask to wait, in milliseconds; a longer wait is an error. */
  readonly longestWait?: number;
  /** Hears of waits that a person would notice. */
  readonly onWait?: (wait: ServerWait) => void;
  readonly signal: AbortSignal;
}

interface HttpRequest {
  /** Below the base, without a slash at the start: `api/card/7`. */
  readonly path: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  /** With a body, the request is a POST that only reads, like a search. */
  readonly json?: unknown;
  /** Instead of `json`: the fields of a form, as a login takes them. */
  readonly form?: Readonly<Record<string, string>>;
  /** For a request that writes. Default: POST with a body, else GET. */
  readonly method?: 'PUT' | 'PATCH';
}

export interface HttpClient {
  /**
   * The answer to a request, checked by the schema. Throws a UserError. `itemFailure` tells whether
   * it is about this one object only.
   */
  read<T>(request: HttpRequest, schema: z.ZodType<T>): Promise<T>;
  /**
   * The answer, whatever its status. Like what is read, it is sent again while the server is busy
   * or the connection breaks: for what may be asked twice.
   */
  ask(request: HttpRequest): Promise<RawAnswer>;
}

const mostTries = 6;
/** In milliseconds, for one try. */
const longestTry = 60_000;
const largestAnswer = 32_000_000;
/** In milliseconds. A shorter wait is not worth a word. */
const noticedWait = 5000;

/** Opens the way to a server. Sends nothing yet; throws if ktx must not ask this address. */
export function openHttp(options: HttpOptions): HttpClient {
  const base = new URL(options.baseUrl.replace(/\/*$/, '/'));
  requireSafeBase(base, options);
  const gate = openRequestGate(options.concurrency ?? 4, options.signal);
  const login: HttpLogin = { headers: options.headers, renewal: undefined };
  const site: HttpSite = { ...options, base, gate, login };
  const urlOf = (request: HttpRequest): URL => {
    const url = new URL(`${base.href}${request.path}`);
    if (!url.href.startsWith(base.href))
      throw badAnswer(url, 'would come from another address', site);
    for (const [name, value] of request.query ?? []) url.searchParams.append(name, value);
    return url;
  };
  return {
    ask: (request) => sendUntilAnswered(urlOf(request), request, site),
    read: async (request, schema) => {
      const url = urlOf(request);
      const answer = requireSuccess(url, await sendUntilAnswered(url, request, site), site);
      const parsed = schema.safeParse(parseJson(answer.text));
      if (parsed.success) return parsed.data;
      const [issue] = parsed.error.issues;
      const what = `${issue?.path.join('.') || 'the answer'}: ${issue?.message ?? ''}`;
      throw badAnswer(url, `is not what ktx expects (${what})`, site);
    },
  };
}

/** Why an object could not be read, if the error says nothing about the others. */
export function itemFailure(error: unknown): string | undefined {
  const isAboutItem = error instanceof UserError && itemCodes.has(error.code);
  return isAboutItem ? error.message : undefined;
}

/** The status with which a server refused a request; undefined for any other error. */
export function refusedStatus(error: unknown): number | undefined {
  if (!(error instanceof UserError) || !isRecord(error.details)) return undefined;
  const { status } = error.details;
  return typeof status === 'number' ? status : undefined;
}

const itemCodes = new Set(['bad_answer', 'request_refused']);

interface HttpSite extends HttpOptions {
  readonly base: URL;
  readonly gate: RequestGate;
  readonly login: HttpLogin;
}

/** The headers that requests have now. */
interface HttpLogin {
  headers: Readonly<Record<string, string>>;
  /** Shared by the requests that were refused together. */
  renewal: Promise<void> | undefined;
}

/** True if there is a new login since the request was sent; a refused new login is an error. */
async function renewLogin(
  sent: HttpLogin['headers'],
  { login, renewLogin: renew }: HttpSite,
): Promise<boolean> {
  if (renew === undefined) return false;
  if (login.headers !== sent) return true;
  login.renewal ??= renew()
    .then((headers) => void (login.headers = headers))
    .finally(() => (login.renewal = undefined));
  await login.renewal;
  return true;
}

function requireSafeBase({ protocol, hostname }: URL, { connection, allowPrivate }: HttpOptions) {
  const isLocal = isLoopback(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && (isLocal || allowPrivate)))
    throw new UserError(
      'insecure_address',
      `${connection}: the address of ${hostname} does not begin with https.`,
      {
        hint: 'Write an https address. In your own network, set `allow_private: true`.',
        exitCode: 2,
      },
    );
  if (!allowPrivate && !isLocal) {
    try {
      refusePrivateHost(hostname);
    } catch (error) {
      throw privateError(error, connection);
    }
  }
}

function privateError(error: unknown, connection: string): UserError {
  return new UserError('private_address', `${connection}: ${errorMessage(error)}.`, {
    hint: 'If it is a server of your own network, set `allow_private: true`.',
    exitCode: 2,
  });
}

async function sendUntilAnswered(
  url: URL,
  request: HttpRequest,
  site: HttpSite,
): Promise<RawAnswer> {
  for (let tries = 1; ; tries += 1) {
    const { longestWait = longestPause, onWait, base, gate, signal } = site;
    const { answer, asked } = await gate.pass(() => tryAndHold(url, request, site));
    const isUnanswered = answer instanceof Error;
    const isFinal = isUnanswered && !isPassingError(answer);
    if (!isUnanswered && !isPassing(answer.status)) return answer;
    const wait = asked ?? backOff(tries);
    const isTooLong = wait > longestWait;
    if (isFinal || tries >= mostTries || isTooLong) {
      const said = isUnanswered ? errorMessage(answer) : `it answers ${answer.status}`;
      throw unreachable({ said, tries, wait: isTooLong ? wait : undefined }, site);
    }
    if (wait >= noticedWait) onWait?.({ host: base.host, until: new Date(Date.now() + wait) });
    if (asked === undefined) await pause(wait, undefined, { signal });
  }
}

/** One try, and the pause that the server asks for, in milliseconds, before the next request. */
async function tryAndHold(url: URL, request: HttpRequest, site: HttpSite) {
  const answer = await tryLoggedIn(url, request, site);
  const isWait = !(answer instanceof Error) && isPassing(answer.status);
  const asked = isWait ? askedPause(answer.headers['retry-after']) : undefined;
  if (asked !== undefined && asked <= (site.longestWait ?? longestPause)) site.gate.hold(asked);
  return { answer, asked };
}

/** One try; another one after a new login, if the server takes the old one no longer. */
async function tryLoggedIn(url: URL, request: HttpRequest, site: HttpSite) {
  const sent = site.login.headers;
  const answer = await tryOnce(url, request, site);
  const isRefused = !(answer instanceof Error) && answer.status === 401;
  return isRefused && (await renewLogin(sent, site)) ? tryOnce(url, request, site) : answer;
}

class SlowAnswer extends Error {}

/** True for a connection that broke; not for a host that does not exist or refuses it. */
function isPassingError(error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  return error instanceof SlowAnswer || ['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].includes(String(code));
}

/** One try; the error of a connection that broke or never came about. */
async function tryOnce(url: URL, request: HttpRequest, site: HttpSite): Promise<RawAnswer | Error> {
  const limit = limitTry(site.signal);
  const proxy = proxyRoute(url);
  try {
    const { signal } = limit;
    const answer = await sendLoggedIn(url, request, { ...site, signal, proxy });
    if (proxy !== undefined && answer.status === 407) throw proxyRefused(proxy, 407, site);
    return answer;
  } catch (error) {
    site.signal.throwIfAborted();
    if (error instanceof AnswerTooLarge) throw badAnswer(url, `has ${error.message}`, site);
    if (error instanceof PrivateAddress) throw privateError(error, site.connection);
    if (limit.signal.aborted) return slowAnswer();
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    return proxy === undefined ? error : proxyFailure(error, proxy, site);
  } finally {
    limit.end();
  }
}

/**
 * Ends one try with the run, or after its longest time. A timeout signal would do the same, and
 * would hold the request with its answer until that time has passed.
 */
function limitTry(run: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const limit = new AbortController();
  const stop = () => limit.abort(run.reason);
  if (run.aborted) stop();
  run.addEventListener('abort', stop);
  const timer = setTimeout(() => limit.abort(slowAnswer()), longestTry);
  const end = () => {
    clearTimeout(timer);
    run.removeEventListener('abort', stop);
  };
  return { signal: limit.signal, end };
}

function slowAnswer(): SlowAnswer {
  return new SlowAnswer(`no answer within ${longestTry / 1000} seconds`);
}

async function sendLoggedIn(
  url: URL,
  request: HttpRequest,
  { login, allowPrivate, proxy, signal }: HttpSite & { readonly proxy: ProxyRoute | undefined },
): Promise<RawAnswer> {
  const body = requestBody(request);
  const isFree = allowPrivate || isLoopback(url.hostname);
  if (proxy !== undefined && !isFree) await refusePrivateName(url.hostname, signal);
  return sendOnce({
    method: request.method ?? (body === undefined ? 'GET' : 'POST'),
    url,
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': body.type }),
      ...login.headers,
    },
    body: body?.text,
    // Through a proxy, the only name to look up is its own.
    lookup: isFree || proxy !== undefined ? undefined : lookupPublic,
    agent: proxy?.agent,
    maxBytes: largestAnswer,
    signal,
  });
}

/** The error of a connection to a proxy, or through it, with its name. Throws if it refused. */
function proxyFailure(error: Error, proxy: ProxyRoute, site: HttpSite): Error {
  const refused = tunnelStatus(error);
  if (refused !== undefined) throw proxyRefused(proxy, refused, site);
  const told = new Error(`the proxy ${proxy.host}: ${error.message}`, { cause: error });
  return Object.assign(told, 'code' in error ? { code: error.code } : {});
}

/** With which status a proxy refused to connect; undefined if it tried, and for other errors. */
function tunnelStatus(error: unknown): number | undefined {
  if (!isRecord(error) || error['code'] !== 'ERR_PROXY_TUNNEL') return undefined;
  const status = Number(error['statusCode']);
  return status >= 400 && status < 500 ? status : undefined;
}

function proxyRefused({ host }: ProxyRoute, status: number, { connection, base }: HttpSite) {
  const isLogin = status === 407;
  const why = isLogin ? 'wants a login' : `does not connect to ${base.host}`;
  return new UserError('proxy_refused', `${connection}: the proxy ${host} ${why} (${status}).`, {
    hint: isLogin
      ? 'Write the login of the proxy into HTTPS_PROXY (http://user:password@host:port) or HTTP_PROXY.'
      : `Ask who runs the proxy to let ${base.host} through, or name it in NO_PROXY.`,
    exitCode: isLogin ? 4 : 2,
  });
}

function requestBody({ json, form }: HttpRequest) {
  if (form !== undefined)
    return {
      type: 'application/x-www-form-urlencoded',
      text: new URLSearchParams(form).toString(),
    };
  return json === undefined ? undefined : { type: 'application/json', text: JSON.stringify(json) };
}

function requireSuccess(url: URL, answer: RawAnswer, site: HttpSite): RawAnswer {
  const { status } = answer;
  const { connection } = site;
  if (status >= 200 && status < 300) return answer;
  if (status === 401)
    throw new UserError('login_refused', `${connection}: the server refused the login (401).`, {
      hint: `Renew the secret that the connection names, then: ktx connection test ${connection}`,
      exitCode: 4,
    });
  if (status >= 300 && status < 400)
    throw new UserError(
      'redirected',
      `${connection}: ${url.pathname} redirects to another address (${status}).`,
      {
        hint: 'ktx does not follow redirects, because it would send the login there. Set `base_url` to the final address.',
        exitCode: 2,
      },
    );
  const code = 'request_refused';
  throw new UserError(code, `${connection}: ${url.pathname} was answered with ${status}.`, {
    hint: 'Check whether the login may read this object.',
    details: { status },
  });
}

function badAnswer(url: URL, what: string, { connection }: HttpSite): UserError {
  return new UserError('bad_answer', `${connection}: the answer to ${url.pathname} ${what}.`, {
    hint: 'Check whether `base_url` is the address of the server itself.',
  });
}

interface Unanswered {
  readonly said: string;
  readonly tries: number;
  /** In milliseconds, if the server asks for a longer wait than it may. */
  readonly wait: number | undefined;
}

function unreachable({ said, tries, wait }: Unanswered, { connection, base }: HttpSite): UserError {
  const until = wait === undefined ? '' : ` and asks to wait ${Math.ceil(wait / 1000)} seconds`;
  const message = `${connection}: ${base.host} cannot be read: ${said}${until} (try ${tries}).`;
  return new UserError('source_unreachable', message, {
    hint: `Try again later: ktx connection test ${connection}. Nothing has changed.`,
    retryable: true,
  });
}
