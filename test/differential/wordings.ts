/**
 * A failure as providers word it: in the Messages protocol, and in that of OpenAI where it exists
 * there.
 */
interface Wording {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly openai?: { readonly status: number; readonly body: unknown };
}

/** Status, type, message and code. */
type OpenaiFailure = readonly [number, string, string, (string | null)?];

const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const openai = (...[status, type, message, code = null]: OpenaiFailure) => ({
  openai: { status, body: { error: { message, type, param: null, code } } },
});
const page = (title: string): string =>
  `<html><head><title>${title}</title></head><body><center><h1>${title}</h1></center></body></html>`;
/** A proxy on the way answers alike whatever the protocol. */
const proxied = (status: number, title: string) => ({
  status,
  body: page(title),
  openai: { status, body: page(title) },
});

const entries = {
  'bad-key': {
    status: 401,
    body: anthropic('authentication_error', 'invalid x-api-key'),
    ...openai(
      401,
      'invalid_request_error',
      'Incorrect API key provided: sk-mad*up.',
      'invalid_api_key',
    ),
  },
  'expired-token': {
    status: 401,
    body: anthropic(
      'authentication_error',
      'OAuth token has expired. Please obtain a new token or refresh your existing token.',
    ),
  },
  'model-forbidden': {
    status: 403,
    body: anthropic(
      'permission_error',
      'Your account does not have permission to use claude-opus-4-7. Please contact your administrator.',
    ),
    ...openai(
      403,
      'invalid_request_error',
      'Project does not have access to model gpt-5.',
      'model_not_found',
    ),
  },
  'region-forbidden': {
    status: 403,
    body: anthropic('forbidden', 'Request not allowed'),
    ...openai(
      403,
      'request_forbidden',
      'Country, region, or territory not supported',
      'unsupported_country_region_territory',
    ),
  },
  'organization-disabled': {
    status: 400,
    body: anthropic('invalid_request_error', 'This organization has been disabled.'),
  },
  'no-model': {
    status: 404,
    body: anthropic('not_found_error', 'model: claude-sonnet-9'),
    ...openai(
      404,
      'invalid_request_error',
      'The model `gpt-9` does not exist or you do not have access to it.',
      'model_not_found',
    ),
  },
  'credit-low': {
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    ...openai(
      429,
      'insufficient_quota',
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
    ),
  },
  'usage-limit': {
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    ),
  },
  billing: {
    status: 402,
    body: anthropic('billing_error', 'There is an issue with your billing or payment information.'),
  },
  'prompt-too-long': {
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 212345 tokens > 200000 maximum'),
    ...openai(
      400,
      'invalid_request_error',
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 212345 tokens.",
      'context_length_exceeded',
    ),
  },
  'input-and-max-tokens': {
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
    ),
  },
  'too-large': {
    status: 413,
    body: anthropic('request_too_large', 'Request exceeds the maximum size'),
    ...openai(413, 'invalid_request_error', 'Request too large.'),
  },
  'bad-request': {
    status: 400,
    body: anthropic('invalid_request_error', 'messages.0.content: Input should be a valid list'),
    ...openai(400, 'invalid_request_error', "Invalid type for 'messages[0].content'."),
  },
  'rate-limit': {
    status: 429,
    body: anthropic(
      'rate_limit_error',
      'This request would exceed your organization’s rate limit of 50,000 input tokens per minute.',
    ),
    ...openai(
      429,
      'tokens',
      'Rate limit reached for gpt-5 on tokens per min (TPM).',
      'rate_limit_exceeded',
    ),
  },
  'rate-limit-page': proxied(429, '429 Too Many Requests'),
  'request-timeout': {
    status: 408,
    body: anthropic('timeout_error', 'Request timed out.'),
    ...openai(408, 'server_error', 'Request timed out.'),
  },
  conflict: {
    status: 409,
    body: anthropic('invalid_request_error', 'The request conflicts with another one.'),
    ...openai(409, 'invalid_request_error', 'The resource was updated by another request.'),
  },
  'server-error': {
    status: 500,
    body: anthropic('api_error', 'Internal server error'),
    ...openai(500, 'server_error', 'The server had an error while processing your request.'),
  },
  'bad-gateway': proxied(502, '502 Bad Gateway'),
  unavailable: proxied(503, '503 Service Temporarily Unavailable'),
  'gateway-timeout': proxied(504, '504 Gateway Time-out'),
  overloaded: {
    status: 529,
    body: anthropic('overloaded_error', 'Overloaded'),
    ...openai(503, 'server_error', 'The engine is currently overloaded, please try again later.'),
  },
  'cloudflare-520': proxied(520, '520: Web server is returning an unknown error'),
  'proxy-denies': proxied(403, '403 Forbidden'),
  'empty-500': { status: 500, body: '', openai: { status: 500, body: '' } },
  teapot: proxied(418, "I'm a teapot"),
} satisfies Record<string, Wording>;

export type WordingName = keyof typeof entries;
export const wordings: Readonly<Record<WordingName, Wording>> = entries;
export const wordingNames = Object.keys(entries) as WordingName[];
