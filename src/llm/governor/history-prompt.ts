import type { PastTurn } from '../port/session.ts';

/** Of what a tool answered. */
const longestAnswer = 3000;
/** Of a whole conversation; what is older is left out first. */
const longestRecord = 120_000;

/** Earlier turns as text that any model can read. */
export function recordOf(past: readonly PastTurn[]): string {
  let room = longestRecord;
  const turns = past.map(inWords).toReversed();
  const kept = turns.filter((text) => (room -= text.length) > 0).toReversed();
  return [...(kept.length < turns.length ? ['(Older turns are left out.)'] : []), ...kept].join(
    '\n\n',
  );
}

function inWords({ message, text, toolCalls, stopReason }: PastTurn): string {
  const calls = toolCalls.map(({ name, input, answer, ok }) => {
    const told =
      answer.length > longestAnswer ? `${answer.slice(0, longestAnswer)} … (cut)` : answer;
    return `[tool ${name} ${JSON.stringify(input)} ${ok ? 'answered' : 'failed'}]\n${told}`;
  });
  const ended =
    stopReason === 'completed' || stopReason === 'denied' ? '' : ` (it ended there: ${stopReason})`;
  return [`User: ${message}`, ...calls, `Assistant: ${text}${ended}`].join('\n');
}
