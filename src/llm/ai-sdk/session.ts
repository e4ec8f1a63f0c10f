import type { ModelMessage } from 'ai';
import type { BackendSession, SessionCall } from '../port/backend.ts';
import { jsonIn } from './json-text.ts';
import type { Session } from './request.ts';
import { run } from './run.ts';

/** A conversation whose state is its messages. */
export function openAiSdkSession(
  session: Session,
  { system, tools, effort, schema }: SessionCall,
): BackendSession {
  let messages: readonly ModelMessage[] = [];
  return {
    async turn({ model, message, stepBudget, watch }) {
      const call = {
        role: 'default',
        model,
        prompt: message,
        system,
        tools,
        temperature: undefined,
        tags: { stage: 'session' },
        watch,
      } as const;
      const answer = await run(session, call, {
        stepBudget,
        history: messages,
        effort,
        ...(schema && { schema }),
      });
      const { stopReason, text } = answer;
      messages = [...messages, { role: 'user', content: message }, ...(await answer.messages())];
      return { stopReason, text, object: schema && jsonIn(text) };
    },
    reset() {
      messages = [];
      return Promise.resolve();
    },
  };
}
