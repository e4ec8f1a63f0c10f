import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk';
import { UserError } from '../../../lib/error.ts';
import { errorKindOfStatus, LlmError, type LlmErrorKind } from '../../port/error.ts';
import type { AccountPolicy } from '../account-policy.ts';

/** The typed fields of a result that decide how a call ended. Its text never does. */
export interface ResultFacts {
  readonly subtype: SDKResultMessage['subtype'];
  readonly isError: boolean;
  readonly terminalReason: string | undefined;
  readonly stopReason: string | null;
  /** HTTP status of the failed request. */
  readonly status: number | undefined;
  /** `error` of the last assistant message. */
  readonly error: string | undefined;
  /** The limit that was reached. */
  readonly limit?: { readonly window: string; readonly resetsAt?: Date | undefined } | undefined;
  /** Shown to a person. */
  readonly text: string;
}

export type ConversationOutcome =
  | { readonly kind: 'natural' | 'budget' }
  | { readonly kind: 'failed'; readonly failure: UserError };

const normalStopReasons: ReadonlySet<string | null> = new Set([
  null,
  'end_turn',
  'tool_use',
  'stop_sequence',
  'pause_turn',
]);

/** How a call ended: by subtype, then terminal reason, then stop reason. Any of them can report a spent step budget. */
export function classifyResult(facts: ResultFacts, policy: AccountPolicy): ConversationOutcome {
  const { subtype, isError, terminalReason = 'completed', stopReason } = facts;
  if (subtype === 'error_max_turns' || terminalReason === 'max_turns' || stopReason === 'max_turns')
    return { kind: 'budget' };
  if (
    subtype === 'success' &&
    !isError &&
    terminalReason === 'completed' &&
    normalStopReasons.has(stopReason)
  )
    return { kind: 'natural' };
  return { kind: 'failed', failure: resultFailure(facts, policy) };
}

const kindByTerminalReason: Readonly<Record<string, LlmErrorKind>> = {
  blocking_limit: 'context_too_long',
  rapid_refill_breaker: 'context_too_long',
  prompt_too_long: 'context_too_long',
  image_error: 'context_too_long',
  aborted_streaming: 'aborted',
  aborted_tools: 'aborted',
  malformed_tool_use_exhausted: 'invalid_output',
  structured_output_retry_exhausted: 'invalid_output',
};

const kindBySubtype: Readonly<Record<string, LlmErrorKind>> = {
  error_max_structured_output_retries: 'invalid_output',
};

const kindByError: Readonly<Record<string, LlmErrorKind>> = {
  authentication_failed: 'auth',
  cloud_credential_error: 'auth',
  oauth_org_not_allowed: 'permission',
  account_on_hold: 'permission',
  verification_required: 'permission',
  billing_error: 'billing',
  rate_limit: 'rate_limit',
  overloaded: 'overloaded',
  model_not_found: 'model_unavailable',
  max_output_tokens: 'invalid_output',
  // These come without a status, because there was no response.
  server_error: 'network',
  unknown: 'network',
};

function resultErrorKind({
  subtype,
  terminalReason,
  stopReason,
  status,
  error,
}: ResultFacts): LlmErrorKind {
  const first = kindBySubtype[subtype] ?? kindByTerminalReason[terminalReason ?? ''];
  if (first !== undefined) return first;
  if (error === 'billing_error') return 'billing';
  if (status !== undefined && status >= 400) return errorKindOfStatus(status);
  return kindByError[error ?? ''] ?? (stopReason === 'max_tokens' ? 'invalid_output' : 'execution');
}

function resultFailure(facts: ResultFacts, policy: AccountPolicy): UserError {
  const { status, limit, text } = facts;
  if (facts.subtype === 'error_max_budget_usd') {
    const hint =
      'Finished work is kept. To go on, raise limits.max_budget_usd or llm.max_usd_per_run.';
    return new UserError('llm_budget_spent', 'The budget of this call is spent.', {
      hint,
      exitCode: 3,
    });
  }
  const kind = resultErrorKind(facts);
  if (kind === 'auth') return policy.refusedError(status);
  const message = text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const options =
    kind === 'rate_limit'
      ? { status, window: limit?.window, resetsAt: limit?.resetsAt }
      : { status };
  return new LlmError(
    kind,
    message === '' ? `Claude Code ended with ${facts.terminalReason ?? facts.subtype}.` : message,
    options,
  );
}
