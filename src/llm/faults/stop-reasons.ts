import { LlmError, type LlmErrorKind } from '../port/error.ts';

/** How an answer ended, in the words of every provider; `complete` if the model had finished. */
export const answerEnds: Readonly<Record<string, LlmErrorKind | 'complete'>> = {
  // Anthropic, also on Vertex and Bedrock, and Claude Code.
  end_turn: 'complete',
  stop_sequence: 'complete',
  tool_use: 'complete',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_too_long',
  // Only after tools that the provider runs. ktx uses none, so the answer is not finished.
  pause_turn: 'execution',
  // Amazon Bedrock.
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
  malformed_model_output: 'invalid_output',
  malformed_tool_use: 'invalid_output',
  // OpenAI, and the many endpoints that copy it.
  stop: 'complete',
  tool_calls: 'complete',
  function_call: 'complete',
  length: 'max_tokens',
  max_output_tokens: 'max_tokens',
  content_filter: 'refusal',
  // The words of the AI SDK.
  'tool-calls': 'complete',
  'content-filter': 'refusal',
};

const words: Readonly<Partial<Record<LlmErrorKind, string>>> = {
  max_tokens: 'The answer was cut off at the maximum number of output tokens.',
  refusal: 'The model refused to answer.',
  context_too_long: 'The answer filled up the context of the model.',
  invalid_output: 'The model wrote a tool call or an answer that cannot be read.',
  execution: 'The provider paused the answer for a tool that ktx does not use.',
};

/** The failure of an answer that ended by this reason; undefined if it is complete. */
export function unfinishedAnswer(reason: string): LlmError | undefined {
  const end = Object.hasOwn(answerEnds, reason) ? answerEnds[reason] : undefined;
  if (end === 'complete') return undefined;
  if (end === undefined) return new LlmError('execution', `The answer ended early (${reason}).`);
  return new LlmError(end, words[end] ?? `The answer ended early (${reason}).`);
}

/**
 * The failure of an answer that ends to call a tool, and calls none: the call was lost on its way.
 */
export function callWithoutTool(): LlmError {
  return new LlmError('network', 'The answer ended for a tool call that it does not have.');
}
