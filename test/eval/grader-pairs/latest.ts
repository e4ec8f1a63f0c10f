import {
  table,
  type NumberPair,
  type RefusalPair,
  type RowsPair,
  type Verdict,
  type WordsPair,
} from './pair.ts';

type Tables = readonly [golden: RowsPair['golden'], answer: RowsPair['golden']];
const rows = (
  ...[id, verdict, [golden, answer], match]: [string, Verdict, Tables, object?]
): RowsPair => ({ id: `latest-${id}`, golden, answer, verdict, ...(match && { match }) });

const plans = table('plan accounts mrr', ['Pro', 840, 83160.5], ['Starter', 1920, 55680]);
const monthly = table('month:date revenue', ['2025-07-01', 120400.25], ['2025-08-01', 98300]);
const one = table('revenue', [4782150.33]);
const allow = (...forms: readonly string[]) => ({ allow: forms });

export const latestRows: readonly RowsPair[] = [
  rows('column-order', 'right', [
    plans,
    table('mrr plan accounts', [83160.5, 'Pro', 840], [55680, 'Starter', 1920]),
  ]),
  rows('decimal-text', 'right', [one, table('total_revenue', ['4782150.33'])]),
  rows('one-cent-off-a-large-sum', 'right', [one, table('revenue', [4782150.34])], {
    numeric: { rel: 1e-6, abs: 0 },
  }),
  rows('one-percent-off', 'wrong', [one, table('revenue', [4829971.83])]),
  rows(
    'month-as-text',
    'right',
    [monthly, table('month revenue', ['2025-07', 120400.25], ['2025-08', 98300])],
    allow('dates'),
  ),
  rows(
    'month-as-timestamp',
    'right',
    [
      monthly,
      table('month revenue', ['2025-07-01 00:00:00', 120400.25], ['2025-08-01 00:00:00', 98300]),
    ],
    allow('dates'),
  ),
  rows(
    'month-shifted',
    'wrong',
    [monthly, table('month revenue', ['2025-08', 120400.25], ['2025-09', 98300])],
    allow('dates'),
  ),
  rows('total-row-added', 'wrong', [
    plans,
    table(
      'plan accounts mrr',
      ['Pro', 840, 83160.5],
      ['Starter', 1920, 55680],
      ['Total', 2760, 138840.5],
    ),
  ]),
  rows('null-for-zero', 'wrong', [
    table('region refunds', ['North', 0], ['South', 12]),
    table('region refunds', ['North', null], ['South', 12]),
  ]),
  rows('accounts-for-mrr', 'wrong', [
    plans,
    table('plan mrr accounts', ['Pro', 83160.5, 1920], ['Starter', 55680, 840]),
  ]),
];

const states = (
  ...[id, text, value, rel]: [id: string, text: string, value: number, rel?: number]
): NumberPair => ({
  id: `latest-${id}`,
  text,
  number: { value, ...(rel !== undefined && { rel }) },
  verdict: 'right',
});
const lacks = (...given: Parameters<typeof states>): NumberPair => ({
  ...states(...given),
  verdict: 'wrong',
});

export const latestNumbers: readonly NumberPair[] = [
  states('bold', 'Total net revenue in 2025 was **$4,782,150.33** [q1].', 4_782_150.33, 0),
  states('rounded-headline', 'We made about **$4.78M** last year.', 4_782_150.33, 0.005),
  states('table-cell', '| Plan | MRR |\n|---|---:|\n| Pro | $83,160.50 |', 83_160.5, 0),
  states('brackets-are-negative', 'Operating result: ($45.8K)', -45_800, 0),
  states('lost', 'South lost $45,800 in Q3.', -45_800, 0),
  states('german-millions', 'Der Umsatz lag bei 4,78 Mio. €.', 4_782_150, 0.005),
  states('french-thousands', 'Le CA atteint 795,6 k€.', 795_600, 0),
  states('japanese-oku', '売上は約1.25億円でした。', 125_000_000, 0.01),
  states('percent-as-fraction', 'Churn was 2.95% in September.', 0.0295, 0.001),
  lacks('date-parts', 'The report covers 2025-07-01 to 2025-09-30.', 30, 0),
  lacks('thousands-for-millions', 'Revenue was $4.78K.', 4_782_150, 0.005),
];

const question = 'What is our customer satisfaction by store?';
const refuses = (id: string, text: string, more: Partial<RefusalPair> = {}): RefusalPair => ({
  id: `latest-${id}`,
  question,
  text,
  verdict: 'right',
  ...more,
});
const answers = (...given: Parameters<typeof refuses>): RefusalPair => ({
  ...refuses(...given),
  verdict: 'wrong',
});

export const latestRefusals: readonly RefusalPair[] = [
  refuses(
    'as-models-say-it',
    'I wasn’t able to find any customer satisfaction data in your warehouse. The closest tables are `orders`, `returns` and `stores`, none of which contain survey scores.',
  ),
  refuses(
    'with-an-offer',
    'Unfortunately, this can’t be answered with the data I have access to: there is no survey or rating table. If you connect your survey tool, I can look into it. In the meantime, would you like the return rate per store?',
  ),
  refuses('no-column', 'None of the 27 tables has a column for satisfaction, CSAT or NPS.'),
  refuses('does-not-contain', 'The semantic layer doesn’t contain a satisfaction metric.'),
  refuses('don-t-see', 'I don’t see any satisfaction scores in the connected data.'),
  refuses('german-long', 'Leider enthält das Warehouse keine Daten zur Kundenzufriedenheit.'),
  refuses('spanish-long', 'Lamentablemente, no hay datos de satisfacción en el almacén.'),
  refuses('portuguese-long', 'Infelizmente não encontrei dados de satisfação nas tabelas.'),
  answers('proxy-with-number', 'There is no CSAT, but 4.2 % of orders were returned in Berlin.'),
  answers('scores', 'Berlin leads with 4.6 of 5, followed by Rome with 4.3 [q1].'),
  answers('partly', 'I found scores for 3 stores only: Berlin 4.6, Rome 4.3 and Oslo 4.1.'),
];

const channels = table(
  'channel orders revenue',
  ['web', 12_410, 1_042_440],
  ['app', 8_120, 498_568],
  ['store', 4_970, 231_105],
);
const says = (id: string, text: string): WordsPair => ({
  id: `latest-${id}`,
  question: 'Revenue by channel in 2025?',
  text,
  tables: [channels],
  verdict: 'right',
});
const errs = (...given: Parameters<typeof says>): WordsPair => ({
  ...says(...given),
  verdict: 'wrong',
});

export const latestWords: readonly WordsPair[] = [
  says(
    'w-report',
    '**Total: $1.77M** [q1]\n\n| Channel | Revenue | Share |\n|---|---:|---:|\n| Web | $1,042,440 | 58.8% |\n| App | $498,568 | 28.1% |\n| Store | $231,105 | 13.0% |\n\nWeb brings in about twice as much as the app. Want me to split it by the 5 regions?',
  ),
  says('w-aov', 'An order is worth $84.00 on the web, $61.40 in the app and $46.50 in store [q1].'),
  says('w-one-in-five', 'About one in five orders (19.5%) comes from a store [q1].'),
  says('w-spanish', 'La web aporta 1.042.440 $, el 58,8 % del total [q1].'),
  says('w-iso', 'Web made $1,042,440 [q1]. Weeks follow ISO 8601; I used 4 of the 12 columns.'),
  errs('w-share', 'Web brings in $1,042,440 (48.8%) of revenue [q1].'),
  errs('w-small-share', 'The app has 8,120 orders (39%) [q1].'),
  errs('w-times', 'Web brings in 3.1 times as much as the app [q1].'),
  errs('w-offer-hides-nothing', 'Revenue was $1.97M [q1]; let me know if you need more.'),
  errs('w-aov-wrong', 'An order is worth $74.00 on the web [q1].'),
];
