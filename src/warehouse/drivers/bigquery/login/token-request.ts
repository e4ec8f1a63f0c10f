import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isLoopback } from '../../../../http/private-address.ts';
import { proxyRoute } from '../../../../http/proxy.ts';
import { backOff, isPassing } from '../../../../http/retry-pause.ts';
import { type RawAnswer, sendOnce } from '../../../../http/send-once.ts';
import { errorMessage } from '../../../../lib/error.ts';
import { parseJson } from '../../../../lib/json.ts';
import { warehouseError } from '../../../warehouse-error.ts';
import { credentialsError } from './credentials.ts';

export interface GoogleToken {
  readonly token: string;
  /** In milliseconds since 1970. */
  readonly endsAt: number;
}

export interface TokenRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** What the server could repeat in an error, and no error may show. */
  readonly secrets: readonly string[];
  /** True for the metadata server, which speaks plain HTTP inside of a machine. */
  readonly allowPlain?: boolean;
}

const largestAnswer = 1_000_000;
const mostTries = 3;

const tokenSchema = z.looseObject({
  access_token: z.string().min(1),
  expires_in: z.number().optional(),
});
/** As the service that impersonates answers. */
const namedTokenSchema = z.looseObject({ accessToken: z.string().min(1), expireTime: z.string() });
const refusalSchema = z.looseObject({
  error: z.union([z.string(), z.looseObject({ message: z.string().optional() })]).optional(),
  error_description: z.string().optional(),
});

/** Asks for a token, again if the server is busy. Throws `warehouse_auth` if it refuses. */
export async function requestToken(
  request: TokenRequest,
  signal: AbortSignal,
): Promise<GoogleToken> {
  const url = requireSafeUrl(request);
  const answer = await sendUntilAnswered(url, request, signal);
  const json = parseJson(answer.text);
  if (answer.status !== 200) throw refusal(url, { answer, request });
  const token = tokenSchema.safeParse(json).data;
  if (token !== undefined)
    return {
      token: token.access_token,
      endsAt: Date.now() + (token.expires_in ?? 3600) * 1000,
    };
  const named = namedTokenSchema.safeParse(json).data;
  const endsAt = Date.parse(named?.expireTime ?? '');
  if (named !== undefined && !Number.isNaN(endsAt)) return { token: named.accessToken, endsAt };
  throw credentialsError(
    `${url.host} sent no token.`,
    'Check token_uri of the credentials of the connection.',
  );
}

function requireSafeUrl({ url: text, allowPlain: isPlainAllowed = false }: TokenRequest): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url !== undefined && isLoopback(url.hostname));
  if (url !== undefined && (isSafe || isPlainAllowed)) return url;
  throw credentialsError(
    'The credentials name an address for tokens that does not begin with https.',
    'Use the key file as Google wrote it.',
  );
}

async function sendUntilAnswered(
  url: URL,
  { method, headers, form, json }: TokenRequest,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const body = form === undefined ? json && JSON.stringify(json) : formText(form);
  const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded';
  for (let tries = 1; ; tries += 1) {
    const answer = await sendOnce({
      method,
      url,
      headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      body: typeof body === 'string' ? body : undefined,
      agent: proxyRoute(url)?.agent,
      maxBytes: largestAnswer,
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw warehouseError(
        'warehouse_unreachable',
        `${url.host}, which gives the token for BigQuery, cannot be reached: ${errorMessage(error)}`,
      );
    });
    if (!isPassing(answer.status) || tries >= mostTries) return answer;
    await pause(backOff(tries), undefined, { signal });
  }
}

function formText(form: Readonly<Record<string, string>>): string {
  return new URLSearchParams(form).toString();
}

interface Refusal {
  readonly answer: RawAnswer;
  readonly request: TokenRequest;
}

function refusal(url: URL, { answer: { status, text }, request: { secrets } }: Refusal) {
  const { error, error_description: description } =
    refusalSchema.safeParse(parseJson(text)).data ?? {};
  const reason = typeof error === 'string' ? error : error?.message;
  const parts = [reason, description].filter((part) => part !== undefined);
  const said = withoutSecrets(parts.join(': ') || `it answers ${status}`, secrets);
  if (isPassing(status) || status >= 500)
    return warehouseError('warehouse_unreachable', `${url.host} gives no token: ${said}`);
  return credentialsError(
    `Google refused the login (${url.host}): ${said}`,
    'Check credentials of the connection: a key may be deleted, a login by gcloud may have ended (gcloud auth application-default login).',
  );
}

/** A text of a server with what is secret taken out, and no longer than a line. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const hidden = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
  return hidden.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
}
