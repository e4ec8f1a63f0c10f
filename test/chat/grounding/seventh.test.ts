import { expect, test } from 'vitest';
import { figures } from './blind/measure.ts';
import { abroad } from './eighth/abroad.ts';
import { services } from './eighth/services.ts';
import { answersOf } from './second/kit.ts';
import { analyses } from './seventh/analyses.ts';
import { chatty } from './seventh/chatty.ts';
import { elsewhere } from './seventh/elsewhere.ts';
import { europe } from './seventh/europe.ts';
import { formal } from './seventh/formal.ts';
import { ordinary } from './seventh/ordinary.ts';
import { summaries } from './seventh/summaries.ts';
import { varied } from './seventh/varied.ts';

const seventh = [
  ...summaries,
  ...analyses,
  ...elsewhere,
  ...formal,
  ...chatty,
  ...varied,
  ...ordinary,
  ...europe,
];

/**
 * 166 texts as assistants write them: headlines, lists, tables, limits of the question, remarks.
 * They were written in five parts, each before the rules knew it: at their first runs .070, .098,
 * .064, .024 and .000 of the right numbers were marked. The rules were made by these texts.
 */
test('the seventh set, in the style of assistants', () => {
  const own = answersOf(seventh).filter(({ id }) => id.endsWith('#1'));
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(150);
  expect(recall).toBeGreaterThanOrEqual(0.98);
  expect(falseMarks, named).toBeLessThanOrEqual(0.005);
});

/**
 * 35 texts of other fields, in nine languages, each with the rows of two seeds. They were written
 * before the seventh set was first run, and run when its rules stood: .042 of the right numbers
 * were marked. Then the causes were mended, so this later figure is no longer blind.
 */
test('the eighth set', () => {
  const { recall, falseMarks, named } = figures(answersOf([...services, ...abroad]));
  expect(recall).toBeGreaterThanOrEqual(0.98);
  expect(falseMarks, named).toBeLessThanOrEqual(0.02);
});
