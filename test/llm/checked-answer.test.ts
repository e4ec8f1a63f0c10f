import { expect, test } from 'vitest';
import { askChecked, type SessionAnswer } from '../../src/llm/governor/answers/formatted-answer.ts';
import type { BackendSession, SessionTurn } from '../../src/llm/port/backend.ts';

const wrong = { stopReason: 'natural', text: 'Many [q7].', object: undefined } as const;

/** What is kept if the first answer is wrong, and the budgets of the turns. */
async function ask(
  second: SessionAnswer | Error,
  { stepsUsed = 2, isEnded = false } = {},
): Promise<{ readonly answer: SessionAnswer; readonly budgets: readonly number[] }> {
  const budgets: number[] = [];
  const backend: BackendSession = {
    turn: async ({ stepBudget }) => {
      budgets.push(stepBudget);
      if (budgets.length === 1) return wrong;
      if (second instanceof Error) throw second;
      return { object: undefined, ...second };
    },
    reset: async () => {},
  };
  const turn = { message: 'How many?', model: 'm', stepBudget: 5 } as SessionTurn;
  const answer = await askChecked(backend, turn, {
    check: () => '[q7]: there is no query q7',
    warn: () => {},
    stepsUsed: () => stepsUsed,
    isEnded: () => isEnded,
  });
  return { answer, budgets };
}

test('the second answer has the steps that the first one left', async () => {
  const { answer, budgets } = await ask({ stopReason: 'natural', text: 'Many [q1].' });
  expect([answer.text, budgets]).toEqual(['Many [q1].', [5, 3]]);
  expect((await ask(new Error('never asked'), { stepsUsed: 5 })).budgets).toEqual([5]);
});

test('the first answer stays if there is no second one, and the backend is told all again', async () => {
  const kept = { stopReason: 'natural', text: 'Many [q7].', isForgotten: true };
  expect((await ask({ stopReason: 'budget', text: '' })).answer).toMatchObject(kept);
  expect((await ask(new Error('gone'))).answer).toMatchObject(kept);
});

test('who ends the turn meanwhile ends it', async () => {
  await expect(ask(new Error('ended'), { isEnded: true })).rejects.toThrow('ended');
});
