import { describe, expect, test } from 'vitest';
import { LlmError, type LlmErrorKind } from '../../src/llm/port/error.ts';
import { ownSessionPolicy } from '../../src/llm/claude-code/account-policy.ts';
import {
  type ResultFacts,
  classifyResult,
} from '../../src/llm/claude-code/conversation/outcome.ts';

const good: ResultFacts = {
  subtype: 'success',
  isError: false,
  terminalReason: 'completed',
  stopReason: 'end_turn',
  status: undefined,
  error: undefined,
  text: 'Said.',
};
const failing: ResultFacts = {
  ...good,
  isError: true,
  terminalReason: 'api_error',
  stopReason: 'stop_sequence',
};

function kindOf(
  facts: Partial<ResultFacts>,
  base = failing,
): LlmErrorKind | 'natural' | 'budget' | 'money' {
  const outcome = classifyResult({ ...base, ...facts }, ownSessionPolicy);
  if (outcome.kind !== 'failed') return outcome.kind;
  return outcome.failure instanceof LlmError ? outcome.failure.kind : 'money';
}

describe('a result of Claude Code', () => {
  test('is natural only if every field agrees [R1 R2 R9]', () => {
    expect(kindOf({}, good)).toBe('natural');
    expect(kindOf({ terminalReason: undefined, stopReason: null }, good)).toBe('natural');
    expect(kindOf({ stopReason: 'tool_use' }, good)).toBe('natural');
    expect(kindOf({ isError: true }, good)).not.toBe('natural');
    expect(kindOf({ subtype: 'error_during_execution' }, good)).toBe('execution');
    expect(kindOf({ stopReason: 'refusal' }, good)).toBe('refusal');
    expect(kindOf({ stopReason: 'max_tokens' }, good)).toBe('max_tokens');
    expect(kindOf({ stopReason: 'pause_turn' }, good)).toBe('execution');
  });

  test.for([
    { subtype: 'error_max_turns' },
    { terminalReason: 'max_turns' },
    { stopReason: 'max_turns' },
    {
      subtype: 'error_max_turns',
      isError: true,
      terminalReason: 'max_turns',
      stopReason: 'tool_use',
    },
  ] as const)('is a spent budget whatever says so: %o [R2 R3 R4 R5 Q7]', (facts) => {
    expect(kindOf(facts, good)).toBe('budget');
    expect(kindOf(facts, failing)).toBe('budget');
  });

  test.for([
    ['blocking_limit', 'context_too_long'],
    ['rapid_refill_breaker', 'context_too_long'],
    ['prompt_too_long', 'context_too_long'],
    ['image_error', 'context_too_long'],
    ['model_error', 'execution'],
    ['aborted_streaming', 'aborted'],
    ['aborted_tools', 'aborted'],
    ['stop_hook_prevented', 'execution'],
    ['hook_stopped', 'execution'],
    ['tool_deferred', 'execution'],
    ['structured_output_retry_exhausted', 'invalid_output'],
    ['a_reason_of_tomorrow', 'execution'],
  ] as const)('that ended by %s is %s [R3 Q7]', ([terminalReason, kind]) => {
    expect(kindOf({ terminalReason }, { ...good, isError: true })).toBe(kind);
    // Without the flag, too: the reason alone is enough.
    expect(kindOf({ terminalReason }, good)).toBe(kind);
  });

  // Each row as the real program gives it; the first ones differ between releases in the error or
  // the terminal reason.
  const rows: readonly (readonly [Partial<ResultFacts>, LlmErrorKind | 'money'])[] = [
    [{ error: 'authentication_failed' }, 'auth'],
    [{ error: 'authentication_failed', status: 401 }, 'auth'],
    [{ error: 'authentication_failed', status: 403 }, 'permission'],
    [{ error: 'invalid_request', status: 404, terminalReason: 'completed' }, 'model_unavailable'],
    [{ error: 'model_not_found', status: 404 }, 'model_unavailable'],
    [{ error: 'billing_error', status: 400 }, 'billing'],
    [{ error: 'billing_error', status: 402 }, 'billing'],
    [
      { error: 'invalid_request', status: 400, terminalReason: 'prompt_too_long' },
      'context_too_long',
    ],
    [{ error: 'invalid_request', status: 413, terminalReason: 'image_error' }, 'context_too_long'],
    [{ error: 'rate_limit', status: 429 }, 'rate_limit'],
    [{ error: 'server_error', status: 500 }, 'overloaded'],
    [{ error: 'server_error', status: 529, terminalReason: 'completed' }, 'overloaded'],
    [{ error: 'server_error' }, 'network'],
    [{ error: 'unknown', terminalReason: 'completed' }, 'network'],
    [{ error: 'unknown', status: 400 }, 'execution'],
    [{ error: 'oauth_org_not_allowed' }, 'permission'],
    [{ error: 'max_output_tokens' }, 'max_tokens'],
    [{ error: 'invalid_request', stopReason: 'refusal' }, 'refusal'],
    [
      { subtype: 'error_max_structured_output_retries', terminalReason: undefined },
      'invalid_output',
    ],
    [{ subtype: 'error_max_budget_usd', terminalReason: undefined }, 'money'],
  ];
  test.for(rows)('with %o is %s, from its fields alone [R2 R9 T8 E16 E17]', ([facts, kind]) => {
    expect(kindOf(facts)).toBe(kind);
    expect(
      kindOf({
        ...facts,
        text: 'rate limit 429 invalid api key, not logged in',
      }),
    ).toBe(kind);
  });

  test('keeps the status, and window and reset of a limit [E16]', () => {
    const resetsAt = new Date('2030-01-02T03:04:05Z');
    const outcome = classifyResult(
      { ...failing, error: 'rate_limit', status: 429, limit: { window: 'five_hour', resetsAt } },
      ownSessionPolicy,
    );
    expect(outcome).toMatchObject({
      failure: { kind: 'rate_limit', status: 429, window: 'five_hour', resetsAt, exitCode: 1 },
    });
  });

  test('without a session says to authenticate Claude Code locally [E8 E13]', () => {
    const outcome = classifyResult(
      { ...failing, error: 'authentication_failed', text: 'Not logged in' },
      ownSessionPolicy,
    );
    expect(outcome).toMatchObject({
      failure: {
        exitCode: 4,
        message: expect.stringMatching(/^Authenticate Claude Code locally/),
        hint: expect.stringContaining('claude auth login'),
      },
    });
  });
});
