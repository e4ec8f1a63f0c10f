import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';

const quarters = rowsOf(
  'q1',
  'quarter revenue',
  ['2024-Q1', 2960],
  ['2024-Q2', 3850],
  ['2024-Q3', 3100],
);
const budget = rowsOf(
  'q1',
  'team plan actual',
  ['Sales', 297_973, 619_513],
  ['IT', 466_691, 200_859],
);
const rates = rowsOf('q1', 'half won lost', ['H1', 186, 368], ['H2', 192, 369]);
const waits = rowsOf('q1', 'month minutes', ['2025-06', 174], ['2025-07', 160], ['2025-08', 168]);

/** The word that is marked, if any. */
test.for([
  ['an entry of a list', quarters, '- Q1: 2,960\n- Q2: 3,850 (down 30.1%)', 'down'],
  ['in German', quarters, 'Im Q3 2024 sank der Umsatz um 19,5 %.', undefined],
  ['wrong in German', quarters, 'Im Q3 2024 stieg der Umsatz um 19,5 %.', 'stieg'],
  ['in Polish', quarters, 'Q2 2024: wzrost o 30,1%.', undefined],
  ['wrong in Dutch', quarters, 'In Q2 2024 een daling van 30,1%.', 'daling'],
  ['against a plan', budget, 'Sales spent 619,513, which is 321,540 under its plan.', 'under'],
  [
    'right against a plan',
    budget,
    'Sales spent 619,513, which is 321,540 over its plan.',
    undefined,
  ],
  ['points', rates, 'H1 33.6% (186 of 554), H2 34.2% (192 of 561): down 0.7 points.', 'down'],
  ['a name behind', waits, 'In July it took 160, 14 minutes more than in June.', 'more'],
  ['right behind', waits, 'In July it took 160, 14 minutes less than in June.', undefined],
  ['a later name behind', waits, 'In July it took 160, 8 less than in August.', undefined],
  ['a bound', waits, 'Over 14 minutes were saved in July.', undefined],
  ['a condition', quarters, 'If Q2 2024 fell by 30.1% we would know.', undefined],
  ['a sign', quarters, 'Q3 2024: −19.5% up to now.', undefined],
] as const)('%s', ([, evidence, text, expected]) => {
  const marked = groundAnswer({ text, question: '', evidence: [evidence] }).filter(
    ({ kind }) => kind === 'direction',
  );
  expect(marked.map((claim) => claim.text)).toEqual(expected === undefined ? [] : [expected]);
  for (const { span, reason } of marked) {
    expect(text.slice(...span)).toBe(expected);
    expect(reason).toMatch(
      /^the rows say the opposite: from [\d.]+ \(q1, .+\) to [\d.]+ \(q1, .+\)$/,
    );
  }
});

const stores = rowsOf('q1', 'store sales', ['Bath', 52_100], ['Ely', 48_100], ['Wells', 31_100]);

test.for([
  ['Ely has the highest sales.', 'highest'],
  ['Bath has the highest sales.', undefined],
  ['The lowest sales are in Ely, says q1.', 'lowest'],
  ['Die wenigsten Verkäufe hat Bath.', 'wenigsten'],
  ['Ely has the second highest sales.', undefined],
  ['Of the others, Ely sells most.', undefined],
  ['Ely does not have the most sales.', undefined],
  ['Ely and Bath have the most sales.', undefined],
] as const)('%s', ([text, expected]) => {
  const marked = groundAnswer({ text, question: '', evidence: [stores] }).filter(
    ({ kind }) => kind === 'direction',
  );
  expect(marked.map((claim) => claim.text)).toEqual(expected === undefined ? [] : [expected]);
});
