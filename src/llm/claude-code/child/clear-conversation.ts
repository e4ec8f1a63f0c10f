import type { Query, SDKMessage } from '@anthropic-ai/claude-agent-sdk';

/**
 * The oldest release for which the tests prove that nothing is left of a conversation after it was
 * cleared.
 */
const clearsFrom = [2, 1, 325];
const clearTimeoutMs = 5000;

/** True if a program of this version can serve several calls, one after the other. */
export function canClear(version: readonly number[] = []): boolean {
  const index = clearsFrom.findIndex((part, at) => (version[at] ?? 0) !== part);
  return index < 0 || (version[index] ?? 0) > (clearsFrom[index] ?? 0);
}

/**
 * Clears the conversation of a child that has answered. False unless the program says that it
 * started a new session and asked no model; the child must not be used then.
 */
export async function clearConversation(query: Query, send: (command: string) => void) {
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(() => timeout.resolve(false), clearTimeoutMs).unref();
  send('/clear');
  try {
    return await Promise.race([readReset(query), timeout.promise]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

async function readReset(query: Query): Promise<boolean> {
  let formerSession: string | undefined;
  for (let next = await query.next(); next.done !== true; next = await query.next()) {
    const { value: message } = next;
    if (isAnswer(message)) return false;
    if (message.type === 'conversation_reset') formerSession = message.session_id;
    if (message.type !== 'result') continue;
    const hasAsked = message.num_turns > 0 || Object.keys(message.modelUsage).length > 0;
    return formerSession !== undefined && message.session_id !== formerSession && !hasAsked;
  }
  return false;
}

const isAnswer = ({ type }: SDKMessage): boolean =>
  type === 'assistant' || type === 'stream_event' || type === 'user';
