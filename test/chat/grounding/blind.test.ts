import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { groundAnswer } from '../../../src/chat/grounding/ground-answer.ts';
import { Dice } from '../../conformance/seeded.ts';
import type { BlindAnswer } from './blind/answer.ts';
import { englishAnswers } from './blind/english.ts';
import { faultsOf, plainText } from './blind/faults.ts';
import { moreAnswers } from './blind/more.ts';
import { otherAnswers } from './blind/others.ts';

const answers = [...englishAnswers, ...otherAnswers, ...moreAnswers];

const halfOf = ({ id }: BlindAnswer): 'tuned' | 'aside' =>
  (createHash('sha256').update(id).digest()[0] ?? 0) % 2 === 0 ? 'tuned' : 'aside';

/** Faults of names and directions change no number. */
const isOfNumbers = (operator: string) => !/member|wrong-period|wrong-direction/.test(operator);

function figures(own: readonly BlindAnswer[]) {
  const ungrounded = (answer: BlindAnswer, text: string) =>
    groundAnswer({ ...answer, text }).filter(({ status }) => status === 'ungrounded');
  const claims = own.flatMap((answer) =>
    groundAnswer({ ...answer, text: plainText(answer.text) }).map((claim) => ({
      ...claim,
      answer,
    })),
  );
  const marked = claims.filter(({ status }) => status === 'ungrounded');
  const faulty = own.flatMap((answer) =>
    faultsOf(answer.text, new Dice(answer.id.length)).map((fault) => {
      const [from, to] = fault.span;
      const found = ungrounded(answer, fault.text);
      const isAnywhere = fault.operator === 'wrong-citation';
      return {
        ...fault,
        isNoticed: found.some(({ span }) => isAnywhere || (span[0] < to && from < span[1])),
      };
    }),
  );
  const wrong = faulty.filter(({ operator }) => isOfNumbers(operator));
  return {
    falseMarks: marked.length / claims.length,
    recall: wrong.filter(({ isNoticed }) => isNoticed).length / wrong.length,
    named: marked.map(({ answer, text }) => `${answer.id}: ${text}`).join('; '),
  };
}

/**
 * 120 answers whose author had read the code of the grounding, and neither its other sets nor a
 * result. At their first run, 1934 of 1973 wrong numbers were noticed (98.0 %) and 11 of 269 right
 * ones marked (4.1 %). The half `aside` was not looked at while words and sums of periods were
 * mended with `tuned`: 977 of 1001 (97.6 %) and 6 of 142 (4.2 %).
 */
test.each([
  ['tuned', 0.98, 0.01],
  ['aside', 0.97, 0.045],
] as const)('the half %s of answers written blind', (half, least, most) => {
  const own = answers.filter((answer) => halfOf(answer) === half);
  const { recall, falseMarks, named } = figures(own);
  expect(own.length).toBeGreaterThan(50);
  expect(recall).toBeGreaterThanOrEqual(least);
  expect(falseMarks, named).toBeLessThanOrEqual(most);
});
