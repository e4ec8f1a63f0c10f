import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';

const shop = rowsOf(
  'q1',
  'month revenue orders',
  ['2025-04', 54_321, 905],
  ['2025-05', 61_234, 844],
  ['2025-06', 58_001, 871],
);
const years = rowsOf('q1', 'year orders returns', [2023, 2000, 130], [2024, 3000, 66]);
const regions = rowsOf('q1', 'region revenue', ['North', 54_321], ['South', 61_234]);

/** The direction that is marked, if any. */
test.for([
  ['from less to more', shop, 'Revenue fell from 54,321 to 61,234 [q1].', 'fell'],
  ['with words between', shop, 'Orders rose sharply, from 905 in April to 844 in May.', 'rose'],
  ['from behind', shop, 'Revenue was 61,234, down from 54,321.', 'down'],
  ['German', shop, 'Der Umsatz ist von 54.321 auf 61.234 gesunken.', 'gesunken'],
  ['French', shop, 'Les ventes ont baissé de 54 321 à 61 234 €.', 'baissé'],
  ['Spanish', shop, 'Los pedidos subieron de 905 a 844.', 'subieron'],
  ['the times of two rows', shop, 'Revenue dropped to 61,234 in May (April 54,321).', 'dropped'],
  ['the amount', shop, 'Revenue fell by 6,913 between April and May.', 'fell'],
  ['the amount in German', shop, 'Der Umsatz ist im Mai um 6.913 gesunken.', 'gesunken'],
  ['the right amount', shop, 'Revenue rose by 6,913 between April and May.', undefined],
  ['right', shop, 'Revenue rose from 54,321 to 61,234 [q1].', undefined],
  ['right in German', shop, 'Die Bestellungen sanken von 905 auf 844.', undefined],
  ['shares with their years', years, 'Returns fell from 6.5% in 2023 to 2.2% in 2024.', undefined],
  ['two years', years, 'The returns of 2023 fell in 2024.', undefined],
  ['another column', shop, 'Revenue rose from 54,321 to 844 orders.', undefined],
  ['a denial', shop, 'Revenue did not fall from 54,321 to 61,234.', undefined],
  ['another subject', shop, 'Orders fell, while revenue went from 54,321 to 61,234.', undefined],
  ['a third month', shop, 'In June it fell; April had 54,321 and May 61,234.', undefined],
  ['rows without a time', regions, 'Prices fell in North 54,321 and South 61,234.', undefined],
] as const)('%s', ([, evidence, text, expected]) => {
  const marked = groundAnswer({ text, question: '', evidence: [evidence] }).filter(
    ({ kind }) => kind === 'direction',
  );
  expect(marked.map((claim) => claim.text)).toEqual(expected === undefined ? [] : [expected]);
  for (const { status, reason, span } of marked) {
    expect([status, text.slice(...span)]).toEqual(['ungrounded', expected]);
    expect(reason).toMatch(/the rows say the opposite: from [\d., ]+ \(q1, row 1\) to .*row 2\)/u);
  }
});
