import { expect, test } from 'vitest';
import { figures } from './blind/measure.ts';
import { answersOf } from './second/kit.ts';
import { analyst } from './tenth/analyst.ts';
import { europe } from './tenth/europe.ts';
import { operations } from './tenth/operations.ts';
import { short } from './tenth/short.ts';
import { world } from './tenth/world.ts';

const tellings = [...analyst, ...short, ...operations, ...europe, ...world];

/** By the place of the text in the set. */
const halves = {
  even: tellings.filter((_, index) => index % 2 === 0),
  odd: tellings.filter((_, index) => index % 2 === 1),
};

/**
 * 74 texts in twenty-six languages, each with the rows of two seeds, written before the code ran on
 * them. At the first run, the half `even` had a recall of .966 and .086 false marks, and the half
 * `odd` .986 and .127. Then the causes of the marks of `even` were mended: it has .977 and .017,
 * and `odd`, of which no mark was looked at, .984 and .110. It is blind, apart from four runs.
 */
test.each([
  { half: 'even', least: 0.975, most: 0.02 },
  { half: 'odd', least: 0.98, most: 0.12 },
] as const)('the half $half of the tenth set', ({ half, least, most }) => {
  const own = answersOf(halves[half]);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(60);
  expect(recall).toBeGreaterThanOrEqual(least);
  expect(falseMarks, named).toBeLessThanOrEqual(most);
});
