import type { GroundedClaim } from '../../chat/grounding/ground-answer.ts';
import type { OpenAgent } from '../../chat/open-agent.ts';
import type { PastExchange } from '../../chat/transcript.ts';
import type { TurnResult } from '../../llm/port/session.ts';
import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { groundingLines } from './grounding-text.ts';
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
  /** What no query gives. */
  readonly ungrounded: readonly string[];
}

export function shownExchanges(
  past: readonly PastExchange[],
  exchanges: readonly ChatExchange[],
): readonly ShownExchange[] {
  return [...past.map((turn) => ({ ...turn, ungrounded: [] })), ...exchanges.map(shownExchange)];
}

export function shownExchange({ message, result, grounding }: ChatExchange): ShownExchange {
  return {
    message,
    text: result.text,
    evidence: result.evidence,
    receipt: receiptLine(result),
    ungrounded: groundingLines(grounding),
  };
}

/** `analyst (claude-sonnet) about shop` */
export function aboutText({ agent, model, connections }: OpenAgent['about']): string {
  return `${agent} (${model}) about ${connections.join(', ')}`;
}
