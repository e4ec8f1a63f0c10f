import type { BackendSession, BackendSessionSpec, SessionTurn } from '../port/backend.ts';
import { extractJson } from '../port/json-text.ts';
import { keepAlive, type ChildRunner, type ServingChild } from './child-runner.ts';
import { expectedInit, type ChildSpec } from './child/child-spec.ts';
import { childFailure } from './child/with-child.ts';
import { AnswerGate } from './conversation/answer-gate.ts';
import { checkedStopReason, readConversation } from './conversation/conversation.ts';
import type { ConversationResult } from './conversation/result-facts.ts';
import { withPromptHeader } from './prompt-header.ts';

/**
 * One child that takes message after message. Its memory is the state of the conversation; nothing
 * is saved.
 */
export function openClaudeSession(
  { start, policy }: Pick<ChildRunner, 'start' | 'policy'>,
  sessionSpec: BackendSessionSpec,
): BackendSession {
  let child: ServingChild | undefined;
  let totals: ConversationResult['totals'];
  const gate = new AnswerGate();
  const reset = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    totals = undefined;
    await ending?.end();
  };
  return {
    reset,
    async turn(turn) {
      const { message, stepBudget, monitor } = turn;
      const { signal } = monitor;
      const spec = turnSpec(sessionSpec, turn);
      const heartbeats = keepAlive(monitor);
      const onAbort = (): void => void child?.end();
      signal.addEventListener('abort', onAbort);
      try {
        child ??= await start(spec, signal);
        signal.throwIfAborted();
        heartbeats.stop();
        const asked = child;
        asked.desk.call = { tools: spec.tools, gate };
        const query = await asked.ask(withPromptHeader(message));
        const conversation = await readConversation(query, {
          expected: expectedInit(spec),
          policy,
          stepBudget,
          monitor,
          gate,
          totalsBefore: totals,
          readsToEnd: true,
          gone: asked.gone,
          ask: (next) => asked.ask(next),
        });
        totals = conversation.totals ?? totals;
        const stopReason = checkedStopReason(conversation, policy);
        const { facts, object } = conversation;
        const text =
          stopReason === 'natural' ? (facts?.text ?? conversation.text) : conversation.text;
        const isMissing = object === undefined && sessionSpec.schema !== undefined;
        return { stopReason, text, object: isMissing ? extractJson(text) : object?.value };
      } catch (error) {
        const exitReason = child?.exitReason();
        await reset();
        throw childFailure(error, signal, exitReason);
      } finally {
        heartbeats.stop();
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

function turnSpec(
  { system, tools, effort, schema, budgetLeft }: BackendSessionSpec,
  { model, stepBudget }: SessionTurn,
): ChildSpec {
  return {
    model,
    role: 'default',
    system,
    tools,
    schema: schema && { ...schema },
    stepBudget,
    effort,
    budgetLeft,
    isSingleUse: true,
  };
}
