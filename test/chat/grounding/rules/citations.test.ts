import { expect, test } from 'vitest';
import { wrongCitations } from '../../../../src/chat/grounding/names/wrong-citations.ts';
import { rowsOf } from '../blind/answer.ts';

const evidence = [rowsOf('q1', 'orders', [48_214]), rowsOf('q2', 'revenue', [903_221.5])];

/** What is said to the model of the citations of an answer; undefined where they hold. */
test.for([
  ['the query that has it', 'There are 48,214 orders [q1].', undefined],
  ['both in one', 'There are 48,214 orders and 903,221.50 EUR [q1, q2].', undefined],
  ['no citation', 'There are 48,214 orders.', undefined],
  ['no query of this name', 'There are 48,214 orders [q7].', '[q7]: there is no query q7'],
  [
    'another query than the one that has it',
    'There are 48,214 orders [q2].',
    '48,214: it stands in q1, which is not cited for it',
  ],
  ['a number of no query: asking for citations mends none', 'There are 51,777 [q1].', undefined],
] as const)('%s', ([, text, expected]) => {
  expect(wrongCitations(text, 'How many orders?', evidence)).toBe(expected);
});

test('at most five reasons go to the model', () => {
  const text = [1, 2, 3, 4, 5, 6, 7].map((id) => `Many [q1${id}].`).join(' ');
  expect(wrongCitations(text, '', evidence)?.split('\n')).toHaveLength(5);
});
