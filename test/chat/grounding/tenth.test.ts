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

test.each(['even', 'odd'] as const)('the half %s of the tenth set', (half) => {
  const own = answersOf(halves[half]);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(60);
  expect(recall).toBeGreaterThanOrEqual(0.98);
  expect(falseMarks, named).toBeLessThanOrEqual(0.02);
});
