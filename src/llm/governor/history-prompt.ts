import { shortenMarked } from '../../lib/untrusted.ts';
import type { PastTurn, ToolCallRecord } from '../port/session.ts';

/** How many characters of a conversation are told to a model that has not seen it. */
interface HistoryLimits {
  /** At most; the oldest turns are left out first. */
  readonly whole: number;
  /** Of each answer of a tool, as long as there is room. */
  readonly toolAnswer: number;
}

/**
 * What is kept of a conversation, from the usual to the least, if it does not fit the context of
 * the model.
 */
export const historyLimits = [
  { whole: 120_000, toolAnswer: 3000 },
  { whole: 40_000, toolAnswer: 1500 },
  { whole: 10_000, toolAnswer: 500 },
] as const satisfies readonly HistoryLimits[];

/** Of an answer for which there is no room. */
const leastOfAnswer = 120;

/**
 * Earlier turns as plain text, for a model that has not seen them. Answers of tools are shortened
 * before turns are left out, the oldest first. A shortened answer keeps the marks around foreign
 * text.
 */
export function writeHistoryPrompt(
  past: readonly PastTurn[],
  limits: HistoryLimits = historyLimits[0],
): string {
  const rooms = roomOfAnswers(past, limits);
  const turns: string[] = [];
  let length = 0;
  for (const turn of past.toReversed()) {
    const text = renderTurn(turn, rooms);
    length += text.length;
    if (length >= limits.whole && turns.length > 0) break;
    turns.unshift(text);
  }
  const notice = turns.length < past.length ? ['(Older turns are left out.)'] : [];
  return [...notice, ...turns].join('\n\n');
}

/**
 * How many characters each answer may have: the newest get theirs first, from two thirds of the
 * room.
 */
function roomOfAnswers(
  past: readonly PastTurn[],
  { whole, toolAnswer }: HistoryLimits,
): ReadonlyMap<ToolCallRecord, number> {
  let left = (2 * whole) / 3;
  const calls = past.flatMap(({ toolCalls }) => toolCalls).toReversed();
  return new Map(
    calls.map((call) => {
      const wanted = Math.min(call.answer.length, toolAnswer);
      const room = wanted <= left ? wanted : leastOfAnswer;
      left -= room;
      return [call, room];
    }),
  );
}

function renderTurn(
  { message, text, toolCalls, stopReason }: PastTurn,
  rooms: ReadonlyMap<ToolCallRecord, number>,
): string {
  const calls = toolCalls.map((call) => {
    const { name, input, answer, ok } = call;
    const kept = shortenMarked(answer, rooms.get(call) ?? 0);
    return `[tool ${name} ${JSON.stringify(input)} ${ok ? 'answered' : 'failed'}]\n${kept}`;
  });
  const isComplete = stopReason === 'completed' || stopReason === 'denied';
  const ending = isComplete ? '' : ` (it ended there: ${stopReason})`;
  return [`User: ${message}`, ...calls, `Assistant: ${text}${ending}`].join('\n');
}
