import type { SDKAPIRetryMessage, SDKResultMessage } from '@anthropic-ai/claude-agent-sdk';
import { UserError } from '../../../lib/error.ts';
import { classifyFault } from '../../faults/classify-fault.ts';
import { answerEnds, unfinishedAnswer } from '../../faults/stop-reasons.ts';
import { LlmError, providerError, type LlmErrorKind } from '../../port/error.ts';
import type { AccountPolicy } from '../account-policy.ts';

/** The fields of a result that decide how a call ended. Its text does only if a request failed. */
export interface ResultFacts {
  readonly subtype: SDKResultMessage['subtype'];
  readonly isError: boolean;
  readonly terminalReason: string | undefined;
  readonly stopReason: string | null;
  /** HTTP status of the failed request. */
  readonly status: number | undefined;
  /** `error` of the last assistant message. */
  readonly error: string | undefined;
  /** What the provider and newer releases of the program call the failure. */
  readonly names?: readonly (string | undefined)[] | undefined;
  /** The limit that was reached. */
  readonly limit?: { readonly window: string; readonly resetsAt?: Date | undefined } | undefined;
  /** Shown to a person. */
  readonly text: string;
}

export type ConversationOutcome =
  | { readonly kind: 'natural' | 'budget' }
  | { readonly kind: 'failed'; readonly failure: UserError };

/**
 * How a call ended: by subtype, then terminal reason, then stop reason. Any of them can report a
 * spent step budget.
 */
export function classifyResult(facts: ResultFacts, policy: AccountPolicy): ConversationOutcome {
  const { subtype, isError, terminalReason = 'completed', stopReason } = facts;
  if (subtype === 'error_max_turns' || terminalReason === 'max_turns' || stopReason === 'max_turns')
    return { kind: 'budget' };
  if (
    subtype === 'success' &&
    !isError &&
    terminalReason === 'completed' &&
    (stopReason === null || answerEnds[stopReason] === 'complete')
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

/** `error` of a request without a response. */
const connectionErrors: ReadonlySet<string | undefined> = new Set(['server_error', 'unknown']);

function resultErrorKind(facts: ResultFacts): LlmErrorKind {
  const { subtype, terminalReason, status, error, names = [], text } = facts;
  const first = kindBySubtype[subtype] ?? kindByTerminalReason[terminalReason ?? ''];
  if (first !== undefined) return first;
  // With a status, `error` says less than the names of the provider, and sometimes another thing.
  const told = status === undefined ? names : [...names, error];
  const reported = classifyFault({ status, names: told, text: providerText(facts) });
  if (reported !== undefined) return reported;
  if (connectionErrors.has(error)) return 'network';
  return classifyFault({ status, names: [error], text }) ?? 'execution';
}

/** The program puts its own words and the status before the text of the provider. */
function providerText({ text }: ResultFacts): string {
  return text.replace(/^(?:Failed to authenticate\. )?API Error: (?:\d{3} )?/, '');
}

/** The program's own pauses are shorter. What is longer is what the provider asked for. */
const longestOwnPauseMs = 1000;

/** The failure of a request that the program announces to send again. */
export function announcedFailure(
  { error_status: reported, error, retry_delay_ms: pauseMs }: SDKAPIRetryMessage,
  limit: ResultFacts['limit'],
  policy: AccountPolicy,
): LlmError {
  const status = reported ?? undefined;
  const isConnection = status === undefined && connectionErrors.has(error);
  const kind = isConnection ? 'network' : classifyFault({ status, names: [error], text: '' });
  if (kind === 'auth') return policy.refusedError(status);
  const asked = pauseMs >= longestOwnPauseMs ? new Date(Date.now() + pauseMs) : undefined;
  const resetsAt = limit?.resetsAt ?? asked;
  return providerError(kind ?? 'network', '', { status, window: limit?.window, resetsAt });
}

/** The stream of an answer ended before the answer did. `words`: what the program says about it. */
export function brokenAnswer(words = ''): LlmError {
  return /server error/i.test(words)
    ? new LlmError('overloaded', 'The provider ended the answer with an error.')
    : new LlmError('network', 'The connection ended in the middle of the answer.');
}

/** True if a result says that a request failed. Without a login, none is sent. */
export function isRequestFailure({ isError, status, error, subtype }: ResultFacts): boolean {
  const isReported = error !== undefined && error !== 'authentication_failed';
  return isError && subtype === 'success' && (status !== undefined || isReported);
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
  const { stopReason, terminalReason, subtype } = facts;
  const unfinished = stopReason === null ? undefined : unfinishedAnswer(stopReason);
  if (status === undefined && unfinished !== undefined) return unfinished;
  if (text.trim() === '')
    return new LlmError(kind, `Claude Code ended with ${terminalReason ?? subtype}.`, { status });
  const reset = kind === 'rate_limit' ? limit : undefined;
  return providerError(kind, providerText(facts), { status, ...reset });
}

/**
 * The error of a program that ended without a result. `hasStarted`: it had reported its
 * configuration.
 */
export function noResultError(hasStarted: boolean): LlmError {
  return hasStarted
    ? new LlmError('execution', 'Claude Code ended without a result.')
    : new LlmError('spawn', 'Claude Code ended without any output.', {
        hint: 'Check whether it runs by itself: claude -p hello',
      });
}
