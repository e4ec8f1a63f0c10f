import { table, type RowsPair } from './pair.ts';

const counts = table('paid refunded', [5, 2], [7, 1]);
const byRegion = table('region revenue', ['EU', 10], ['US', 20], ['APAC', 5]);

/** Which column of the answer is which, and what stands beside. */
export const columnPairs: readonly RowsPair[] = [
  {
    id: 'columns-swapped-under-equal-names',
    golden: counts,
    answer: table('paid refunded', [2, 5], [1, 7]),
    verdict: 'wrong',
  },
  {
    id: 'columns-swapped-with-names',
    golden: counts,
    answer: table('refunded paid', [2, 5], [1, 7]),
    verdict: 'right',
  },
  {
    id: 'columns-one-name-shared-values-swapped',
    golden: counts,
    answer: table('paid returned', [2, 5], [1, 7]),
    verdict: 'wrong',
  },
  {
    id: 'columns-one-name-shared-values-right',
    golden: counts,
    answer: table('returned paid', [2, 5], [1, 7]),
    verdict: 'right',
  },
  {
    id: 'columns-names-with-spaces-swapped',
    golden: table('net_revenue gross_revenue', [8, 10], [16, 20]),
    answer: {
      columns: [{ name: 'Net Revenue' }, { name: 'Gross Revenue' }],
      rows: [
        [10, 8],
        [20, 16],
      ],
    },
    verdict: 'wrong',
  },
  {
    id: 'columns-names-with-spaces-right',
    golden: table('net_revenue gross_revenue', [8, 10], [16, 20]),
    answer: {
      columns: [{ name: 'Gross Revenue' }, { name: 'Net Revenue' }],
      rows: [
        [10, 8],
        [20, 16],
      ],
    },
    verdict: 'right',
  },
  {
    id: 'columns-other-names',
    golden: byRegion,
    answer: table('rgn total', ['US', 20], ['EU', 10], ['APAC', 5]),
    verdict: 'right',
  },
  {
    id: 'columns-expression-names',
    golden: table('r.rgn_nm sum(o.amount)', ['EU', 10], ['US', 20]),
    answer: table('revenue region', [10, 'EU'], [20, 'US']),
    verdict: 'right',
  },
  {
    id: 'columns-names-prefixed-by-dataset',
    golden: byRegion,
    answer: table('orders.region orders.revenue', ['EU', 10], ['US', 20], ['APAC', 5]),
    verdict: 'right',
  },
  {
    id: 'columns-by-name-other-name',
    golden: byRegion,
    answer: table('region total', ['EU', 10], ['US', 20], ['APAC', 5]),
    match: { columns: 'by_name' },
    verdict: 'wrong',
  },
  {
    id: 'columns-by-name-other-case',
    golden: byRegion,
    answer: table('REVENUE Region', [10, 'EU'], [20, 'US'], [5, 'APAC']),
    match: { columns: 'by_name' },
    verdict: 'right',
  },
  {
    id: 'columns-by-name-twice',
    golden: table('id', [1], [2]),
    answer: table('id id', [7, 1], [8, 2]),
    match: { columns: 'by_name' },
    verdict: 'right',
  },
  {
    id: 'columns-golden-name-twice',
    golden: table('name name', ['Ann', 'EU'], ['Bob', 'US']),
    answer: table('customer region', ['Ann', 'EU'], ['Bob', 'US']),
    verdict: 'right',
  },
  {
    id: 'columns-superfluous',
    golden: byRegion,
    answer: table('n region revenue', [1, 'EU', 10], [2, 'US', 20], [3, 'APAC', 5]),
    verdict: 'right',
  },
  {
    id: 'columns-superfluous-refused',
    golden: byRegion,
    answer: table('n region revenue', [1, 'EU', 10], [2, 'US', 20], [3, 'APAC', 5]),
    match: { extra_columns: 'refuse' },
    verdict: 'wrong',
  },
  {
    id: 'columns-four-counts-where-one-was-asked',
    golden: table('n', [4610]),
    answer: table('a b c d', [1, 2, 3, 4610]),
    match: { extra_columns: 'refuse' },
    verdict: 'wrong',
  },
  {
    id: 'columns-one-missing',
    golden: byRegion,
    answer: table('revenue', [10], [20], [5]),
    verdict: 'wrong',
  },
  {
    id: 'columns-one-missing-same-values',
    golden: table('gross net', [10, 10], [20, 20]),
    answer: table('gross', [10], [20]),
    verdict: 'wrong',
  },
  {
    id: 'columns-same-values-both-there',
    golden: table('gross net', [10, 10], [20, 20]),
    answer: table('a b', [10, 10], [20, 20]),
    verdict: 'right',
  },
  {
    id: 'columns-pairing-broken',
    golden: byRegion,
    answer: table('region revenue', ['EU', 20], ['US', 10], ['APAC', 5]),
    verdict: 'wrong',
  },
  {
    id: 'columns-pairing-broken-other-names',
    golden: byRegion,
    answer: table('a b', ['EU', 20], ['US', 10], ['APAC', 5]),
    verdict: 'wrong',
  },
  {
    id: 'columns-two-years-swapped-names-differ',
    golden: table('region y2024 y2025', ['EU', 1, 2], ['US', 3, 4]),
    answer: table('region y2025 y2024', ['EU', 1, 2], ['US', 3, 4]),
    verdict: 'wrong',
  },
  {
    id: 'columns-two-years-in-other-order',
    golden: table('region y2024 y2025', ['EU', 1, 2], ['US', 3, 4]),
    answer: table('region y2025 y2024', ['EU', 2, 1], ['US', 4, 3]),
    verdict: 'right',
  },
  {
    id: 'columns-row-number-hides-nothing',
    golden: table('n', [3]),
    answer: table('region n', ['EU', 3]),
    verdict: 'right',
  },
  {
    id: 'columns-quoted-name',
    golden: table('"Region" revenue', ['EU', 10]),
    answer: table('region revenue', ['EU', 10]),
    verdict: 'right',
  },
  {
    id: 'columns-first-and-last-name-swapped',
    golden: table('first_name last_name', ['Ann', 'Lee'], ['Lee', 'Ann']),
    answer: table('last_name first_name', ['Lee', 'Ann'], ['Ann', 'Lee']),
    verdict: 'right',
  },
  {
    id: 'columns-first-and-last-name-wrong',
    golden: table('first_name last_name', ['Ann', 'Lee']),
    answer: table('first_name last_name', ['Lee', 'Ann']),
    verdict: 'wrong',
  },
  {
    id: 'columns-min-and-max-swapped',
    golden: table('min max', [1, 9]),
    answer: table('min max', [9, 1]),
    verdict: 'wrong',
  },
  {
    id: 'columns-min-and-max-in-words',
    golden: table('min(amount) max(amount)', [1, 9]),
    answer: table('lowest highest', [1, 9]),
    verdict: 'right',
  },
];
