import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import type { LlmError } from '../../port/error.ts';
import type { ResultFacts } from './outcome.ts';
import type { UsageTotals } from './token-usage.ts';
import type { GivenObject } from './tool-calls.ts';

export interface ConversationResult {
  /** Undefined if ktx ended the conversation: after an accepted object, or past the step budget. */
  readonly facts: ResultFacts | undefined;
  /** True if ktx ended the conversation because the model had answered. */
  readonly isAnswered: boolean;
  /** Text of the last turn. */
  readonly text: string;
  /** Full id of the model that answered last. */
  readonly model: string | undefined;
  /** The object that the program accepted. */
  readonly object: GivenObject | undefined;
  /** What the child has used since its start; undefined without a result. */
  readonly totals: UsageTotals | undefined;
  /** Release of the program. */
  readonly version: readonly number[] | undefined;
  /** Set with `startsOver`: why a request failed before anything was done. */
  readonly unanswered?: LlmError | undefined;
}

/** What newer releases report besides the status. */
const reportedFailure = z.looseObject({
  api_error_type: z.string().optional().catch(undefined),
  api_error: z.string().optional().catch(undefined),
});

/** What a result says about how the call ended, with what came before it. */
export function resultFacts(
  result: SDKResultMessage,
  error: string | undefined,
  limit: ResultFacts['limit'],
): ResultFacts {
  const isSuccess = result.subtype === 'success';
  const { data: failure } = reportedFailure.safeParse(result);
  return {
    subtype: result.subtype,
    isError: result.is_error,
    terminalReason: result.terminal_reason,
    stopReason: result.stop_reason,
    status: isSuccess ? (result.api_error_status ?? undefined) : undefined,
    error,
    names: [failure?.api_error_type, failure?.api_error],
    limit,
    text: isSuccess ? result.result : result.errors.join('; '),
  };
}

/** The program drops an answer that spends the rest of the budget. It is paid for, so it counts. */
export function completeFacts(facts: ResultFacts, text: string): ResultFacts {
  const complete = { isError: false, terminalReason: 'completed', stopReason: null } as const;
  return { ...facts, ...complete, subtype: 'success', text };
}
