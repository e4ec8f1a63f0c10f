import type { LlmErrorKind } from '../../src/llm/port/error.ts';

/** A failure as a provider really words it. */
export interface ProviderFault {
  readonly provider: string;
  readonly kind: LlmErrorKind;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const anthropic = (
  kind: LlmErrorKind,
  status: number,
  [type, message]: readonly [string, string],
) =>
  ({
    provider: 'anthropic',
    kind,
    status,
    body: { type: 'error', error: { type, message } },
  }) as const;
const openai = (
  kind: LlmErrorKind,
  status: number,
  { type, code = null, message }: { type: string; code?: string | null; message: string },
) =>
  ({
    provider: 'openai',
    kind,
    status,
    body: { error: { message, type, param: null, code } },
  }) as const;
const bedrock = (kind: LlmErrorKind, status: number, [type, message]: readonly [string, string]) =>
  ({
    provider: 'bedrock',
    kind,
    status,
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/` },
    body: { message },
  }) as const;
const vertex = (
  kind: LlmErrorKind,
  code: number,
  { status, message, reason }: { status: string; message: string; reason?: string },
) =>
  ({
    provider: 'vertex',
    kind,
    status: code,
    body: { error: { code, message, status, ...(reason && { details: [{ reason }] }) } },
  }) as const;
const gateway = (kind: LlmErrorKind, status: number, [type, message]: readonly [string, string]) =>
  ({ provider: 'gateway', kind, status, body: { error: { message, type, param: null } } }) as const;

const bad = 'invalid_request_error';

export const providerFaults: readonly ProviderFault[] = [
  anthropic('billing', 400, [
    bad,
    'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
  ]),
  anthropic('billing', 400, [
    bad,
    'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
  ]),
  anthropic('billing', 402, [
    'billing_error',
    'There is an issue with your billing or payment information.',
  ]),
  anthropic('billing', 429, [
    'rate_limit_error',
    'Extra usage is required for long context requests.',
  ]),
  anthropic('context_too_long', 400, [bad, 'prompt is too long: 212345 tokens > 200000 maximum']),
  anthropic('context_too_long', 400, [
    bad,
    'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again',
  ]),
  anthropic('context_too_long', 413, [
    'request_too_large',
    'Request exceeds the maximum allowed number of bytes.',
  ]),
  anthropic('permission', 400, [bad, 'This organization has been disabled.']),
  anthropic('permission', 400, [
    bad,
    'The long context beta is not yet available for this subscription.',
  ]),
  anthropic('permission', 403, [
    'permission_error',
    'Your API key does not have permission to use the specified resource.',
  ]),
  anthropic('model_unavailable', 404, ['not_found_error', 'model: claude-none']),
  anthropic('auth', 401, ['authentication_error', 'invalid x-api-key']),
  anthropic('rate_limit', 429, [
    'rate_limit_error',
    'This request would exceed your organization’s rate limit of 40,000 input tokens per minute.',
  ]),
  anthropic('overloaded', 529, ['overloaded_error', 'Overloaded']),
  anthropic('overloaded', 500, ['api_error', 'Internal server error']),
  anthropic('execution', 400, [bad, 'messages: text content blocks must be non-empty']),
  openai('billing', 429, {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  }),
  openai('billing', 429, {
    type: 'requests',
    code: 'billing_not_active',
    message: 'Your account is not active.',
  }),
  openai('billing', 402, { type: 'unknown_error', message: 'Insufficient Balance' }),
  openai('billing', 403, { type: 'error', message: 'Insufficient credits. Add more to go on.' }),
  openai('context_too_long', 400, {
    type: bad,
    code: 'context_length_exceeded',
    message: "This model's maximum context length is 128000 tokens.",
  }),
  openai('context_too_long', 400, {
    type: 'BadRequestError',
    message:
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
  }),
  openai('context_too_long', 400, {
    type: 'exceed_context_size_error',
    message: 'the request exceeds the available context size, try increasing it',
  }),
  openai('region', 403, {
    type: 'request_forbidden',
    code: 'unsupported_country_region_territory',
    message: 'Country, region, or territory not supported',
  }),
  openai('model_unavailable', 404, {
    type: bad,
    code: 'model_not_found',
    message: 'The model `gpt-none` does not exist or you do not have access to it.',
  }),
  openai('model_unavailable', 400, {
    type: 'BadRequestError',
    message: 'The model `none` does not exist.',
  }),
  openai('permission', 401, {
    type: bad,
    code: 'account_deactivated',
    message: 'The OpenAI account has been deactivated.',
  }),
  openai('refusal', 400, {
    type: bad,
    code: 'content_filter',
    message: 'The response was filtered.',
  }),
  openai('refusal', 400, {
    type: bad,
    message:
      'The response was filtered due to the prompt triggering Azure OpenAI’s content management policy.',
  }),
  openai('auth', 401, {
    type: bad,
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: sk-x.',
  }),
  openai('rate_limit', 429, {
    type: 'tokens',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for gpt-x on tokens per min (TPM). Please try again in 6ms.',
  }),
  openai('overloaded', 503, {
    type: 'server_error',
    message: 'The engine is currently overloaded, please try again later.',
  }),
  bedrock('context_too_long', 400, [
    'ValidationException',
    'Input is too long for requested model.',
  ]),
  bedrock('model_unavailable', 400, [
    'ValidationException',
    'The provided model identifier is invalid.',
  ]),
  bedrock('model_unavailable', 400, [
    'ValidationException',
    'Invocation of model ID anthropic.claude with on-demand throughput isn’t supported. Retry your request with an inference profile.',
  ]),
  bedrock('region', 400, ['ValidationException', 'The model is not supported in this region.']),
  bedrock('permission', 403, [
    'AccessDeniedException',
    "You don't have access to the model with the specified model ID.",
  ]),
  bedrock('permission', 404, [
    'ResourceNotFoundException',
    'Model use case details have not been submitted for this account.',
  ]),
  bedrock('auth', 403, [
    'ExpiredTokenException',
    'The security token included in the request is expired',
  ]),
  bedrock('auth', 403, [
    'UnrecognizedClientException',
    'The security token included in the request is invalid.',
  ]),
  bedrock('rate_limit', 429, [
    'ThrottlingException',
    'Too many tokens, please wait before trying again.',
  ]),
  bedrock('overloaded', 429, ['ModelNotReadyException', 'The model is not ready.']),
  bedrock('overloaded', 424, ['ModelErrorException', 'The model failed.']),
  bedrock('overloaded', 503, [
    'ServiceUnavailableException',
    'Bedrock is unable to process your request.',
  ]),
  vertex('region', 400, {
    status: 'FAILED_PRECONDITION',
    message:
      'Publisher Model `projects/p/locations/us-east1/publishers/anthropic/models/c` is not servable in region us-east1.',
  }),
  vertex('model_unavailable', 404, {
    status: 'NOT_FOUND',
    message: 'Publisher Model `c` was not found or your project does not have access to it.',
  }),
  vertex('billing', 403, {
    status: 'PERMISSION_DENIED',
    reason: 'BILLING_DISABLED',
    message: 'This API method requires billing to be enabled.',
  }),
  vertex('permission', 403, {
    status: 'PERMISSION_DENIED',
    message: "Permission 'aiplatform.endpoints.predict' denied on resource.",
  }),
  vertex('auth', 401, {
    status: 'UNAUTHENTICATED',
    message: 'Request had invalid authentication credentials.',
  }),
  vertex('rate_limit', 429, {
    status: 'RESOURCE_EXHAUSTED',
    message:
      'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model.',
  }),
  gateway('billing', 402, ['insufficient_funds', 'Insufficient funds']),
  gateway('billing', 403, [
    'customer_verification_required',
    'AI Gateway requires a valid credit card on file to service requests.',
  ]),
  gateway('model_unavailable', 404, ['model_not_found', 'Model not found']),
  gateway('permission', 403, ['forbidden', 'This team may not use the model.']),
  gateway('overloaded', 500, ['internal_server_error', 'Internal server error']),
];
