import { expect, test } from 'vitest';
import { figures } from './blind/measure.ts';
import { answersOf } from './second/kit.ts';
import { answers } from './twelfth/answers.ts';

/** 17 texts with the rows of two seeds, written and committed before the code ran on them. */
test('the twelfth set', () => {
  const { recall, falseMarks, named } = figures(answersOf(answers));
  expect(recall).toBeGreaterThanOrEqual(0.98);
  expect(falseMarks, named).toBeLessThanOrEqual(0.02);
});
