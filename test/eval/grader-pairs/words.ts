import { table, type WordsPair } from './pair.ts';

const regions = table(
  'region revenue orders',
  ['EMEA', 1767173.4, 812],
  ['APAC', 903221, 377],
  ['Americas', 2410350.25, 1290],
);
const months = table(
  'month:date revenue',
  ['2025-01-01', 50400],
  ['2025-02-01', 63000],
  ['2025-03-01', 56700],
);
const total = table('n', [4610]);
const byRegion = 'Revenue by region?';
const right = (
  ...[id, text, tables = [regions], question = byRegion]: [
    string,
    string,
    WordsPair['tables']?,
    string?,
  ]
): WordsPair => ({ id, text, tables, question, verdict: 'right' });
const wrong = (...given: Parameters<typeof right>): WordsPair => ({
  ...right(...given),
  verdict: 'wrong',
});

/** The words of an answer against the rows behind it. */
export const wordsPairs: readonly WordsPair[] = [
  right('w-exact', 'EMEA made 1,767,173.40 EUR [q1].'),
  right('w-rounded', 'EMEA made about €1.77M [q1].'),
  right('w-german', 'EMEA: 1.767.173 € [q1], APAC: 903.221 €.'),
  right('w-french', 'EMEA a réalisé 1 767 173 € [q1].'),
  right('w-share', 'EMEA has 34.8 % of the revenue [q1].'),
  right('w-difference', 'Americas is 643,176.85 EUR ahead of EMEA [q1].'),
  right('w-total', 'All regions together made 5,080,744.65 EUR [q1].'),
  right('w-per-order', 'EMEA made 2,176 EUR per order [q1].'),
  right(
    'w-growth',
    'Revenue grew by 25 % from January to February [q1].',
    [months],
    'How did revenue develop?',
  ),
  right(
    'w-fall',
    'In March it fell by 10 % to 56,700 EUR [q1].',
    [months],
    'How did revenue develop?',
  ),
  right(
    'w-table',
    '| region | revenue |\n|---|---:|\n| EMEA | 1,767,173.40 |\n| APAC | 903,221.00 |\n\n[q1]',
  ),
  right('w-list', '1. Americas: 2.41M\n2. EMEA: 1.77M\n3. APAC: 0.90M [q1]'),
  right('w-count', 'There were 4,610 orders [q1].', [total], 'How many orders?'),
  right('w-count-of-rows', 'There are three regions [q1].'),
  right(
    'w-question-number',
    'Of the top 3 that you asked for, Americas leads with 2,410,350 EUR [q1].',
    [regions],
    'The top 3 regions by revenue?',
  ),
  right('w-no-numbers', 'Americas leads, then EMEA, then APAC [q1].'),
  right('w-two-queries', 'We had 4,610 orders [q2]; EMEA made 1,767,173 EUR [q1].', [
    regions,
    total,
  ]),
  right(
    'w-average',
    'On average, a month made 56,700 EUR [q1].',
    [months],
    'Average revenue of a month?',
  ),
  right('w-japanese', 'EMEAの売上は1,767,173ユーロです [q1]。'),
  right('w-times', 'Americas makes 2.7 times as much as APAC [q1].'),
  wrong('w-invented', 'EMEA made 2,999,999 EUR [q1].'),
  wrong('w-five-thousand', 'Revenue is 5,000 [q1].'),
  wrong('w-missing-query', 'EMEA made 1,767,173 EUR [q7].'),
  wrong('w-other-member', 'EMEA made 903,221 EUR [q1].'),
  wrong('w-digits-swapped', 'EMEA made 1,677,173 EUR [q1].'),
  wrong('w-scale', 'EMEA made 1.77 billion EUR [q1].'),
  wrong('w-share-wrong', 'EMEA has 44.8 % of the revenue [q1].'),
  wrong(
    'w-growth-wrong',
    'Revenue grew by 35 % from January to February [q1].',
    [months],
    'How did revenue develop?',
  ),
  wrong('w-total-wrong', 'All regions together made 5,180,744.65 EUR [q1].'),
  wrong('w-count-wrong', 'There were 4,160 orders [q1].', [total], 'How many orders?'),
  wrong('w-no-query-at-all', 'There were 4,610 orders.', [], 'How many orders?'),
  wrong(
    'w-table-one-cell',
    '| region | revenue |\n|---|---:|\n| EMEA | 1,767,173.40 |\n| APAC | 908,221.00 |\n\n[q1]',
  ),
  wrong('w-other-query-cited', 'We had 4,610 orders [q1].', [regions, total], 'How many orders?'),
  wrong(
    'w-direction',
    'Revenue fell by 25 % from January to February [q1].',
    [months],
    'How did revenue develop?',
  ),
  wrong('w-unit', 'EMEA has 812 % of the orders [q1].'),
];
