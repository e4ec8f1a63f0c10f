import type { SDKResultMessage } from '@anthropic-ai/claude-agent-sdk';
import type { TokenUsage } from '../../port/runtime.ts';

/** What a child has used since its start, by model. */
export type UsageTotals = SDKResultMessage['modelUsage'];

/** The difference between two totals of one model. */
export function usageSince(
  total: UsageTotals[string],
  before: UsageTotals[string] | undefined,
): { readonly tokens: TokenUsage; readonly costUsd: number } {
  const tokens = {
    input: total.inputTokens - (before?.inputTokens ?? 0),
    output: total.outputTokens - (before?.outputTokens ?? 0),
    cacheRead: total.cacheReadInputTokens - (before?.cacheReadInputTokens ?? 0),
    cacheWrite: total.cacheCreationInputTokens - (before?.cacheCreationInputTokens ?? 0),
  };
  return { tokens, costUsd: total.costUSD - (before?.costUSD ?? 0) };
}

export interface StreamedApiUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
}

/** The usage that one streamed message reports. */
export function streamedTokens(usage: StreamedApiUsage): TokenUsage {
  return {
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
  };
}
