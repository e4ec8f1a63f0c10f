import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import { expect, test } from 'vitest';
import { clearConversation } from '../../src/llm/claude-code/child/clear-conversation.ts';

const reset = { type: 'conversation_reset', session_id: 'old', new_conversation_id: 'new' };
const done = {
  type: 'result',
  subtype: 'success',
  session_id: 'new',
  num_turns: 0,
  modelUsage: {},
};
const init = { type: 'system', subtype: 'init', session_id: 'new' };

/** Whether a child counts as cleared that answers with these messages, and what it was sent. */
async function clear(messages: readonly object[], failure?: Error) {
  const sent: string[] = [];
  async function* answer(): AsyncGenerator<object> {
    yield* messages;
    if (failure !== undefined) throw failure;
  }
  const query = answer() as AsyncGenerator<SDKMessage> as Query;
  const isCleared = await clearConversation(query, (command) => sent.push(command));
  expect(sent).toEqual(['/clear']);
  return isCleared;
}

test('a conversation counts as cleared once the program has a new session and asked no model', async () => {
  expect(await clear([reset, init, done])).toBe(true);
  expect(await clear([{ type: 'system', subtype: 'status', session_id: 'old' }, reset, done])).toBe(
    true,
  );
});

const doubtful: Readonly<Record<string, readonly object[]>> = {
  'no reset': [init, done],
  'the same session': [reset, { ...done, session_id: 'old' }],
  'a turn': [reset, { ...done, num_turns: 1 }],
  'tokens of a model': [reset, { ...done, modelUsage: { sonnet: {} } }],
  'an answer': [reset, { type: 'assistant', session_id: 'new' }, done],
  'the start of an answer': [{ type: 'stream_event', session_id: 'old' }, reset, done],
  'the end of the child': [reset],
};
test.each(Object.entries(doubtful))('a child with %s serves no other call', async (_, messages) => {
  expect(await clear(messages)).toBe(false);
});

test('a child that fails serves no other call', async () => {
  expect(await clear([reset], new Error('It ended.'))).toBe(false);
});
