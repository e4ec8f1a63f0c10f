import { expect, test } from 'vitest';
import { figures, halfOf } from './blind/measure.ts';
import { asian } from './fifth/asian.ts';
import { company } from './fifth/company.ts';
import { european } from './fifth/european.ts';
import { field } from './fifth/field.ts';
import { germanic } from './fifth/germanic.ts';
import { trade } from './fifth/trade.ts';
import { answersOf } from './second/kit.ts';
import { mixed } from './sixth/mixed.ts';

const fifth = answersOf([...company, ...trade, ...field, ...germanic, ...european, ...asian]);

/**
 * 104 texts in fourteen languages, each with the rows of two seeds, written before their author
 * read the grounding. At their first run, the half `tuned` had a recall of .985 and .087 false
 * marks, the half `aside` .986 and .085. Single answers of `aside` were not looked at while classes
 * of false marks were mended with the tuned halves of all sets and with 130 answers that are not
 * kept; then it had .985 and .076, the half `tuned` .984 and .014.
 */
test.each([
  ['tuned', 0.98, 0.015],
  ['aside', 0.98, 0.076],
] as const)('the half %s of the fifth set written blind', (half, least, most) => {
  const own = fifth.filter((answer) => halfOf(answer) === half);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(80);
  expect(recall).toBeGreaterThanOrEqual(least);
  expect(falseMarks, named).toBeLessThanOrEqual(most);
});

/**
 * 20 texts with the rows of two seeds, written after that by the same author, who knew the rules by
 * then. Nothing was tuned to them: .989 and .000 in one half, .989 and .014 in the other.
 */
test('the sixth set', () => {
  const { recall, falseMarks, named } = figures(answersOf(mixed));
  expect(recall).toBeGreaterThanOrEqual(0.98);
  expect(falseMarks, named).toBeLessThanOrEqual(0.02);
});
