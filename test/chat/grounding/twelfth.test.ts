import { expect, test } from 'vitest';
import { figures } from './blind/measure.ts';
import { answersOf } from './second/kit.ts';
import { answers } from './twelfth/answers.ts';

/**
 * 17 texts in six languages with the rows of two seeds, written before the code ran on them. Their
 * only run had a recall of .966 and .049 false marks; no mark was looked at.
 */
test('the twelfth set', () => {
  const { recall, falseMarks, named } = figures(answersOf(answers));
  expect(recall).toBeGreaterThanOrEqual(0.96);
  expect(falseMarks, named).toBeLessThanOrEqual(0.05);
});
