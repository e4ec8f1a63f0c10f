import { expect, test } from 'vitest';
import { figures, halfOf } from './blind/measure.ts';
import { asian } from './second/asian.ts';
import { business } from './second/english-business.ts';
import { finance } from './second/english-finance.ts';
import { product } from './second/english-product.ts';
import { northern } from './second/german-dutch-polish.ts';
import { answersOf } from './second/kit.ts';
import { romance } from './second/romance.ts';

const answers = answersOf([...business, ...product, ...finance, ...northern, ...romance, ...asian]);

/**
 * 81 texts of which each is told with the rows of two seeds, by an author who had read neither the
 * grounding nor another set.
 */
test.each([
  ['tuned', 0, 1],
  ['aside', 0, 1],
] as const)('the half %s of the second set written blind', (half, least, most) => {
  const own = answers.filter((answer) => halfOf(answer) === half);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(60);
  expect(recall).toBeGreaterThanOrEqual(least);
  expect(falseMarks, named).toBeLessThanOrEqual(most);
});
