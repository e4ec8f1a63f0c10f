import { fail, reply, say } from '../../../support/model-script.ts';
import type { Behaviour, Call } from '../behaviour.ts';

interface Word {
  readonly word: string;
  readonly definition?: string;
}

const pageOf = (word: string) => `A ${word} customer is one who ordered a ${word}.`;
const term = ({ word, definition = `One who ordered a ${word}.` }: Word): Call => [
  'propose_term',
  { title: `${word} customer`, definition, quote: pageOf(word) },
];
const nothing: Call = [
  'report_unmapped',
  { reason: 'nothing_to_claim', what: 'It says nothing about data.' },
];

/** Turns out of order, answers in the wrong form, and ends before the end. */
export const conversationBehaviours: readonly Behaviour[] = [
  { name: 'stops at once', page: pageOf('apple'), turns: [], isLeft: true },
  {
    name: 'stops without a word',
    page: pageOf('apricot'),
    turns: [say('')],
    isLeft: true,
  },
  {
    name: 'only reads, for ever',
    page: pageOf('cherry'),
    turns: Array.from({ length: 60 }, (): Call[] => [['list_unit', {}]]),
    isLeft: true,
  },
  {
    name: 'claims and then reads for ever',
    page: pageOf('plum'),
    turns: [
      [term({ word: 'plum' })],
      ...Array.from({ length: 60 }, (): Call[] => [['list_unit', {}]]),
    ],
    kept: [/plum customer/i],
  },
  {
    name: 'reports everything as unmapped',
    page: 'The quince table lists every quince of the orders.',
    turns: [
      [
        nothing,
        ['report_unmapped', { reason: 'no_such_table', what: 'The quince table.', name: 'quince' }],
      ],
    ],
    never: [/quince/],
  },
  {
    name: 'reports a table as missing that is there',
    page: pageOf('medlar'),
    turns: [
      [
        ['report_unmapped', { reason: 'no_such_table', what: 'Orders.', name: 'orders' }],
        ['report_unmapped', { reason: 'no_such_field', what: 'Amount.', name: 'orders.amount' }],
        ['report_unmapped', { reason: 'no_such_table', what: 'Something.' }],
        ['report_unmapped', { reason: 'because', what: 'Something.' }],
      ],
    ],
    isLeft: true,
  },
  {
    name: 'calls tools that it does not have',
    page: pageOf('fig'),
    turns: [
      [
        ['Bash', { command: 'touch /tmp/hostile' }],
        ['Write', { file_path: 'ktx.yaml', content: 'x' }],
        ['write_file', { path: 'ktx.yaml', text: 'x' }],
        ['query_metrics', { metrics: ['orders.revenue'] }],
        ['remember', { text: 'A fig customer is a robot.' }],
      ],
    ],
    never: [/robot/],
    isLeft: true,
  },
  {
    name: 'calls tools of other stages',
    page: pageOf('date'),
    turns: [
      [
        ['place_on_page', { candidate: 'term:date_customer', page: '../../ktx' }],
        ['merge_candidates', { candidate: 'term:revenue', into: 'term:date_customer' }],
        ['mark_same', { subject: 'metric:shop.orders.revenue', kind: 'metric', versions: [] }],
      ],
      [term({ word: 'date' })],
    ],
    kept: [/date customer/i],
  },
  {
    name: 'sends wrong types',
    page: pageOf('pear'),
    turns: [
      [
        ['propose_term', { title: 12, definition: ['x'], quote: { text: pageOf('pear') } }],
        ['propose_term', {}],
        ['propose_term', { ...term({ word: 'pear' })[1], synonyms: 'pear', refs: 'orders' }],
        ['propose_term', { ...term({ word: 'pear' })[1], item: null }],
        [
          'propose_metric',
          { dataset: 'orders', name: 'pear', agg: 'everything', quote: pageOf('pear') },
        ],
        [
          'propose_metric',
          {
            dataset: 'orders',
            name: 'pear',
            agg: 'percentile',
            fraction: 99,
            quote: pageOf('pear'),
          },
        ],
        ['propose_metric', { dataset: 'orders', name: 'pear', quote: pageOf('pear') }],
      ],
    ],
    never: [/pear/],
    isLeft: true,
  },
  {
    name: 'sends broken JSON',
    page: pageOf('melon'),
    turns: [
      reply([{ tool: 'propose_term', json: '{"title": "Melon customer", "definition": ' }]),
      reply([{ tool: 'propose_term', json: '[1, 2' }]),
      [term({ word: 'melon' })],
    ],
    kept: [/melon customer/i],
  },
  {
    name: 'sends a definition of a megabyte',
    page: pageOf('grape'),
    turns: [
      [term({ word: 'grape', definition: 'One who ordered a grape. '.repeat(40_000) })],
      [term({ word: 'grape' })],
    ],
    never: [/(?:One who ordered a grape\. ?){3}/],
    kept: [/grape customer/i],
  },
  {
    name: 'says two megabytes',
    page: pageOf('berry'),
    turns: [
      reply([{ text: 'berry '.repeat(350_000) }, { tool: 'list_unit', input: {} }]),
      [term({ word: 'berry' })],
    ],
    never: [/(?:berry ){5}/],
  },
  {
    name: 'sends hundreds of proposals at once',
    page: Array.from({ length: 200 }, (_, index) => `The lime${index} is one lime.`).join('\n\n'),
    turns: [
      Array.from({ length: 200 }, (_, index): Call => [
        'propose_term',
        {
          title: `Lime${index}`,
          definition: 'It is one lime.',
          quote: `The lime${index} is one lime.`,
        },
      ]),
    ],
    kept: [/lime0\b/i, /lime199\b/i],
  },
  {
    name: 'repeats a proposal',
    page: pageOf('lemon'),
    turns: [
      Array.from({ length: 20 }, () => term({ word: 'lemon' })),
      Array.from({ length: 20 }, () => term({ word: 'lemon' })),
    ],
    kept: [/lemon customer/i],
  },
  {
    name: 'contradicts itself',
    page: `${pageOf('olive')} An olive customer is one who ordered twice.`,
    turns: [
      [term({ word: 'olive' }), term({ word: 'olive', definition: 'One who ordered twice.' })],
      [term({ word: 'olive' })],
    ],
    kept: [/olive customer/i],
  },
  {
    name: 'answers otherwise the second time',
    page: pageOf('almond'),
    turns: [
      (n) =>
        n === 1
          ? [term({ word: 'almond', definition: 'One who ordered 77 almonds.' })]
          : [term({ word: 'almond' })],
    ],
    never: [/77 almonds/],
    kept: [/almond customer/i],
    isLeft: true,
  },
  {
    name: 'reports first and claims afterwards',
    page: pageOf('walnut'),
    turns: [[nothing], [term({ word: 'walnut' })]],
    kept: [/walnut customer/i],
  },
  {
    name: 'claims after words that end the reading',
    page: pageOf('peanut'),
    turns: [
      reply([{ text: 'Everything is read.' }, { tool: term({ word: 'peanut' })[0], input: {} }]),
      [term({ word: 'peanut' })],
    ],
    kept: [/peanut customer/i],
  },
  {
    name: 'refuses at once',
    page: pageOf('clove'),
    turns: [say('I cannot help with that.', { stop: 'refusal' })],
    isLeft: true,
  },
  {
    name: 'refuses after a proposal that was accepted',
    page: pageOf('cumin'),
    turns: [[term({ word: 'cumin' })], say('I cannot go on.', { stop: 'refusal' })],
    kept: [/cumin customer/i],
    isLeft: true,
  },
  {
    name: 'breaks the stream once',
    page: pageOf('thyme'),
    turns: [(n) => (n === 1 ? say('So', { cut: true }) : [term({ word: 'thyme' })])],
    kept: [/thyme customer/i],
  },
  {
    name: 'breaks the stream in a proposal',
    page: pageOf('basil'),
    turns: [
      (n) =>
        n === 1
          ? reply([{ tool: 'propose_term', input: term({ word: 'basil' })[1] }], { cut: true })
          : [term({ word: 'basil' })],
    ],
    kept: [/basil customer/i],
  },
  {
    name: 'spends all its tokens in a proposal',
    page: pageOf('anise'),
    turns: [[term({ word: 'anise' })], reply([{ text: 'And now' }], { stop: 'max_tokens' })],
    kept: [/anise customer/i],
    isLeft: true,
  },
  {
    name: 'is too long after a proposal that was accepted',
    page: pageOf('caper'),
    turns: [[term({ word: 'caper' })], fail('too-long')],
    kept: [/caper customer/i],
    isLeft: true,
  },
  {
    name: 'fails with a bad request after a proposal that was accepted',
    page: pageOf('sorrel'),
    turns: [[term({ word: 'sorrel' })], fail('bad-request')],
    kept: [/sorrel customer/i],
    isLeft: true,
  },
  {
    name: 'fails once after a proposal that was accepted',
    page: pageOf('fennel'),
    turns: [[term({ word: 'fennel' })], (n) => (n === 1 ? fail('server-error') : say('Done.'))],
    kept: [/fennel customer/i],
  },
];
