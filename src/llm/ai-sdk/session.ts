import type { ModelMessage } from 'ai';
import type { BackendSession, BackendSessionSpec } from '../port/backend.ts';
import { extractJson } from '../port/json-text.ts';
import type { AiSdkContext } from './request.ts';
import { streamCall } from './stream-call.ts';

/** A conversation. Its only state is the list of messages so far. */
export function openAiSdkSession(
  context: AiSdkContext,
  { system, tools, effort, schema }: BackendSessionSpec,
): BackendSession {
  let messages: readonly ModelMessage[] = [];
  return {
    async turn({ model, message, stepBudget, monitor }) {
      const call = {
        role: 'default',
        model,
        prompt: message,
        system,
        tools,
        temperature: undefined,
        tags: { stage: 'session' },
        monitor,
      } as const;
      const answer = await streamCall(context, call, {
        stepBudget,
        history: messages,
        effort,
        ...(schema && { schema }),
      });
      const { stopReason, text } = answer;
      messages = [...messages, { role: 'user', content: message }, ...(await answer.messages())];
      return { stopReason, text, object: schema && extractJson(text) };
    },
    reset() {
      messages = [];
      return Promise.resolve();
    },
  };
}
