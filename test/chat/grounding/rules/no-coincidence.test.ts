import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';

const shop = rowsOf(
  'q1',
  'month wait_s interest balance',
  ['2025-04', 189, 54_321, 987_654],
  ['2025-05', 254, 61_234, 1_122_334],
);
const plans = rowsOf('q1', 'plan seats fee', ['Pro', 2889, 29], ['Team', 471, 99]);
const sizes = rowsOf('q1', 'bytes', [748_714_665_290]);
const shares = rowsOf('q1', 'low high', [0.0042, 0.0211]);
const profit = rowsOf('q1', 'line amount', ['Revenue', 7_347_848], ['COGS', -3_986_193]);
const stores = rowsOf('q1', 'tienda faltas alumnos', ['Norte', 52, 28]);
const limits = {
  ...rowsOf('q1', 'sold', [104_794]),
  sql: "SELECT SUM(x) AS sold FROM t WHERE d BETWEEN '2025-06-01' AND '2025-06-30'",
};

test.for([
  ['a ratio that no word explains', shop, 'April: 54,321 and 987,654, 5.50%.', '5.50%', true],
  ['a wrong ratio', shop, 'April: 54,321 and 987,654, 5.90%.', '5.90%', false],
  ['seconds as minutes and seconds', shop, 'In April it took 3 min 9 s.', '9', true],
  ['wrong minutes and seconds', shop, 'In April it took 3 min 7 s.', '7', false],
  ['amounts at prices', plans, 'That makes $130,410.', '$130,410', true],
  ['wrong amounts at prices', plans, 'That makes $130,490.', '$130,490', false],
  ['bytes as gigabytes', sizes, 'The table has 749 GB.', '749', true],
  ['wrong gigabytes', sizes, 'The table has 744 GB.', '744', false],
  ['the unit behind a range', shares, 'From 0.42 to 2.11 pp.', '0.42', true],
  ['brackets of accounts', profit, '| | $ |\n|---|---|\n| COGS | (3,986,193) |', '3,986,193', true],
  ['no percentage: por', stores, 'Norte: 1,9 por alumno.', '1,9', true],
  ['a day of the period of the query', limits, 'We sold 104,794, so 3,493 a day.', '3,493', true],
  ['the days of the period', limits, 'In these 30 days we sold 104,794.', '30', true],
  ['other days', limits, 'In these 34 days we sold 104,794.', '34', false],
  ['the day of a date is no filter', limits, 'There are 6 regions.', '6', false],
  ['the month before', shop, 'In May it was 254 s, the month before 189 s.', '189', true],
  ['a cell of another row', shop, 'In May interest was 54,321.', '54,321', false],
] as const)('%s', ([, evidence, text, number, isGrounded]) => {
  const claim = groundAnswer({ text, question: '', evidence: [evidence] }).find(
    (found) => found.text === number,
  );
  expect(claim?.status === 'ungrounded', JSON.stringify(claim)).toBe(!isGrounded);
});
