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
    const marked = ungrounded(answer);
    return marked.some(({ span }) => isAnywhere || (span[0] < to && from < span[1]));
  });
  return { falseMarks: marks.length / numbers.length, recall: noticed.length / wrong.length };
}

test.each([
  ['tuning', 0.995, 0.005],
  ['held', 0.989, 0.005],
  ['fresh', 0.962, 0.005],
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
  groundAnswer({ text, question, evidence: [regions] })
    .filter(({ kind }) => kind !== 'member')
    .map((claim) => [claim.text.trim(), claim.status, claim.derivation]);

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
  ['1. EMEA\n2. APAC\n\nUse `LIMIT 7`, see https://x.org/99.', []],
  ['Read on 2026-01-05.', [['2026-01-05', 'ungrounded', undefined]]],
  ['See [q9].', [['[q9]', 'ungrounded', undefined]]],
])('%s', (text, expected) => {
  expect(statusesOf(text, 'The top 5 regions by revenue?')).toEqual(expected);
});

const result = (names: string, rows: readonly (string | number)[][], id = 'q1') =>
  query(id, { columns: names.split(' ').map((name) => ({ name })), rows: [...rows], sql: '' });
const plants = result('plant mrr', [
  ['Po', 6494606],
  ['Tajo', 3183631],
  ['Havel', 2232224],
]);
const balances = result('account_id balance', [
  [45903, 67113],
  [57157, -51707.89],
  [64589, -21422.14],
]);
const cohorts = result('cohort users m1', [
  ['Alpha', 900, 0.61],
  ['Beta', 800, 0.47],
]);
const devices = result('country device sessions', [
  ['Japan', 'mobile', 351721],
  ['Japan', 'desktop', 209744],
  ['Peru', 'mobile', 100100],
  ['Peru', 'desktop', 50007],
]);
const spending = result('department actual budget', [
  ['Legal', 120300.5, 100400],
  ['Travel', 95100.5, 110700],
]);
const weeks = result('week_start signups', [
  ['2025-06-09', 4301],
  ['2025-06-16', 9540],
  ['2025-06-23', 1003],
  ['2025-06-30', 6946],
]);
const shares = result('brand share_2023 share_2024', [
  ['Corvo', 38.8, 40.7],
  ['Alba', 22.9, 18.8],
]);
const nets = result('quarter revenue net_result', [
  ['2024-Q1', 1515498, 145934],
  ['2024-Q2', 2515498, -182485],
  ['2024-Q3', 3515498, -89338],
]);
const stock = result('article on_hand unit_cost hours', [
  ['Hinge', 16406, 8.98, 20.3],
  ['Castor', 5249, 3.11, 7.4],
]);
const visits = result('visits', [[843017]]);
const orders = result('orders', [[13888]], 'q2');
const parcels = result('carrier parcels', [
  ['Rapide', 55230],
  ['Kurier', 41072],
]);
const late = result(
  'carrier late',
  [
    ['Rapide', 2012],
    ['Kurier', 2741],
  ],
  'q2',
);

/** Each was marked wrongly, or missed, when the fresh answers were first met. */
test.each([
  [
    'a unit and a percent sign without a gap',
    [plants],
    'Poは6,494,606MWhで、全体の54.5%です。',
    '6,494,606',
    '6,494,706',
  ],
  ['a colon without a gap', [plants], 'Po:649.5万件', '649.5', '749.5'],
  [
    'a scale in a header',
    [plants],
    '| Plant | MRR (k EUR) |\n|---|---|\n| Po | 6,494.6 |',
    '6,494.6',
    '6,494,606.0',
  ],
  [
    'ids that are numbers',
    [balances],
    'Two are low: account 57157 at -51,707.89 EUR and account 64589 at -21,422.14 EUR.',
    '-51,707.89',
    '67,113.00',
  ],
  ['fractions by their values', [cohorts], 'Alpha kept 61% of its users.', '61%', '47%'],
  ['a share of a count', [cohorts], 'Of the 900 users of Alpha about 549 stayed.', '549', '459'],
  [
    'the sum of a group',
    [devices],
    'Japan had 561,465 sessions, 62.6% of them mobile.',
    '561,465',
    '150,107',
  ],
  [
    'a share of a group',
    [devices],
    'Japan had 561,465 sessions, 62.6% of them mobile.',
    '62.6%',
    '72.6%',
  ],
  [
    'totals of two columns',
    [spending],
    'We spent 215,401 of the 211,100 EUR planned, that is 102.0%.',
    '102.0%',
    '112.0%',
  ],
  [
    'a German day, and the next rank',
    [weeks],
    'Am besten war die Woche ab dem 16. Juni: 9.540, also 2.594 mehr als die zweitbeste.',
    '2.594',
    '2.598',
  ],
  [
    'a clause of its own',
    [weeks],
    'The peak was June 16 with 9,540 signups; the low, 1,003, came on June 23.',
    '1,003',
    '4,301',
  ],
  [
    'two numbers behind the second name',
    [shares],
    'Corvo gained 1.9 points to reach 40.7%, while Alba lost 4.1 points and ended at 18.8%.',
    '4.1',
    '1.9',
  ],
  [
    'words that lead to the next number',
    [nets],
    'Q1 2024 made a net result of 145,934 EUR on revenue of 1,515,498 EUR.',
    'of 145,934',
    'of 1,515,498',
  ],
  [
    'a loss with its sign',
    [nets],
    'Two quarters lost money: Q2 (-182,485 EUR) and Q3 (-89,338 EUR).',
    '-182,485',
    '182,485',
  ],
  [
    'an amount for each of a count',
    [stock],
    '16,406 units of Hinge × €8.98 = €147,326.',
    '€147,326',
    '€157,326',
  ],
  ['decimals that are no count', [stock], 'Hinge took 20.3 hours.', '20.3', '2.0'],
  [
    'an abbreviation that ends no sentence',
    [visits, orders],
    'Aus 843 Tsd. Besuchen [q1] wurden 13.888 Bestellungen [q2].',
    '13.888',
    '13.889',
  ],
  [
    'the rows of two results',
    [parcels, late],
    'Rapide: 3.6% (2,012 [q2] of 55,230 [q1]).',
    '3.6%',
    '4.6%',
  ],
] as const)('%s', (...[, evidence, text, right, wrong]) => {
  expect(text).toContain(right);
  const marked = (said: string) =>
    ungrounded({ text: said, question: '', evidence }).map((claim) => claim.text);
  expect(marked(text)).toEqual([]);
  expect(marked(text.replace(right, wrong))).not.toEqual([]);
});

test('any text and any rows end soon', () => {
  const rows = Array.from({ length: 5000 }, (_, index) => [`name ${index}`, index * 1.5, index]);
  const evidence = [
    query('q1', { columns: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], rows, sql: '' }),
  ];
  const text =
    'name 7 has 10.5 and 8,888,888 [q1]. '.repeat(30) + '9'.repeat(5000) + '1,'.repeat(2000);
  // Work, not time: other processes take none of it. Usually it is a seventh of this.
  const before = process.cpuUsage();
  groundAnswer({ text, question: '', evidence });
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(20);
});
