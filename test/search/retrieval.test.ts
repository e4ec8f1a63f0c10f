import { beforeAll, expect, test } from 'vitest';
import { answerQuestions, type Answered, recall } from '../../bench/search/score.ts';

let answers: readonly Answered[];
beforeAll(() => {
  answers = answerQuestions();
});

test('half of the questions have no word of the name of what they look for', () => {
  const indirect = answers.filter(({ isIndirect }) => isIndirect);
  expect(answers.length).toBeGreaterThanOrEqual(150);
  expect(indirect.length).toBeGreaterThanOrEqual(answers.length / 2);
});

test('on questions that ranking was not tuned on, ktx misses less than half of what BM25 misses', () => {
  const setAside = answers.filter(({ isSetAside }) => isSetAside);
  const missed = (by: 'ktx' | 'bm25') => 1 - recall(setAside, by, 3);
  expect(missed('ktx')).toBeLessThan(missed('bm25') / 2);
  expect(recall(setAside, 'ktx', 3)).toBeGreaterThanOrEqual(0.78);
});

test('pages lead to what they are about', () => {
  const without = answerQuestions('refs');
  expect(recall(answers, 'ktx', 3)).toBeGreaterThan(recall(without, 'ktx', 3) + 0.1);
});
