import * as sdk from 'ai';
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { errorMessage, UserError } from '../../lib/error.ts';
import { errorKindOfStatus, LlmError, type LlmErrorKind } from '../port/error.ts';
import { exceededLimit, type ResponseHeaders } from './limits.ts';

/** The fields of a failure that decide its kind. The message does only for a context that is too long. */
interface FailureDetails {
  readonly message: string;
  readonly status?: number | undefined;
  /** The provider's names of the failure: `error.code`, `error.type`, the name of the exception. */
  readonly names: readonly unknown[];
  readonly headers?: ResponseHeaders | undefined;
  readonly requestBytes?: number;
}

/** Names that are more precise than the HTTP status. */
const preciseNames: ReadonlyMap<unknown, LlmErrorKind> = new Map([
  ['UnrecognizedClientException', 'auth'],
  ['InvalidSignatureException', 'auth'],
  ['ExpiredTokenException', 'auth'],
  ['insufficient_quota', 'billing'],
  ['billing_error', 'billing'],
  ['model_not_found', 'model_unavailable'],
  ['context_length_exceeded', 'context_too_long'],
  ['exceed_context_size_error', 'context_too_long'],
  ['string_above_max_length', 'context_too_long'],
]);

/** Names that stand for an HTTP status. An error inside a stream has no status of its own. */
const statusNames: ReadonlyMap<unknown, LlmErrorKind> = new Map([
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
 * Most providers name a context that is too long only in the text of a bad request. A mistake is
 * harmless: the call is tried again with less.
 */
const tooLongWording =
  /(?:prompt|input|context) is too long|too many (?:input |total )?tokens|max(?:imum)? context (?:length|window|size)|context (?:length|limit|window|size) (?:of|exceeded)|exceeds? (?:the |its )?(?:available |maximum )?(?:context|number of (?:input )?tokens)|exceed context limit|reduce the length of the (?:messages|prompt|input)|too large for model/i;
const badRequestStatuses: ReadonlySet<number> = new Set([400, 413, 422, 500]);
const longestWording = 2000;

/**
 * Bytes. Anthropic answers a prompt that is too long with `invalid_request_error`, as it does every
 * other bad request. Only the size tells them apart: 200,000 tokens rarely take less than this, and
 * other bad requests are rarely as large.
 */
const longRequestBytes = 400_000;

/**
 * Turns any failure of a call into an `LlmError`. If the signal was aborted, its reason is the
 * failure. Providers quote what they were sent, so `secrets` are removed from the message.
 */
export function toLlmError(
  error: unknown,
  signal: AbortSignal,
  secrets: readonly string[],
): UserError {
  if (signal.aborted) return abortError(signal);
  const cause = sdk.RetryError.isInstance(error) ? error.lastError : error;
  if (cause instanceof UserError) return cause;
  const details = failureDetails(cause);
  const kind = errorKind(details, cause);
  const { status } = details;
  const clean = secrets.reduce(
    (text, secret) => text.replaceAll(secret, '[secret]'),
    details.message,
  );
  const message =
    clean.replaceAll(/\s+/g, ' ').trim().slice(0, 300) ||
    `The provider gave no reason (${status ?? 'no status'}).`;
  if (kind !== 'rate_limit') return new LlmError(kind, message, { status, cause });
  const { window, resetsAt } = exceededLimit(details.headers);
  return new LlmError(kind, message, { status, window, resetsAt, cause });
}

/** The failed request itself. The gateway wraps it in errors of its own. */
export function failedRequest(error: unknown): sdk.APICallError | undefined {
  return causeChain(error).find((cause) => sdk.APICallError.isInstance(cause));
}

function causeChain(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causeChain(error.cause)] : [];
}

function abortError({ reason }: AbortSignal): UserError {
  return reason instanceof UserError
    ? reason
    : new LlmError('aborted', 'The call was stopped.', { cause: reason });
}

function errorKind(
  { message, status = 0, names, requestBytes = 0 }: FailureDetails,
  error: unknown,
): LlmErrorKind {
  const kindByName = (kinds: typeof statusNames) =>
    names.map((name) => kinds.get(name)).find((kind) => kind !== undefined);
  const precise = kindByName(preciseNames);
  if (precise !== undefined) return precise;
  if (badRequestStatuses.has(status) && tooLongWording.test(message.slice(0, longestWording)))
    return 'context_too_long';
  if (status === 400 && requestBytes >= longRequestBytes) return 'context_too_long';
  if (status >= 400) return errorKindOfStatus(status);
  if (sdk.LoadAPIKeyError.isInstance(error) || sdk.LoadSettingError.isInstance(error))
    return 'auth';
  return kindByName(statusNames) ?? (isNetworkError(error) ? 'network' : 'unknown');
}

const brokenResponseErrors = [
  sdk.APICallError,
  sdk.EmptyResponseBodyError,
  sdk.InvalidResponseDataError,
  sdk.JSONParseError,
  sdk.NoOutputGeneratedError,
  sdk.TypeValidationError,
];

/** True if there was no response, if it broke off or is not of this protocol, or if the connection failed. */
function isNetworkError(error: unknown): boolean {
  if (brokenResponseErrors.some((errorClass) => errorClass.isInstance(error))) return true;
  return causeChain(error).some(
    (cause) =>
      'code' in cause &&
      /^(?:UND_ERR_|ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(String(cause.code)),
  );
}

const errorBody = z.looseObject({
  error: z.looseObject({ type: z.unknown().optional(), code: z.unknown().optional() }),
});

function failureDetails(error: unknown): FailureDetails {
  const call = failedRequest(error);
  if (call !== undefined) {
    const { statusCode: status, responseHeaders: headers, message } = call;
    const requestBytes = Buffer.byteLength(JSON.stringify(call.requestBodyValues ?? ''));
    return {
      message,
      status,
      headers,
      names: [...errorNames(call.responseBody), awsErrorName(headers)],
      requestBytes,
    };
  }
  const { type, code, statusCode: status } = sdk.StreamProviderError.isInstance(error) ? error : {};
  return { message: errorMessage(error), status, names: [code, type] };
}

function errorNames(body: string | undefined): readonly unknown[] {
  const { data } = errorBody.safeParse(parseJson(body ?? ''));
  return [data?.error.code, data?.error.type];
}

/** AWS sends `x-amzn-errortype: ThrottlingException:http://…`. */
function awsErrorName(headers: ResponseHeaders | undefined): string | undefined {
  return headers?.['x-amzn-errortype']?.split(':')[0];
}
