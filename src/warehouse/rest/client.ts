import { Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { UserError } from '../../lib/error.ts';
import { isLoopback } from '../../http/private-address.ts';
import { proxyRoute } from '../../http/proxy.ts';
import { askedPause, backOff, isPassing } from '../../http/retry-pause.ts';
import {
  AnswerTooLarge,
  type RawAnswer,
  sendOnce,
  type TlsSettings,
} from '../../http/send-once.ts';
import { maxResultSize } from '../result-size.ts';
import { translateError, warehouseError, type ErrorRules } from '../warehouse-error.ts';
import { readableText } from './readable-text.ts';

export interface RestRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base, without a slash at the start; or a whole URL of the same origin. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  readonly json?: unknown;
  /** Instead of `json`: the body as it is. */
  readonly text?: string;
  /**
   * True if the server does the same thing once, however often it is sent: then it is sent again
   * when its connection broke. A GET is.
   */
  readonly repeatable?: boolean;
  /** In place of the login of the connection. */
  readonly login?: Readonly<Record<string, string>> | undefined;
  /** Added to `query` whenever it is sent again. */
  readonly repeatQuery?: Readonly<Record<string, string>>;
}

export type RestAnswer = RawAnswer;

/** A warehouse behind an API of HTTP. Every call throws a UserError, or returns what was said. */
export interface RestClient {
  /**
   * Waits and asks again while the server is busy (429, 502, 503, 504; as long as `Retry-After`
   * says), and logs in again once for a 401. Returns the answer with any other status.
   */
  send(request: RestRequest, signal: AbortSignal): Promise<RestAnswer>;
  close(): void;
}

interface RestOptions {
  /** Name of the connection in `ktx.yaml`, for errors. */
  readonly connection: string;
  /** Everything that is asked lies below it. The login is sent to no other origin. */
  readonly baseUrl: string;
  /** The headers of the login; `fresh`: the server took those of the last time no longer. */
  readonly login: (
    fresh: boolean,
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: TlsSettings | undefined;
  /** True: without encryption to another machine too, because a person said so. */
  readonly allowPlain?: boolean;
}

const mostTries = 6;
/** In milliseconds. A server that wants a longer wait is not waited for. */
const longestWait = 30_000;
/** A page may be as large as a result, and its JSON twice that. */
const largestAnswer = 2 * maxResultSize;

/** Opens the way to a server. Sends nothing yet. */
export function openRest(options: RestOptions): RestClient {
  const base = new URL(options.baseUrl.replace(/\/*$/, '/'));
  requireEncryption(base, options);
  const settings = { keepAlive: true, maxSockets: 10 };
  const agent = base.protocol === 'https:' ? new TlsAgent(settings) : new PlainAgent(settings);
  const site: RestSite = { ...options, base, agent };
  return {
    send: async (request, signal) => {
      const url = urlOf(request, site);
      return sendUntilAnswered({ ...request, url }, site, signal).catch(
        translateError(networkErrors(base.host)),
      );
    },
    close: () => agent.destroy(),
  };
}

interface RestSite extends RestOptions {
  readonly base: URL;
  readonly agent: PlainAgent;
}

interface PlacedRequest extends RestRequest {
  readonly url: URL;
}

function requireEncryption({ protocol, hostname }: URL, options: RestOptions): void {
  if (protocol === 'https:' || isLoopback(hostname) || options.allowPlain === true) return;
  throw warehouseError(
    'warehouse_insecure',
    `The address of connection "${options.connection}" is not encrypted: ${hostname} would get its login as plain text.`,
    { hint: 'Write an address that begins with https.' },
  );
}

function urlOf({ path, query = {} }: RestRequest, { base }: RestSite): URL {
  const url = URL.canParse(path) ? new URL(path) : new URL(`${base.href}${path}`);
  if (url.origin !== base.origin)
    throw warehouseError(
      'warehouse_unreachable',
      `${base.host} sends to another server (${url.host}), which ktx does not follow.`,
      { retryable: false },
    );
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

async function sendUntilAnswered(
  request: PlacedRequest,
  site: RestSite,
  signal: AbortSignal,
): Promise<RestAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await tryLoggedIn(request, { site, signal });
    const wait = tries < mostTries ? waitAfter(answer, request, tries) : undefined;
    markAsRepeated(request);
    if (wait !== undefined) await pause(wait, undefined, { signal });
    else if (answer instanceof Error) throw answer;
    else return answer;
  }
}

function markAsRepeated({ url, repeatQuery = {} }: PlacedRequest): void {
  for (const [name, value] of Object.entries(repeatQuery)) url.searchParams.set(name, value);
}

/** In milliseconds, before the next try; undefined if another try is of no use, or not harmless. */
function waitAfter(
  answer: RestAnswer | Error,
  { method, repeatable: isRepeatable = method === 'GET' }: PlacedRequest,
  tries: number,
): number | undefined {
  if (answer instanceof Error)
    return isRepeatable && isBrokenConnection(answer) ? backOff(tries) : undefined;
  // A gateway may have handed the statement on before it gave up.
  const mayHaveRun = answer.status === 502 || answer.status === 504;
  if (!isPassing(answer.status) || (mayHaveRun && !isRepeatable)) return undefined;
  const wait = askedPause(answer.headers['retry-after']) ?? backOff(tries);
  return wait > longestWait ? undefined : wait;
}

/** One try; another one after a new login, if the server takes the old one no longer. */
async function tryLoggedIn(request: PlacedRequest, call: RestCall): Promise<RestAnswer | Error> {
  const { site, signal } = call;
  if (request.login !== undefined) return tryOnce(request, request.login, call);
  const answer = await tryOnce(request, await site.login(false, signal), call);
  const isRefused = !(answer instanceof Error) && answer.status === 401;
  return isRefused ? tryOnce(request, await site.login(true, signal), call) : answer;
}

interface RestCall {
  readonly site: RestSite;
  readonly signal: AbortSignal;
}

/** The answer, or the error of a connection that broke or never came about. */
async function tryOnce(
  { url, method, headers, json, text }: PlacedRequest,
  login: Readonly<Record<string, string>>,
  { site, signal }: RestCall,
): Promise<RestAnswer | Error> {
  const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
  try {
    const answer = await sendOnce({
      method,
      url,
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        ...(body === undefined ? {} : { 'content-type': bodyType(text) }),
        ...site.headers,
        ...headers,
        ...login,
      },
      body,
      agent: proxyRoute(url)?.agent ?? site.agent,
      tls: site.tls,
      maxBytes: largestAnswer,
      signal,
    });
    return { ...answer, text: readableText(answer.text, login) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AnswerTooLarge)
      throw warehouseError(
        'query_failed',
        `An answer of ${url.host} is too large (${error.message}): ask for fewer rows or columns.`,
      );
    if (error instanceof UserError || !(error instanceof Error)) throw error;
    return error;
  }
}

function bodyType(text: string | undefined): string {
  return text === undefined ? 'application/json' : 'text/plain; charset=utf-8';
}

/** True for a connection that broke; not for a host that does not exist or refuses it. */
function isBrokenConnection(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED'].includes(code);
}

function networkErrors(server: string): ErrorRules {
  return [
    [
      /^(?:ERR_TLS|.*CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_VERIFY|ERR_SSL|EPROTO)|self.signed|certificate/i,
      'warehouse_insecure',
      `The certificate of ${server} cannot be verified`,
    ],
    [
      /^Z_|: unexpected end of file|incorrect header/,
      'query_failed',
      `${server} sent a broken answer`,
    ],
    [/^/, 'warehouse_unreachable', `${server} cannot be reached`],
  ];
}

/** For an answer that no rule of the engine explains: the status and the first words of it. */
export function unexpectedAnswer(server: string, { status, text }: RestAnswer): UserError {
  const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  const isBusy = isPassing(status);
  return warehouseError(
    isBusy || status >= 500 ? 'warehouse_unreachable' : 'query_failed',
    `${server} answers ${status}${words === '' ? '' : `: ${words}`}`,
    { retryable: isBusy },
  );
}
