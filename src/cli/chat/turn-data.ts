import type { AgentEvent, TurnResult } from '../../llm/port/session.ts';

/** What `--json` and `stream-json` say of a turn: keys of ktx in snake_case, what came from outside as it is. */
export function turnData(id: string, result: TurnResult): object {
  const { toolCalls, evidence, usage, error, denials, ...rest } = result;
  return {
    conversation: id,
    ...keys(rest),
    tool_calls: toolCalls.map(keys),
    evidence: evidence.map(keys),
    usage: Object.fromEntries(
      Object.entries(usage).map(([model, tokens]) => [model, keys(tokens)]),
    ),
    denials: denials.map(keys),
    ...(error && { error: { code: error.code, message: error.message } }),
  };
}

/** One event as a line of NDJSON; the last one is the envelope, so `turn_end` is not told twice. */
export function eventData(event: AgentEvent): object | undefined {
  return event.type === 'turn_end' ? undefined : keys(event);
}

function keys(value: object): object {
  const named = (key: string): string =>
    key.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [named(key), inner]),
  );
}
