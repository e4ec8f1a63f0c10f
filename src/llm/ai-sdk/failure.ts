import * as sdk from 'ai';
import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { errorMessage, UserError } from '../../lib/error.ts';
import { classifyFault, type ReportedFault } from '../faults/classify-fault.ts';
import { exceededLimit, retryAfter, type ResponseHeaders } from '../faults/limit-headers.ts';
import { LlmError, providerError, type LlmErrorKind } from '../port/error.ts';

interface FailureDetails extends ReportedFault {
  readonly headers?: ResponseHeaders | undefined;
}

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
  const kind = classifyFault(details) ?? kindOfLocalError(cause);
  const { status, headers, text } = details;
  const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  if (kind !== 'rate_limit')
    return providerError(kind, clean, { status, resetsAt: retryAfter(headers), cause });
  const { window, resetsAt } = exceededLimit(headers);
  return providerError(kind, clean, { status, window, resetsAt, cause });
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

function kindOfLocalError(error: unknown): LlmErrorKind {
  if (sdk.LoadAPIKeyError.isInstance(error) || sdk.LoadSettingError.isInstance(error))
    return 'auth';
  return isNetworkError(error) ? 'network' : 'unknown';
}

const brokenResponseErrors = [
  sdk.APICallError,
  sdk.EmptyResponseBodyError,
  sdk.InvalidResponseDataError,
  sdk.JSONParseError,
  sdk.NoOutputGeneratedError,
  sdk.TypeValidationError,
];

/**
 * True if there was no response, if it broke off or is not of this protocol, or if the connection
 * failed.
 */
function isNetworkError(error: unknown): boolean {
  if (brokenResponseErrors.some((errorClass) => errorClass.isInstance(error))) return true;
  return causeChain(error).some(
    (cause) =>
      'code' in cause &&
      /^(?:UND_ERR_|ECONN|ENOTFOUND|EAI_|EPIPE|ETIMEDOUT|EHOST|ENET)/.test(String(cause.code)),
  );
}

const name = z.unknown().optional();
const errorBody = z.looseObject({
  error: z.looseObject({
    type: name,
    code: name,
    status: name,
    details: z
      .array(z.looseObject({ reason: name }))
      .optional()
      .catch(undefined),
  }),
});

function failureDetails(error: unknown): FailureDetails {
  const call = failedRequest(error);
  if (call !== undefined) {
    const { statusCode: status, responseHeaders: headers, message, responseBody = '' } = call;
    const body = parseJson(responseBody);
    const text = messageOf(body) ?? message;
    const requestBytes = Buffer.byteLength(JSON.stringify(call.requestBodyValues ?? ''));
    const names = [...errorNames(body), awsErrorName(headers)];
    return { text, status, headers, names, requestBytes };
  }
  const text = errorMessage(error);
  if (sdk.StreamProviderError.isInstance(error)) {
    const { type, code, statusCode: status } = error;
    return { text, status, names: [code, type] };
  }
  // Some providers pass the failure inside of a stream on as they got it.
  const reported = streamedError.safeParse(error).data;
  if (reported === undefined) return { text, status: undefined, names: [] };
  const { message, type, code } = reported;
  return { text: message, status: undefined, names: [code, type] };
}

const streamedError = z.looseObject({ message: z.string(), type: name, code: name });

/** The SDK reads only bodies of the form that it expects of a provider. */
function messageOf(body: unknown): string | undefined {
  const { data } = messageBody.safeParse(body);
  return data?.error?.message ?? data?.message;
}

const text = z.string().optional().catch(undefined);
const messageBody = z.looseObject({
  message: text,
  error: z.looseObject({ message: text }).optional().catch(undefined),
});

function errorNames(body: unknown): readonly unknown[] {
  const { data } = errorBody.safeParse(body);
  if (data === undefined) return [];
  const { code, type, status, details = [] } = data.error;
  return [code, ...details.map(({ reason }) => reason), type, status];
}

/** AWS sends `x-amzn-errortype: ThrottlingException:http://…`. */
function awsErrorName(headers: ResponseHeaders | undefined): string | undefined {
  return headers?.['x-amzn-errortype']?.split(':')[0];
}
