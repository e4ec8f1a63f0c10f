import { expect, test } from 'vitest';
import { groundAnswer } from '../../../src/chat/grounding/ground-answer.ts';
import { answerSet, type SetName } from './answer-set.ts';
import { query } from './worlds.ts';

const ungrounded = (answer: Parameters<typeof groundAnswer>[0]) =>
  groundAnswer(answer).filter(({ status }) => status === 'ungrounded');

/** Faults of names and directions change no number; whether they are noticed is not measured. */
const isOfNumbers = (operator: string) => !/member|wrong-period|wrong-direction/.test(operator);

function figures(set: SetName) {
  const { honest, doctored } = answerSet(set);
  const numbers = honest.flatMap((answer) => groundAnswer(answer));
  const marks = numbers.filter(({ status }) => status === 'ungrounded');
  const wrong = doctored.filter(({ operator }) => isOfNumbers(operator));
  const noticed = wrong.filter((answer) => {
    const [from, to] = answer.fault;
    const isAnywhere = from === to || answer.operator === 'wrong-citation';
    return ungrounded(answer).some(({ span }) => isAnywhere || (span[0] < to && from < span[1]));
  });
  return { falseMarks: marks.length / numbers.length, recall: noticed.length / wrong.length };
}

test.each([
  ['tuning', 0.995, 0.005],
  ['held', 0.995, 0.005],
  ['fresh', 0.95, 0.165],
] as const)(
  'wrong numbers of the set %s are marked, and right ones are not',
  (set, least, most) => {
    const { recall, falseMarks } = figures(set);
    expect(recall).toBeGreaterThanOrEqual(least);
    expect(falseMarks).toBeLessThanOrEqual(most);
  },
);

const regions = query('q1', {
  columns: [{ name: 'region' }, { name: 'revenue' }, { name: 'orders' }],
  rows: [
    ['EMEA', 1767173.4, 812],
    ['APAC', 903221, 377],
    ['Plan 365', 101000, 41],
  ],
  sql: 'SELECT region, sum(amount) FROM orders WHERE year = 2025 AND amount > 20 GROUP BY 1',
});
const statusesOf = (text: string, question = 'Revenue by region?') =>
  groundAnswer({ text, question, evidence: [regions] }).map((claim) => [
    claim.text.trim(),
    claim.status,
    claim.derivation,
  ]);

test.each([
  ['EMEA: 1.767.173 € [q1]', [['1.767.173', 'cell', undefined]]],
  ['EMEA 1,8 Mio. €', [['1,8 Mio.', 'cell', undefined]]],
  ['EMEA made €1.77M.', [['€1.77M', 'cell', undefined]]],
  ['EMEA made 1,767,174.', [['1,767,174', 'ungrounded', undefined]]],
  ['EMEA made 903,221.', [['903,221', 'ungrounded', undefined]]],
  [
    'All three made 2,771,394.40.',
    [
      ['three', 'derived', 'count of rows'],
      ['2,771,394.40', 'derived', 'sum'],
    ],
  ],
  ['EMEA has 63.8 % of it.', [['63.8 %', 'derived', 'a / sum']]],
  ['EMEA has 73.8 % of it.', [['73.8 %', 'ungrounded', undefined]]],
  ['EMEA is 863,952.40 ahead of APAC.', [['863,952.40', 'derived', 'a - b']]],
  [
    'In 2025, orders over 20 EUR count.',
    [
      ['2025', 'cell', undefined],
      ['20', 'cell', undefined],
    ],
  ],
  ['You asked for the top 5.', [['5', 'question', undefined]]],
  ['Plan 365 made 101,000.', [['101,000', 'cell', undefined]]],
  ['1. EMEA\n2. APAC\n\nUse `LIMIT 7`, see https://x.org/99 of 2026-01-05.', []],
  ['See [q9].', [['[q9]', 'ungrounded', undefined]]],
])('%s', (text, expected) => {
  expect(statusesOf(text, 'The top 5 regions by revenue?')).toEqual(expected);
});

test('any text and any rows end soon', () => {
  const rows = Array.from({ length: 5000 }, (_, index) => [`name ${index}`, index * 1.5, index]);
  const evidence = [
    query('q1', { columns: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], rows, sql: '' }),
  ];
  const text =
    'name 7 has 10.5 and 8,888,888 [q1]. '.repeat(30) + '9'.repeat(5000) + '1,'.repeat(2000);
  const start = performance.now();
  groundAnswer({ text, question: '', evidence });
  expect(performance.now() - start).toBeLessThan(20_000);
});
