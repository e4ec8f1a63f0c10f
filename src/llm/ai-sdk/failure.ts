import * as sdk from 'ai';
import { z } from 'zod';
import { messageOf, UserError } from '../../lib/error.ts';
import { LlmError, type LlmErrorKind } from '../error.ts';
import { refusedLimit, type Headers } from './limits.ts';

/** What a provider said of a failure; only these decide its kind, never its text. */
interface Facts {
  readonly message: string;
  readonly status?: number | undefined;
  /** `error.code`, `error.type`, the exception's name: what the provider calls it. */
  readonly names: readonly string[];
  readonly headers?: Headers | undefined;
  readonly requestBytes?: number;
}

/** Names that say more than the status that they come with. */
const kindByName: Readonly<Record<string, LlmErrorKind>> = {
  authentication_error: 'auth',
  UnrecognizedClientException: 'auth',
  InvalidSignatureException: 'auth',
  ExpiredTokenException: 'auth',
  permission_error: 'permission',
  forbidden: 'permission',
  not_found_error: 'model_unavailable',
  model_not_found: 'model_unavailable',
  rate_limit_error: 'rate_limit',
  rate_limit_exceeded: 'rate_limit',
  throttlingException: 'rate_limit',
  ThrottlingException: 'rate_limit',
  insufficient_quota: 'billing',
  billing_error: 'billing',
  context_length_exceeded: 'context_too_long',
  request_too_large: 'context_too_long',
  overloaded_error: 'overloaded',
  api_error: 'overloaded',
  server_error: 'overloaded',
  internal_server_error: 'overloaded',
  timeout_error: 'overloaded',
};

const kindByStatus: Readonly<Record<number, LlmErrorKind>> = {
  401: 'auth',
  402: 'billing',
  403: 'permission',
  404: 'model_unavailable',
  408: 'overloaded',
  413: 'context_too_long',
  429: 'rate_limit',
};

/**
 * Anthropic calls a prompt that is too long `invalid_request_error`, like every other bad request. No field tells them
 * apart, but the size of the request does: 200,000 tokens take at least this much, and what is smaller cannot be too long.
 */
const longRequest = 400_000;

/**
 * Any failure of a call as an `LlmError`; a signal that was aborted decides before anything else. Providers quote what
 * they were sent: `secrets` are taken out of the message.
 */
export function llmError(error: unknown, signal: AbortSignal, secrets: readonly string[]): UserError {
  if (signal.aborted) return reasonOf(signal);
  const cause = sdk.RetryError.isInstance(error) ? error.lastError : error;
  if (cause instanceof UserError) return cause;
  const facts = factsOf(cause);
  const kind = kindOf(facts, cause);
  const { status } = facts;
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), facts.message);
  const message = clean.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  if (kind !== 'rate_limit') return new LlmError(kind, message, { status, cause });
  const { window, resetsAt } = refusedLimit(facts.headers);
  return new LlmError(kind, message, { status, window, resetsAt, cause });
}

/** Headers of the response that refused the call, if that was the end of it. */
export function refusalHeaders(error: unknown): Headers | undefined {
  return apiCallError(error)?.responseHeaders;
}

function reasonOf({ reason }: AbortSignal): UserError {
  return reason instanceof UserError ? reason : new LlmError('aborted', 'The call was stopped.', { cause: reason });
}

function kindOf({ status, names, requestBytes = 0 }: Facts, error: unknown): LlmErrorKind {
  const named = names.map((name) => kindByName[name]).find((kind) => kind !== undefined);
  if (named !== undefined) return named;
  if (status === 400 && requestBytes >= longRequest) return 'context_too_long';
  if (status !== undefined && status >= 400) return status >= 500 ? 'overloaded' : (kindByStatus[status] ?? 'execution');
  if (sdk.LoadAPIKeyError.isInstance(error) || sdk.LoadSettingError.isInstance(error)) return 'auth';
  return isNetwork(error) ? 'network' : 'unknown';
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
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if ('code' in inner && typeof inner.code === 'string' && /^(?:UND_ERR|E[A-Z]{4,})/.test(inner.code)) return true;
  }
  return false;
}

const errorBody = z.looseObject({ error: z.looseObject({ type: z.unknown().optional(), code: z.unknown().optional() }) });

function factsOf(error: unknown): Facts {
  const call = apiCallError(error);
  if (call !== undefined) {
    const { statusCode: status, responseHeaders: headers, message } = call;
    const requestBytes = Buffer.byteLength(JSON.stringify(call.requestBodyValues ?? ''));
    return { message, status, headers, names: [...namesIn(call.responseBody), awsName(headers)].filter(isText), requestBytes };
  }
  const { type, code, statusCode: status } = sdk.StreamProviderError.isInstance(error) ? error : {};
  return { message: messageOf(error), status, names: [code, type].filter(isText) };
}

/** The failed request itself: what the gateway throws wraps it. */
function apiCallError(error: unknown): sdk.APICallError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (sdk.APICallError.isInstance(inner)) return inner;
  }
  return undefined;
}

function namesIn(body: string | undefined): readonly unknown[] {
  const { data } = errorBody.safeParse(parsed(body));
  return [data?.error.code, data?.error.type];
}

/** `x-amzn-errortype: ThrottlingException:http://…` */
function awsName(headers: Headers | undefined): string | undefined {
  return headers?.['x-amzn-errortype']?.split(':')[0];
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
