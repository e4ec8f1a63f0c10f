import * as sdk from 'ai';
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { errorMessage, UserError } from '../../lib/error.ts';
import { kindOfStatus, LlmError, type LlmErrorKind } from '../port/error.ts';
import { refusedLimit, type Headers } from './limits.ts';

/** What a provider said of a failure; only these decide its kind, never its text. */
interface Facts {
  readonly message: string;
  readonly status?: number | undefined;
  /** `error.code`, `error.type`, the exception's name: what the provider calls it. */
  readonly names: readonly unknown[];
  readonly headers?: Headers | undefined;
  readonly requestBytes?: number;
}

/** Names that say more than the status that they come with. */
const preciseNames: ReadonlyMap<unknown, LlmErrorKind> = new Map([
  ['UnrecognizedClientException', 'auth'],
  ['InvalidSignatureException', 'auth'],
  ['ExpiredTokenException', 'auth'],
  ['insufficient_quota', 'billing'],
  ['billing_error', 'billing'],
  ['model_not_found', 'model_unavailable'],
  ['context_length_exceeded', 'context_too_long'],
]);

/** Names that stand for a status; an error within a stream has nothing else. */
const plainNames: ReadonlyMap<unknown, LlmErrorKind> = new Map([
  ['authentication_error', 'auth'],
  ['permission_error', 'permission'],
  ['forbidden', 'permission'],
  ['not_found_error', 'model_unavailable'],
  ['rate_limit_error', 'rate_limit'],
  ['rate_limit_exceeded', 'rate_limit'],
  ['overloaded_error', 'overloaded'],
  ['api_error', 'overloaded'],
  ['server_error', 'overloaded'],
  ['internal_server_error', 'overloaded'],
]);

/**
 * Bytes. Anthropic calls a prompt that is too long `invalid_request_error`, like every other bad request. No field tells
 * them apart, but their size does: 200,000 tokens seldom take less than this, and other mistakes are seldom as large.
 */
const longRequest = 400_000;

/**
 * Any failure of a call as an `LlmError`; a signal that was aborted decides before anything else. Providers quote what
 * they were sent: `secrets` are taken out of the message.
 */
export function llmError(
  error: unknown,
  signal: AbortSignal,
  secrets: readonly string[],
): UserError {
  if (signal.aborted) return reasonOf(signal);
  const cause = sdk.RetryError.isInstance(error) ? error.lastError : error;
  if (cause instanceof UserError) return cause;
  const facts = factsOf(cause);
  const kind = kindOf(facts, cause);
  const { status } = facts;
  const clean = secrets.reduce(
    (text, secret) => text.replaceAll(secret, '[secret]'),
    facts.message,
  );
  const message =
    clean.replaceAll(/\s+/g, ' ').trim().slice(0, 300) ||
    `The provider gave no reason (${status ?? 'no status'}).`;
  if (kind !== 'rate_limit') return new LlmError(kind, message, { status, cause });
  const { window, resetsAt } = refusedLimit(facts.headers);
  return new LlmError(kind, message, { status, window, resetsAt, cause });
}

/** The failed request itself: what the gateway throws wraps it. */
export function failedRequest(error: unknown): sdk.APICallError | undefined {
  return chainOf(error).find((one) => sdk.APICallError.isInstance(one));
}

function chainOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chainOf(error.cause)] : [];
}

function reasonOf({ reason }: AbortSignal): UserError {
  return reason instanceof UserError
    ? reason
    : new LlmError('aborted', 'The call was stopped.', { cause: reason });
}

function kindOf({ status = 0, names, requestBytes = 0 }: Facts, error: unknown): LlmErrorKind {
  const named = (kinds: typeof plainNames) =>
    names.map((name) => kinds.get(name)).find((kind) => kind !== undefined);
  const precise = named(preciseNames);
  if (precise !== undefined) return precise;
  if (status === 400 && requestBytes >= longRequest) return 'context_too_long';
  if (status >= 400) return kindOfStatus(status);
  if (sdk.LoadAPIKeyError.isInstance(error) || sdk.LoadSettingError.isInstance(error))
    return 'auth';
  return named(plainNames) ?? (isNetwork(error) ? 'network' : 'unknown');
}

const brokenAnswers = [
  sdk.APICallError,
  sdk.EmptyResponseBodyError,
  sdk.InvalidResponseDataError,
  sdk.JSONParseError,
  sdk.NoOutputGeneratedError,
  sdk.TypeValidationError,
];

/** No response, one that broke off or is none of this protocol, or a connection that failed below HTTP. */
function isNetwork(error: unknown): boolean {
  if (brokenAnswers.some((kind) => kind.isInstance(error))) return true;
  return chainOf(error).some(
    (one) =>
      'code' in one &&
      /^(?:UND_ERR_|ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(String(one.code)),
  );
}

const errorBody = z.looseObject({
  error: z.looseObject({ type: z.unknown().optional(), code: z.unknown().optional() }),
});

function factsOf(error: unknown): Facts {
  const call = failedRequest(error);
  if (call !== undefined) {
    const { statusCode: status, responseHeaders: headers, message } = call;
    const requestBytes = Buffer.byteLength(JSON.stringify(call.requestBodyValues ?? ''));
    return {
      message,
      status,
      headers,
      names: [...namesIn(call.responseBody), awsName(headers)],
      requestBytes,
    };
  }
  const { type, code, statusCode: status } = sdk.StreamProviderError.isInstance(error) ? error : {};
  return { message: errorMessage(error), status, names: [code, type] };
}

function namesIn(body: string | undefined): readonly unknown[] {
  const { data } = errorBody.safeParse(parseJson(body ?? ''));
  return [data?.error.code, data?.error.type];
}

/** `x-amzn-errortype: ThrottlingException:http://…` */
function awsName(headers: Headers | undefined): string | undefined {
  return headers?.['x-amzn-errortype']?.split(':')[0];
}
