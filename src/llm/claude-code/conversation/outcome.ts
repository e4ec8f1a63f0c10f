import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk';
import { UserError } from '../../../lib/error.ts';
import { kindOfStatus, LlmError, type LlmErrorKind } from '../../port/error.ts';
import type { Access } from '../access.ts';

/** The typed fields that decide how a call ended; text never does. */
export interface Facts {
  readonly subtype: SDKResultMessage['subtype'];
  readonly isError: boolean;
  readonly terminalReason: string | undefined;
  readonly stopReason: string | null;
  /** HTTP status of the failed request. */
  readonly status: number | undefined;
  /** `error` of the last assistant message. */
  readonly error: string | undefined;
  /** What was said of the limit that was met. */
  readonly limit?: { readonly window: string; readonly resetsAt?: Date | undefined } | undefined;
  /** For a person; never decides. */
  readonly text: string;
}

export type Outcome =
  | { readonly kind: 'natural' | 'budget' }
  | { readonly kind: 'failed'; readonly failure: UserError };

const goodStops: ReadonlySet<string | null> = new Set([
  null,
  'end_turn',
  'tool_use',
  'stop_sequence',
  'pause_turn',
]);

/** Reads, in this order, subtype, terminal reason and stop reason; a spent budget from any of them is a spent budget. */
export function outcomeOf(facts: Facts, access: Access): Outcome {
  const { subtype, isError, terminalReason = 'completed', stopReason } = facts;
  if (subtype === 'error_max_turns' || terminalReason === 'max_turns' || stopReason === 'max_turns')
    return { kind: 'budget' };
  if (
    subtype === 'success' &&
    !isError &&
    terminalReason === 'completed' &&
    goodStops.has(stopReason)
  )
    return { kind: 'natural' };
  return { kind: 'failed', failure: failureOf(facts, access) };
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
  // Without a status, because no response came.
  server_error: 'network',
  unknown: 'network',
};

function kindOf({ subtype, terminalReason, stopReason, status, error }: Facts): LlmErrorKind {
  const first = kindBySubtype[subtype] ?? kindByTerminalReason[terminalReason ?? ''];
  if (first !== undefined) return first;
  if (error === 'billing_error') return 'billing';
  if (status !== undefined && status >= 400) return kindOfStatus(status);
  return kindByError[error ?? ''] ?? (stopReason === 'max_tokens' ? 'invalid_output' : 'execution');
}

function failureOf(facts: Facts, access: Access): UserError {
  const { status, limit, text } = facts;
  if (facts.subtype === 'error_max_budget_usd') {
    const hint = 'What is finished is kept: raise limits.max_budget_usd or llm.max_usd_per_run.';
    return new UserError('llm_budget_spent', 'The money that this may cost is spent.', {
      hint,
      exitCode: 3,
    });
  }
  const kind = kindOf(facts);
  if (kind === 'auth') return access.refused(status);
  const said = text.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  const options =
    kind === 'rate_limit'
      ? { status, window: limit?.window, resetsAt: limit?.resetsAt }
      : { status };
  return new LlmError(
    kind,
    said === '' ? `Claude Code ended with ${facts.terminalReason ?? facts.subtype}.` : said,
    options,
  );
}
