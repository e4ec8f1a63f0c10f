import type { GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import { findRefusal } from '../../chat/refusal.ts';
import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';
import { snakeCase } from '../terminal/json-keys.ts';

/**
 * A turn for `--json` and `stream-json`: ktx's own keys in snake_case, tool inputs and rows as they
 * are.
 */
export function turnData(
  conversation: string,
  result: TurnResult,
  grounding?: readonly GroundedClaim[],
): object {
  const { toolCalls, evidence, usage, error, denials, ...rest } = result;
  const refusal = findRefusal(toolCalls);
  return {
    conversation,
    ...topLevelSnakeKeys(rest),
    tool_calls: toolCalls.map(topLevelSnakeKeys),
    evidence: evidence.map(topLevelSnakeKeys),
    usage: Object.fromEntries(
      Object.entries(usage).map(([model, tokens]) => [model, topLevelSnakeKeys(tokens)]),
    ),
    denials: denials.map(topLevelSnakeKeys),
    ...(refusal && { cannot_answer: refusal }),
    ...(grounding && { grounding }),
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}

/** An event as a line of NDJSON. `turn_end` gives none: the envelope that follows has its data. */
export function eventData(event: AgentEvent): object | undefined {
  return event.type === 'turn_end' ? undefined : topLevelSnakeKeys(event);
}

function topLevelSnakeKeys(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [snakeCase(key), inner]),
  );
}
