import { expect, test } from 'vitest';
import { figures } from './blind/measure.ts';
import { finance } from './eleventh/finance.ts';
import { german } from './eleventh/german.ts';
import { others } from './eleventh/others.ts';
import { remarks } from './eleventh/remarks.ts';
import { romance } from './eleventh/romance.ts';
import { saas } from './eleventh/saas.ts';
import { shop } from './eleventh/shop.ts';
import { subscriptions } from './eleventh/subscriptions.ts';
import { answersOf } from './second/kit.ts';

const tellings = [
  ...shop,
  ...saas,
  ...subscriptions,
  ...finance,
  ...remarks,
  ...german,
  ...romance,
  ...others,
];

/** By the place of the text in the set. */
const halves = {
  even: tellings.filter((_, index) => index % 2 === 0),
  odd: tellings.filter((_, index) => index % 2 === 1),
};

/**
 * 80 texts in thirteen languages, in the style of models in a data chat, each with the rows of two
 * seeds, written before the code ran on them. At the first run, the half `even` had a recall of
 * .982 and .103 false marks, and the half `odd` .988 and .109. Then the causes of the marks of
 * `even` were mended, and of those in 44 more texts that are not kept: `even` has .982 and .009,
 * and `odd`, of which no mark was looked at, .988 and .084. It is blind, apart from four runs.
 */
test.each([
  { half: 'even', least: 0.98, most: 0.015 },
  { half: 'odd', least: 0.98, most: 0.09 },
] as const)('the half $half of the eleventh set', ({ half, least, most }) => {
  const own = answersOf(halves[half]);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(60);
  expect(recall).toBeGreaterThanOrEqual(least);
  expect(falseMarks, named).toBeLessThanOrEqual(most);
});
