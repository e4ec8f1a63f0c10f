import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';
import { expectTwin } from './twin.ts';

const weeks = rowsOf('q1', 'week load', ['KW 18', 61], ['KW 19', 58], ['KW 20', 77], ['KW 21', 93]);
const deals = rowsOf('q1', 'half won lost', ['H1', 186, 368], ['H2', 192, 369]);
const games = rowsOf('q1', 'won drawn lost goals', [12, 4, 6, 42]);
const shop = rowsOf(
  'q1',
  'channel orders revenue',
  ['online', 8572, 634_522],
  ['shop', 6015, 342_942],
);
const cards = rowsOf(
  'q1',
  'month cards',
  ['2025-03', 1525],
  ['2025-04', 1281],
  ['2025-05', 1025],
  ['2025-06', 1271],
);
const years = rowsOf('q1', 'year members', [2022, 10_342], [2023, 9266], [2024, 7190]);
const towns = rowsOf(
  'q1',
  'town people tonnes',
  ['Ahlen', 39_113, 16_975],
  ['Beckum', 23_279, 12_408],
);
const hours = rowsOf('q1', 'hour logins', ['09', 8177], ['10', 6138], ['14', 5587]);
const steps = rowsOf(
  'q1',
  'metric y2023 y2024',
  ['visits', 812_000, 930_400],
  ['orders', 20_110, 21_984],
);
const answers = rowsOf(
  'q1',
  'answer n',
  ['very satisfied', 210],
  ['satisfied', 433],
  ['neutral', 120],
  ['bad', 83],
);
const ages = rowsOf(
  'q1',
  'age people',
  ['18-24', 812],
  ['25-34', 2044],
  ['35-44', 1730],
  ['55+', 640],
);
const stores = rowsOf('q1', 'store sales', ['Bath', 52_100], ['Ely', 48_100], ['Wells', 31_100]);
const prices = rowsOf('q1', 'price units', [25, 8749], [27, 6870]);
const speed = rowsOf('q1', 'p50_ms p95_ms requests', [368, 1590, 9213]);

/** The number is bound; with another digit, it is not. */
test.for([
  ['a range of names', weeks, 'In KW 18 bis 21 lag die Last zwischen 58 und 93.', '93', '94'],
  ['a range whose end is short', weeks, 'KW 18 bis 21 waren gut.', '21', '25'],
  ['won and lost are all', deals, 'In H1 we won 186 of 554 deals.', '554', '574'],
  ['columns side by side are all', games, 'We won 12 of 22 games.', '22', '29'],
  ['a plural of a name', shop, 'Online had 8,572 orders, in shops it was 6,015.', '6,015', '6,085'],
  [
    'a list in the order of rows',
    cards,
    'Until June: 1,525, 1,281, 1,025, 1,271.',
    '1,025',
    '1,095',
  ],
  ['years between the rows', years, 'Down from 10.342 to 7.190 in two years.', 'two', 'seven'],
  ['kilograms per head', towns, 'Ahlen has 434 kg per person.', '434', '474'],
  ['hours of a clock', hours, 'Most log in from 2 pm on.', '2', '7'],
  ['a ratio of measures', steps, 'Conversion was 2.48% in 2023.', '2.48%', '2.88%'],
  ['names in one breath', answers, '643 are satisfied or very satisfied.', '643', '683'],
  ['a range of buckets', ages, 'Between 25 and 44 there are 3,774.', '3,774', '3,794'],
  ['an open bucket', ages, '640 are 55 or older.', '55', '59'],
  ['a limit and how many are above', stores, 'Two stores are above 40,000.', '40,000', '90,000'],
  ['the other side', prices, 'At 27 we sold 6,870 units instead of 8,749.', '8,749', '8,949'],
  ['the unit of other columns', speed, 'A request takes 368 ms.', '368', '388'],
  ['one of so many', deals, 'In H1 it was 186 of 554, one in three.', 'three', 'seven'],
  ['the sentence before', stores, 'Bath is first. It sold 52,100.', '52,100', '52,900'],
] as const)('%s', ([, evidence, text, right, wrong]) =>
  expectTwin({ evidence, text, right, wrong }),
);

test.for([
  ['$3.03 % per bill', '$3.03 %'],
  ['18.1 % percentage points', '18.1 %'],
  ['4.0 % kg', '4.0 %'],
])('%s has a unit of its own and is no percentage', ([text, number]) => {
  const evidence = [rowsOf('q1', 'share', [0.0303], [0.181], [0.04])];
  const [claim] = groundAnswer({ text: `It is ${text}.`, question: '', evidence });
  expect(claim).toMatchObject({
    text: number,
    status: 'ungrounded',
    reason: 'it is no percentage',
  });
});
