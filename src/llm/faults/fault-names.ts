import type { LlmErrorKind } from '../port/error.ts';

/**
 * Names of failures that are more precise than the HTTP status: `error.type`, `error.code`,
 * `error.status` and reasons of a response, names of exceptions of AWS, and the errors that the
 * Claude Code program reports.
 */
export const preciseNames: Readonly<Record<string, LlmErrorKind>> = {
  // OpenAI, and the many endpoints that copy it.
  insufficient_quota: 'billing',
  billing_hard_limit_reached: 'billing',
  billing_not_active: 'billing',
  model_not_found: 'model_unavailable',
  model_not_allowed: 'permission',
  context_length_exceeded: 'context_too_long',
  exceed_context_size_error: 'context_too_long',
  string_above_max_length: 'context_too_long',
  unsupported_country_region_territory: 'region',
  content_filter: 'refusal',
  content_policy_violation: 'refusal',
  // Anthropic.
  billing_error: 'billing',
  // AI Gateway.
  insufficient_funds: 'billing',
  customer_verification_required: 'billing',
  // Google Cloud.
  BILLING_DISABLED: 'billing',
  SERVICE_DISABLED: 'permission',
  // Amazon Bedrock.
  UnrecognizedClientException: 'auth',
  InvalidSignatureException: 'auth',
  ExpiredTokenException: 'auth',
  ModelNotReadyException: 'overloaded',
  // Claude Code.
  cloud_credential_error: 'auth',
  oauth_org_not_allowed: 'permission',
  account_on_hold: 'permission',
  verification_required: 'permission',
  max_output_tokens: 'max_tokens',
};

/** Names that stand for an HTTP status. A failure inside a stream has no status of its own. */
export const namesWithoutStatus: Readonly<Record<string, LlmErrorKind>> = {
  authentication_error: 'auth',
  authentication_failed: 'auth',
  invalid_api_key: 'auth',
  UNAUTHENTICATED: 'auth',
  permission_error: 'permission',
  forbidden: 'permission',
  AccessDeniedException: 'permission',
  PERMISSION_DENIED: 'permission',
  not_found_error: 'model_unavailable',
  NOT_FOUND: 'model_unavailable',
  rate_limit_error: 'rate_limit',
  rate_limit_exceeded: 'rate_limit',
  rate_limit: 'rate_limit',
  ThrottlingException: 'rate_limit',
  RESOURCE_EXHAUSTED: 'rate_limit',
  request_too_large: 'context_too_long',
  overloaded_error: 'overloaded',
  overloaded: 'overloaded',
  api_error: 'overloaded',
  server_error: 'overloaded',
  internal_server_error: 'overloaded',
  timeout_error: 'overloaded',
  ServiceUnavailableException: 'overloaded',
  InternalServerException: 'overloaded',
  ModelStreamErrorException: 'overloaded',
  UNAVAILABLE: 'overloaded',
  connection_failed: 'network',
};

/** HTTP statuses below 500. From 500 on, the provider is overloaded or failing. */
export const kindByStatus: Readonly<Record<number, LlmErrorKind>> = {
  401: 'auth',
  402: 'billing',
  403: 'permission',
  404: 'model_unavailable',
  408: 'overloaded',
  409: 'overloaded',
  413: 'context_too_long',
  424: 'overloaded',
  425: 'overloaded',
  429: 'rate_limit',
};
