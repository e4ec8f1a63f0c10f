import type { BackendSession, SessionCall, SessionTurn } from '../port/backend.ts';
import type { Access } from './access.ts';
import { type Conversation, endOf, follow } from './conversation/conversation.ts';
import type { Launched } from './child/launch.ts';
import { expectedOf, type Order } from './child/child-spec.ts';
import { failureOf } from './child/with-child.ts';

interface ChildSource {
  readonly start: (order: Order, signal: AbortSignal) => Promise<Launched>;
  readonly access: Access;
  readonly headed: (text: string) => string;
}

/** One child that takes message after message; its memory is the state of the conversation. Nothing of it is saved. */
export function openClaudeSession(
  { start, access, headed }: ChildSource,
  { system, tools, effort, schema, budgetLeft }: SessionCall,
): BackendSession {
  let child: Launched | undefined;
  let totals: Conversation['totals'];
  const reset = async (): Promise<void> => {
    const ending = child;
    [child, totals] = [undefined, undefined];
    await ending?.end();
  };
  const orderOf = ({ model, stepBudget }: SessionTurn): Order => {
    return {
      model,
      role: 'default',
      system,
      tools,
      schema: schema && { ...schema },
      stepBudget,
      effort,
      budgetUsd: budgetLeft(),
    };
  };
  return {
    reset,
    async turn(turn) {
      const { message, stepBudget, watch } = turn;
      const { signal } = watch;
      const order = orderOf(turn);
      // A child that starts is no model that is silent; its own clock is shorter.
      const starting = setInterval(() => watch.alive(), 1000);
      const onAbort = (): void => void child?.end();
      signal.addEventListener('abort', onAbort);
      try {
        child ??= await start(order, signal);
        signal.throwIfAborted();
        clearInterval(starting);
        watch.alive();
        const query = await child.ask(headed(message));
        const conversation = await follow(query, {
          expected: expectedOf(order),
          access,
          stepBudget,
          watch,
          before: totals,
          goesOn: true,
        });
        totals = conversation.totals ?? totals;
        const stopReason = endOf(conversation, access);
        const text =
          stopReason === 'natural'
            ? (conversation.facts?.text ?? conversation.text)
            : conversation.text;
        return { stopReason, text, object: conversation.object?.value };
      } catch (error) {
        const fate = child?.fate();
        await reset();
        throw failureOf(error, signal, fate);
      } finally {
        clearInterval(starting);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
