import type { PastTurn } from '../port/session.ts';

/** How many characters of a tool answer are kept. */
const longestToolAnswer = 3000;
/** How many characters a history has at most. The oldest turns are left out first. */
const longestHistory = 120_000;

/** Earlier turns as plain text, for a model that has not seen them. */
export function writeHistoryPrompt(past: readonly PastTurn[]): string {
  const turns: string[] = [];
  let length = 0;
  for (const text of past.map(renderTurn).toReversed()) {
    length += text.length;
    if (length >= longestHistory) break;
    turns.unshift(text);
  }
  const notice = turns.length < past.length ? ['(Older turns are left out.)'] : [];
  return [...notice, ...turns].join('\n\n');
}

function renderTurn({ message, text, toolCalls, stopReason }: PastTurn): string {
  const calls = toolCalls.map(({ name, input, answer, ok }) => {
    const keptAnswer =
      answer.length > longestToolAnswer ? `${answer.slice(0, longestToolAnswer)} … (cut)` : answer;
    return `[tool ${name} ${JSON.stringify(input)} ${ok ? 'answered' : 'failed'}]\n${keptAnswer}`;
  });
  const isComplete = stopReason === 'completed' || stopReason === 'denied';
  const ending = isComplete ? '' : ` (it ended there: ${stopReason})`;
  return [`User: ${message}`, ...calls, `Assistant: ${text}${ending}`].join('\n');
}
