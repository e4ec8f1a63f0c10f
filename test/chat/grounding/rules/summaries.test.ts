import { expect, test } from 'vitest';
import { groundAnswer } from '../../../../src/chat/grounding/ground-answer.ts';
import { rowsOf } from '../blind/answer.ts';
import { expectTwin } from './twin.ts';

const bands = rowsOf('q1', 'age members', ['18-29', 2674], ['30-44', 2975], ['45+', 2214]);
const variants = rowsOf('q1', 'variant visits', ['control', 25_807], ['new_checkout', 29_232]);
const releases = rowsOf('q1', 'release crashes visits', ['A', 312, 27_419], ['B', 655, 39_871]);
const teams = rowsOf('q1', 'team points', ['Blue', 6447], ['Red', 6000]);
const bridge = rowsOf('q1', 'month new_mrr churned_mrr', ['2025-05', 18_412, 9221]);
const days = rowsOf(
  'q1',
  'weekday calls',
  ['Mon', 414],
  ['Tue', 744],
  ['Wed', 695],
  ['Thu', 664],
  ['Fri', 620],
);
const years = rowsOf('q1', 'year users', [2020, 9214], [2022, 11_850], [2024, 16_331]);
const months = rowsOf(
  'q1',
  'month orders',
  ['2024-01', 7059],
  ['2024-02', 7977],
  ['2024-03', 8376],
  ['2024-04', 8879],
);
const survey = rowsOf('q1', 'promoters passives detractors', [512, 311, 204]);
const lands = rowsOf('q1', 'land omzet', ['Nederland', 957_042], ['België', 558_838]);
const sources = rowsOf('q1', 'source orders', ['organic', 4349], ['paid', 1312], [null, 765]);
const fees = rowsOf('q1', 'fee_cents', [2_035_759]);
const shares = rowsOf('q1', 'os installs', ['Android', 6910], ['iOS', 2943]);
const clients = rowsOf('q1', 'clients clients_actifs', [8152, 2728]);
const margin = rowsOf('q1', 'year nim_pct', [2023, 2.84], [2024, 3.83]);
const flow = rowsOf('q1', 'month cash_in cash_out', ['2025-01', 157_137, 191_679]);
const units = rowsOf(
  'q1',
  'amount_eur orders',
  ['under 50', 3071],
  ['50-100', 1320],
  ['over 100', 909],
);
const hours = rowsOf('q1', 'depot uren', ['Utrecht', 88], ['Gent', 33]);
const growth = rowsOf(
  'q1',
  'channel y2023 y2024',
  ['Retail', 410_220, 489_611],
  ['Web', 300_410, 445_658],
);

/** The number is bound; with another digit, it is not. */
test.for([
  ['another dash in a name', bands, '- 18–29: 2,674\n- 30–44: 2,975', '', '2,975', '2,985'],
  ['both sides of a limit of bands', bands, '5,649 are younger than 45.', '', '5,649', '5,849'],
  ['an underscore in a name', variants, 'The new checkout had 29,232.', '', '29,232', '25,807'],
  ['a rate by the lead', releases, 'Per 1,000 visits:\n\n- A: 11.4\n- B: 16.4', '', '16.4', '16.9'],
  ['points of a game', teams, 'Red trails Blue by 447 points.', '', '447', '457'],
  [
    'a loss in a list of signs',
    bridge,
    '- New: +$18,412\n- Churn: -$9,221',
    '',
    '-$9,221',
    '-$9,251',
  ],
  ['above average', days, 'Tue is 18.6% above average.', '', '18.6%', '13.6%'],
  ['long names of weekdays', days, 'Monday had 414 calls.', '', '414', '744'],
  ['yearly growth', years, 'From 2020 to 2024 compound growth was 15.4%.', '', '15.4%', '12.4%'],
  ['the last rows', months, 'The last two months had 17,255 orders.', '', '17,255', '17,355'],
  ['days of a month', months, 'In April there were 296 orders a day.', '', '296', '276'],
  ['net promoters', survey, 'The NPS is 30.', '', '30', '36'],
  [
    'a gap to the question',
    fees,
    'Of it, 2,035,759 is paid and 1,964,241 missing.',
    'Of 4,000,000?',
    '1,964,241',
    '1,964,341',
  ],
  ['cents', fees, 'You paid $20,357.59.', '', '$20,357.59', '$20,367.59'],
  [
    'en between two names',
    lands,
    'Nederland heeft 957.042 en België 558.838.',
    '',
    '957.042',
    '957.642',
  ],
  [
    'a row without a name',
    sources,
    '- organic: 4,349\n- paid: 1,312\n- unknown: 765',
    '',
    '765',
    '785',
  ],
  ['a split', shares, 'Android leads with a 70/30 split.', '', '70', '40'],
  ['a part and its whole', clients, '2 728 clients sur 8 152 sont actifs.', '', '8 152', '8 752'],
  [
    'basis points of percentages',
    margin,
    'It rose from 2.84% to 3.83%, by 99 basis points.',
    '',
    '99',
    '79',
  ],
  [
    'a negative net',
    flow,
    '- January: −34,542 (157,137 less 191,679)',
    'Net cash flow?',
    '−34,542',
    '−34,642',
  ],
  ['limits with a currency', units, '3,071 are under €50.', '', '€50', '€70'],
  [
    'hours as days',
    hours,
    'Utrecht 88 uur, Gent 33: 55 uur meer, dus 2,3 dagen.',
    '',
    '2,3',
    '7,3',
  ],
  [
    'a part of the headline',
    growth,
    'Revenue grew by $224,639. Retail added $79,391 (35.3%).',
    '',
    '35.3%',
    '38.3%',
  ],
  ['from another row', months, 'Up 6% to 8,879 in April from 8,376.', '', '8,376', '8,776'],
] as const)('%s', ([, evidence, text, question, right, wrong]) =>
  expectTwin({ evidence, text, question, right, wrong }),
);

/** What is no statement about the rows. */
test.for([
  ['the Portuguese article', 'O acumulado dos trimestres é de 33.', rowsOf('q1', 'receita', [33])],
  ['the 1 of a ratio', 'A ratio of 10.2 to 1.', rowsOf('q1', 'a b', [183, 18])],
  ['a quarter in a column', 'In Q2 2025 it was 81.', rowsOf('q1', 'q2_2025', [81])],
] as const)('%s', ([, text, evidence]) => {
  const marked = groundAnswer({ text, question: '', evidence: [evidence] }).filter(
    ({ status }) => status === 'ungrounded',
  );
  expect(marked.map((claim) => claim.text)).toEqual([]);
});
