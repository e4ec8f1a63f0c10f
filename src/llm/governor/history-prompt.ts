import type { PastTurn } from '../port/session.ts';

/** Characters of one tool answer. */
const longestToolAnswer = 3000;
/** Characters of a whole history. The oldest turns are left out first. */
const longestHistory = 120_000;

/** Earlier turns as plain text, for a model that has not seen them. */
export function historyPrompt(past: readonly PastTurn[]): string {
  let room = longestHistory;
  const newestFirst = past.map(turnText).toReversed();
  const turns = newestFirst.filter((text) => (room -= text.length) > 0).toReversed();
  const notice = turns.length < past.length ? ['(Older turns are left out.)'] : [];
  return [...notice, ...turns].join('\n\n');
}

function turnText({ message, text, toolCalls, stopReason }: PastTurn): string {
  const calls = toolCalls.map(({ name, input, answer, ok }) => {
    const shown =
      answer.length > longestToolAnswer ? `${answer.slice(0, longestToolAnswer)} … (cut)` : answer;
    return `[tool ${name} ${JSON.stringify(input)} ${ok ? 'answered' : 'failed'}]\n${shown}`;
  });
  const isComplete = stopReason === 'completed' || stopReason === 'denied';
  const ending = isComplete ? '' : ` (it ended there: ${stopReason})`;
  return [`User: ${message}`, ...calls, `Assistant: ${text}${ending}`].join('\n');
}
