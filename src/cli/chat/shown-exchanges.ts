import { groundAnswer, type GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import type { OpenAgent } from '../../chat/open-agent.ts';
import type { PastExchange } from '../../chat/transcript.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { receiptLine } from './turn-view.ts';

/** One question and its answer. */
export interface ChatExchange {
  readonly message: string;
  readonly result: TurnResult;
  readonly grounding?: readonly GroundedClaim[] | undefined;
}

/** A question and its answer as files show them, of this process or an earlier one. */
export interface ShownExchange {
  readonly message: string;
  readonly text: string;
  readonly evidence: readonly QueryEvidence[];
  /** What ran and what it cost; unknown for earlier turns. */
  readonly receipt?: string | undefined;
  /** What the numbers of the answer rest on. */
  readonly grounding?: readonly GroundedClaim[] | undefined;
}

export function shownExchanges(
  past: readonly PastExchange[],
  exchanges: readonly ChatExchange[],
): readonly ShownExchange[] {
  return [...past, ...exchanges.map(shownExchange)];
}

/** All exchanges, and what the numbers of earlier answers rest on, too. */
export function groundedExchanges(
  past: readonly PastExchange[],
  exchanges: readonly ChatExchange[],
): readonly ShownExchange[] {
  return [...past.map((_, index) => groundPast(past, index)), ...exchanges.map(shownExchange)];
}

/** The last exchange with what its numbers rest on; undefined if there is none. */
export function lastGrounded(
  past: readonly PastExchange[],
  exchanges: readonly ChatExchange[],
): ShownExchange | undefined {
  const last = exchanges.at(-1);
  if (last !== undefined) return shownExchange(last);
  return past.length === 0 ? undefined : groundPast(past, past.length - 1);
}

function groundPast(past: readonly PastExchange[], index: number): ShownExchange {
  const turns = past.slice(0, index + 1);
  const { message = '', text = '', evidence = [] } = turns.at(-1) ?? {};
  const question = turns.map((turn) => turn.message).join('\n');
  const queries = turns.flatMap((turn) => turn.evidence);
  return {
    message,
    text,
    evidence,
    grounding: groundAnswer({ text, question, evidence: queries }),
  };
}

export function shownExchange({ message, result, grounding }: ChatExchange): ShownExchange {
  return {
    message,
    text: result.text,
    evidence: result.evidence,
    receipt: receiptLine(result),
    grounding,
  };
}

/** `analyst (claude-sonnet) about shop` */
export function aboutText({ agent, model, connections }: OpenAgent['about']): string {
  return `${agent} (${model}) about ${connections.join(', ')}`;
}
