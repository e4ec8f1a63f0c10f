import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';
import { expectTwin } from './twin.ts';

const channels = rowsOf('q1', 'channel orders', ['web', 12_410], ['app', 8_120]);
const windows = { ...channels, sql: "SELECT … WHERE d > now() - interval '90 days'" };

const marksOf = (text: string, evidence = channels) =>
  groundAnswer({ text, question: '', evidence: [evidence] })
    .filter(({ status }) => status === 'ungrounded')
    .map((claim) => claim.text);

test.for([
  ['a question', 'Shall I list the 20 largest orders of 2023?', []],
  ['an offer', 'If you like, I can use a threshold of 80% instead.', []],
  ['an offer in French', 'Je peux aussi donner les 13 régions.', []],
  ['an offer behind a claim', 'There are 417 others; ask if you need them all.', ['417']],
  ['a fact about a row in a question', 'Did you know that the app has only 12?', ['12']],
  ['a share in a question', 'Should I explain why sales lost 45 % last year?', ['45 %']],
  ['an amount in an offer', 'I can add the $51,777 of last year.', ['$51,777']],
  ['what an agent claims to see', 'I could find 37 refunds.', ['37']],
  ['a norm', 'Weeks follow ISO 8601.', []],
  ['a version', 'Users of iOS 15 are left out.', []],
  ['points of a list', 'Points 1 and 3 are minor.', []],
  ['what was looked at', 'I checked 4 of the 27 columns.', []],
  ['what a row could be', 'We sold 27 tables.', ['27']],
  ['a term', 'Orders may still be returned within 30 days.', []],
] as const)('%s', ([, text, marks]) => {
  expect(marksOf(text)).toEqual(marks);
});

test('a window of another length than that of the query is marked', () => {
  expect(marksOf('Orders within 30 days count.', windows)).toEqual(['30']);
});

test('a year in what would come next is no claim, and one that has been is', () => {
  const years = rowsOf('q1', 'year revenue', [2024, 1_204_000], [2025, 1_391_500]);
  const said = (year: number) => `At the same rate, ${year} would reach $1.61M.`;
  expect(marksOf(said(2026), years)).not.toContain('2026');
  expect(marksOf(said(2021), years)).toContain('2021');
});

const plans = rowsOf('q1', 'plan accounts', ['Free', 8500], ['Pro', 845], ['Team', 95]);
const days = rowsOf(
  'q1',
  'day revenue',
  ['2025-10-08', 13_120],
  ['2025-10-10', 17_980],
  ['2025-10-11', 22_310],
);
const cents = rowsOf('q1', 'revenue cogs opex', [24_810_000, 9_420_000, 11_960_000]);

test.for([
  ['one in so many', plans, 'Pro has 9.0%, about 1 in 11 accounts.', '11', '14'],
  [
    'shares of some of the rows',
    plans,
    '| Plan | Accounts | Of paid |\n|---|---|---|\n| Pro | 845 | 89.9% |\n| Team | 95 | 10.1% |',
    '89.9%',
    '79.9%',
  ],
  ['a day by its name', days, "Saturday's revenue was 1.7x that of Wednesday.", '1.7', '1.1'],
  [
    'a subtotal',
    cents,
    '| Line | Amount |\n|---|---|\n| Revenue | 24.8M |\n| COGS | 9.4M |\n| Gross profit | 15.4M |\n| Opex | 12.0M |\n| Operating income | 3.4M |',
    '3.4M',
    '5.4M',
  ],
  [
    'a share in brackets of the amount before it',
    plans,
    'Free has 8,500 accounts (90% of all) and Pro 845.',
    '90%',
    '50%',
  ],
] as const)('%s', ([, evidence, text, right, wrong]) => {
  expectTwin({ evidence, text, right, wrong });
});
