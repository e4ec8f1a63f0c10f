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
): RowsPair => ({ id: `l-${id}`, golden, answer, verdict, ...(match && { match }) });

const plants = table('plant mwh', ['Havel', 4120.25], ['Tajo', 3871.5], ['Po', 995]);
const allow = (...forms: readonly string[]) => ({ allow: forms });
const quarters = table('quarter:date revenue', ['2025-01-01', 500], ['2025-04-01', 640]);
const active = table('customer active:boolean', ['Abel', true], ['Birch', false]);
const rates = table('team rate', ['Red', 0.125], ['Blue', 0.375]);
const wide = table(
  'region year revenue',
  ['North', 2023, 10],
  ['North', 2024, 20],
  ['South', 2023, 30],
  ['South', 2024, 40],
);

export const laterRows: readonly RowsPair[] = [
  rows('same', 'right', [plants, plants]),
  rows('other-order', 'right', [
    plants,
    table('plant mwh', ['Po', 995], ['Havel', 4120.25], ['Tajo', 3871.5]),
  ]),
  rows(
    'other-order-kept',
    'wrong',
    [plants, table('plant mwh', ['Po', 995], ['Havel', 4120.25], ['Tajo', 3871.5])],
    { order: 'keep' },
  ),
  rows('other-names', 'right', [
    plants,
    table('name total', ['Havel', 4120.25], ['Tajo', 3871.5], ['Po', 995]),
  ]),
  rows('swapped-values', 'wrong', [
    plants,
    table('plant mwh', ['Havel', 3871.5], ['Tajo', 4120.25], ['Po', 995]),
  ]),
  rows('one-missing', 'wrong', [plants, table('plant mwh', ['Havel', 4120.25], ['Tajo', 3871.5])]),
  rows('one-twice', 'wrong', [
    plants,
    table('plant mwh', ['Havel', 4120.25], ['Tajo', 3871.5], ['Po', 995], ['Po', 995]),
  ]),
  rows('more-columns', 'right', [
    plants,
    table('plant share mwh', ['Havel', 1, 4120.25], ['Tajo', 2, 3871.5], ['Po', 3, 995]),
  ]),
  rows(
    'more-columns-refused',
    'wrong',
    [plants, table('plant share mwh', ['Havel', 1, 4120.25], ['Tajo', 2, 3871.5], ['Po', 3, 995])],
    { extra_columns: 'refuse' },
  ),
  rows('rounded-undeclared', 'wrong', [
    plants,
    table('plant mwh', ['Havel', 4120.3], ['Tajo', 3871.5], ['Po', 995]),
  ]),
  rows(
    'rounded',
    'right',
    [plants, table('plant mwh', ['Havel', 4120.3], ['Tajo', 3871.5], ['Po', 995])],
    allow('rounded'),
  ),
  rows(
    'rounded-wrongly',
    'wrong',
    [plants, table('plant mwh', ['Havel', 4121.3], ['Tajo', 3871.5], ['Po', 995])],
    allow('rounded'),
  ),
  rows(
    'quarters-in-words',
    'right',
    [quarters, table('quarter revenue', ['Q1 2025', 500], ['Q2 2025', 640])],
    allow('dates'),
  ),
  rows(
    'quarters-of-another-year',
    'wrong',
    [quarters, table('quarter revenue', ['Q1 2024', 500], ['Q2 2024', 640])],
    allow('dates'),
  ),
  rows(
    'flags-in-words',
    'right',
    [active, table('customer active', ['Abel', 'yes'], ['Birch', 'no'])],
    allow('flags'),
  ),
  rows(
    'flags-turned',
    'wrong',
    [active, table('customer active', ['Abel', 'no'], ['Birch', 'yes'])],
    allow('flags'),
  ),
  rows(
    'percent',
    'right',
    [rates, table('team rate', ['Red', 12.5], ['Blue', 37.5])],
    allow('percent'),
  ),
  rows(
    'percent-sign',
    'right',
    [rates, table('team rate', ['Red', '12.5%'], ['Blue', '37.5%'])],
    allow('percent'),
  ),
  rows('percent-undeclared', 'wrong', [rates, table('team rate', ['Red', 12.5], ['Blue', 37.5])]),
  rows(
    'pivot',
    'right',
    [wide, table('region 2023 2024', ['North', 10, 20], ['South', 30, 40])],
    allow('pivot'),
  ),
  rows(
    'pivot-wrong-cell',
    'wrong',
    [wide, table('region 2023 2024', ['North', 10, 20], ['South', 40, 30])],
    allow('pivot'),
  ),
  rows('both-empty', 'weak', [table('plant mwh'), table('plant mwh')]),
  rows('empty-answer', 'wrong', [plants, table('plant mwh')]),
  rows(
    'top-five-for-three',
    'right',
    [
      plants,
      table(
        'plant mwh',
        ['Havel', 4120.25],
        ['Tajo', 3871.5],
        ['Po', 995],
        ['Ebro', 700],
        ['Oder', 650],
      ),
    ],
    { extra_rows: 'after' },
  ),
];

const states = (
  ...[id, text, value, rel]: [id: string, text: string, value: number, rel?: number]
): NumberPair => ({
  id: `l-${id}`,
  text,
  number: { value, ...(rel !== undefined && { rel }) },
  verdict: 'right',
});
const lacks = (...given: Parameters<typeof states>): NumberPair => ({
  ...states(...given),
  verdict: 'wrong',
});

export const laterNumbers: readonly NumberPair[] = [
  states('plain', 'We shipped 8,214 parcels in week 23.', 8214, 0),
  states('of-a-part', 'Of 8,214 parcels, 512 were late (6.2%).', 512, 0),
  states('share-behind', 'Of 8,214 parcels, 512 were late (6.2%).', 0.062, 0.01),
  states('up-from', 'Revenue is now $1.42M, up from $1.31M.', 1_420_000, 0),
  states('after-list-number', '1. Havel: 4,120 MWh\n2. Tajo: 3,871 MWh', 3871, 0),
  states('thirty-five', 'Thirty-five stores reported.', 35, 0),
  states('dutch-number', 'Er zijn 1.234 bestellingen, oftewel 12,5%.', 1234, 0),
  states('points-of-a-game', 'Team Blue scored 4,610 points.', 4610, 0),
  states('duration', 'The median wait was 42 minutes.', 42, 0),
  lacks('week-number', 'We shipped 8,214 parcels in week 23.', 23, 0),
  lacks('list-number', '1. Havel: 4,120 MWh\n2. Tajo: 3,871 MWh', 2, 0),
  lacks('citation', 'We shipped 8,214 parcels [q3].', 3, 0),
  lacks('version', 'Since v4.12.1, crashes fell to 310.', 12, 0),
  lacks('part-of-digits', 'We shipped 18,214 parcels.', 8214, 0),
  lacks('sign', 'The balance is -250 EUR.', 250, 0),
  lacks('thousandfold', 'Revenue was $1.42 billion.', 1_420_000, 0.005),
];

const question = 'How many support calls did we get per agent in May?';
const recorded = { reason: 'missing_data', missing: 'calls by agent' };
const refuses = (id: string, text: string, more: Partial<RefusalPair> = {}): RefusalPair => ({
  id: `l-${id}`,
  question,
  text,
  verdict: 'right',
  ...more,
});
const answers = (...given: Parameters<typeof refuses>): RefusalPair => ({
  ...refuses(...given),
  verdict: 'wrong',
});

export const laterRefusals: readonly RefusalPair[] = [
  refuses('no-calls', 'Call data is not part of this warehouse, so I cannot tell.'),
  refuses('nothing-on', 'I found nothing on phone calls in the semantic layer or the tables.'),
  refuses('not-tracked', 'Support calls aren’t tracked anywhere in the connected database.'),
  refuses(
    'no-agent-column',
    'The tickets table has no agent column, so a split by agent is not possible.',
  ),
  refuses('would-guess', 'Any figure would be a guess: the data has orders and customers only.'),
  refuses('recorded', 'Sorry, that is not available.', { recorded }),
  refuses('recorded-briefly', 'No.', { recorded }),
  refuses('german', 'Das lässt sich mit den vorhandenen Daten nicht beantworten.'),
  refuses(
    'german-table',
    'Eine Tabelle mit Anrufen gibt es nicht, daher kann ich dazu nichts sagen.',
  ),
  refuses('french', 'Je ne peux pas répondre : les appels ne figurent pas dans la base.'),
  refuses('spanish', 'No dispongo de datos sobre llamadas, así que no puedo responder.'),
  refuses('italian', 'I dati non contengono le chiamate, quindi non posso rispondere.'),
  refuses('dutch', 'Hierover zijn geen gegevens beschikbaar.'),
  refuses('japanese', '通話のデータがないため、お答えできません。'),
  refuses('year-in-it', 'There is no call data for May 2025 in the warehouse.'),
  answers('number-anyway', 'There is no call data, but it should be around 42 per agent.', {}),
  answers('answers', 'Each agent took 37 calls in May [q1].'),
  answers('recorded-with-number', 'Each agent took 37 calls in May [q1].', { recorded }),
  answers('cannot-stress', 'I cannot stress enough how well May went: 37 calls per agent.'),
  answers('hedged', 'I’m not fully sure, but agents took 37 calls each.'),
];

const lines = table('line parts scrapped', ['L1', 48_214, 312], ['L2', 39_871, 655]);
const says = (id: string, text: string): WordsPair => ({
  id: `l-${id}`,
  question: 'What is the scrap rate by line?',
  text,
  tables: [lines],
  verdict: 'right',
});
const errs = (...given: Parameters<typeof says>): WordsPair => ({
  ...says(...given),
  verdict: 'wrong',
});

export const laterWords: readonly WordsPair[] = [
  says('w-rates', 'L1 scraps 0.65 % of its parts and L2 1.64 % [q1].'),
  says('w-total', 'Together the lines scrapped 967 of 88,085 parts [q1].'),
  says('w-german', 'L2 hat 655 von 39.871 Teilen verworfen, also 1,64 % [q1].'),
  says('w-difference', 'L2 scrapped 343 parts more than L1 [q1].'),
  errs('w-swapped', 'L1 scraps 1.64 % of its parts and L2 0.65 % [q1].'),
  errs('w-digit', 'Together the lines scrapped 967 of 88,985 parts [q1].'),
  errs('w-invented', 'L1 scrapped 312 parts [q1]; the plan allowed 260.'),
  errs('w-citation', 'L1 scrapped 312 parts [q4].'),
];
