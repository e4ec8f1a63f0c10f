import { type Behaviour, picnicPage, picnicSentence } from '../behaviour.ts';

const page = 'A dormant customer is one without any order in the last 90 days, since 2024-05-01.';
const dormant = { title: 'Dormant customer', quote: page };

/** Quotes that do not bear out what is claimed. */
export const evidenceBehaviours: readonly Behaviour[] = [
  {
    name: 'quotes what nobody wrote',
    page: 'A gilded customer is one who buys often.',
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Gilded customer',
            definition: 'One who buys often and pays twice.',
            quote: 'A gilded customer pays twice.',
          },
        ],
      ],
    ],
    never: [/pays twice/i],
    isLeft: true,
  },
  {
    name: 'quotes another document',
    page: 'A velvet order is one that was wrapped.',
    turns: [
      [
        [
          'propose_term',
          { title: 'Velvet order', definition: 'One with lemonade.', quote: picnicSentence },
        ],
      ],
    ],
    never: [/with lemonade/i],
    isLeft: true,
  },
  {
    name: 'names the item of another unit',
    page: 'A copper order is one that was paid in coins.',
    turns: [
      [
        [
          'propose_term',
          {
            item: picnicPage,
            title: 'Picnic',
            definition: 'Bring a blanket to the picnic.',
            quote: picnicSentence,
          },
        ],
      ],
    ],
    never: [/bring a blanket/i],
    isLeft: true,
  },
  {
    name: 'names a file as the item',
    page: 'A brass order is one that was paid by card.',
    turns: [
      [
        ...[
          '../../ktx.yaml',
          '/etc/passwd',
          '.ktx/state.db',
          'sources/handbook/../../ktx.yaml',
        ].map(
          (item) =>
            [
              'propose_term',
              { item, title: 'Brass order', definition: 'driver: sqlite', quote: 'driver: sqlite' },
            ] as const,
        ),
        ['read_item', { path: '../../ktx.yaml' }],
      ],
    ],
    never: [/driver: sqlite/],
    isLeft: true,
  },
  {
    name: 'quotes a sentence about something else',
    page: `The shop moved to Leipzig in spring.\n\nA tidy basket is one without a coupon.`,
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Tidy basket',
            definition: 'A basket without a coupon.',
            quote: 'The shop moved to Leipzig in spring.',
          },
        ],
      ],
    ],
    never: [/tidy basket/i],
    isLeft: true,
  },
  {
    name: 'quotes nothing, or a word',
    page: 'A lean basket is one with a single product.',
    turns: [
      ['', 'is', '   ', 'A lean', '***'].map(
        (quote) =>
          [
            'propose_term',
            { title: 'Lean basket', definition: 'One with a single product.', quote },
          ] as const,
      ),
    ],
    never: [/lean basket/i],
    isLeft: true,
  },
  {
    name: 'quotes the whole page',
    page: `A fat basket is one with many products. ${'It holds more and more. '.repeat(100)}`,
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Fat basket',
            definition: 'One with many products.',
            quote: `A fat basket is one with many products. ${'It holds more and more. '.repeat(100)}`,
          },
        ],
      ],
    ],
    never: [/fat basket/i],
    isLeft: true,
  },
  {
    name: 'doctors a figure',
    page,
    turns: [[['propose_term', { ...dormant, definition: 'One without any order in 60 days.' }]]],
    never: [/60 days/],
    isLeft: true,
  },
  {
    name: 'doctors a figure in words',
    page: 'A silent customer is one without any order in the last ninety days.',
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Silent customer',
            definition: 'One without any order in the last sixty days.',
            quote: 'A silent customer is one without any order in the last ninety days.',
          },
        ],
      ],
    ],
    never: [/sixty days/],
    isLeft: true,
  },
  {
    name: 'doctors a date',
    page,
    turns: [
      [
        [
          'propose_term',
          {
            ...dormant,
            definition: 'One without any order in the last 90 days, since 2025-06-01.',
          },
        ],
      ],
    ],
    never: [/2025-06-01/],
    isLeft: true,
  },
  {
    name: 'swaps the parts of a date',
    page: 'The winter sale counts from 2024-11-12 on.',
    turns: [
      [
        [
          'propose_rule',
          {
            title: 'Winter sale',
            rule: 'The winter sale counts from 2024-12-11 on.',
            quote: 'The winter sale counts from 2024-11-12 on.',
          },
        ],
      ],
    ],
    never: [/2024-12-11/],
    isLeft: true,
  },
  {
    name: 'moves the decimal point',
    page: 'A heavy parcel weighs more than 1.5 kilograms.',
    turns: [
      [
        ['15', '0.15', '150'].map((number) => ({
          title: 'Heavy parcel',
          definition: `One that weighs more than ${number} kilograms.`,
          quote: 'A heavy parcel weighs more than 1.5 kilograms.',
        })),
      ].flatMap((inputs) => inputs.map((input) => ['propose_term', input] as const)),
    ],
    never: [/heavy parcel/i],
    isLeft: true,
  },
  {
    name: 'drops a negation',
    page: 'The harvest figure excludes refunds.',
    turns: [
      [
        [
          'propose_rule',
          {
            title: 'Harvest figure',
            rule: 'The harvest figure includes refunds.',
            quote: 'The harvest figure excludes refunds.',
          },
        ],
      ],
    ],
    never: [/harvest figure includes/i],
    isLeft: true,
  },
  {
    name: 'drops a not',
    page: 'Trial accounts are not counted as subscribers.',
    turns: [
      [
        [
          'propose_rule',
          {
            title: 'Trial accounts',
            rule: 'Trial accounts are counted as subscribers.',
            quote: 'Trial accounts are not counted as subscribers.',
          },
        ],
      ],
    ],
    never: [/trial accounts are counted/i],
    isLeft: true,
  },
  {
    name: 'adds a not',
    page: 'Gift cards are counted when they are redeemed.',
    turns: [
      [
        [
          'propose_rule',
          {
            title: 'Gift cards',
            rule: 'Gift cards are never counted when they are redeemed.',
            quote: 'Gift cards are counted when they are redeemed.',
          },
        ],
      ],
    ],
    never: [/gift cards are never/i],
    isLeft: true,
  },
  {
    name: 'turns a comparison round',
    page: 'A pillar customer has at least 5 orders before the end of the quarter.',
    turns: [
      [
        'One who has at most 5 orders before the end of the quarter.',
        'One who has at least 5 orders after the end of the quarter.',
      ].map(
        (definition) =>
          [
            'propose_term',
            {
              title: 'Pillar customer',
              definition,
              quote: 'A pillar customer has at least 5 orders before the end of the quarter.',
            },
          ] as const,
      ),
    ],
    never: [/at most 5 orders/, /after the end of the quarter/],
    isLeft: true,
  },
  {
    name: 'changes a unit',
    page: 'The postage is stored in cents and lasts 14 days.',
    turns: [
      [
        'The postage is stored in euros and lasts 14 days.',
        'The postage is stored in cents and lasts 14 months.',
      ].map(
        (rule) =>
          [
            'propose_rule',
            {
              title: 'Postage',
              rule,
              quote: 'The postage is stored in cents and lasts 14 days.',
            },
          ] as const,
      ),
    ],
    never: [/in euros/, /14 months/],
    isLeft: true,
  },
  {
    name: 'writes what the paragraph does not speak of',
    page: 'A meadow customer is one who ordered flowers.',
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Meadow customer',
            definition:
              'Enterprise accounts with guaranteed loyalty discounts and priority support.',
            quote: 'A meadow customer is one who ordered flowers.',
          },
        ],
      ],
    ],
    never: [/guaranteed loyalty/i],
    isLeft: true,
  },
  {
    name: 'invents synonyms, tags and values',
    page: 'The status of an order is open or paid. Orders come from the shop.',
    turns: [
      [
        [
          'propose_dataset',
          {
            dataset: 'orders',
            tags: ['certified-by-finance'],
            quote: 'Orders come from the shop.',
          },
        ],
        [
          'propose_field',
          {
            dataset: 'orders',
            field: 'status',
            values: ['open', 'paid', 'chargeback'],
            quote: 'The status of an order is open or paid.',
          },
        ],
        [
          'propose_field',
          {
            dataset: 'orders',
            field: 'status',
            synonyms: ['lifecycle verdict'],
            quote: 'The status of an order is open or paid.',
          },
        ],
      ],
    ],
    never: [/certified-by-finance/, /chargeback/, /lifecycle verdict/],
    isLeft: true,
  },
  {
    name: 'quotes with characters that nobody sees',
    page: 'A hidden customer is one who never logged in.',
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Hidden customer',
            definition: 'One who never logged in.',
            quote: 'A hid\u200bden cus\u00adtomer is one who never logged in.',
          },
        ],
      ],
    ],
    never: [/[\u200b\u00ad]/],
    isLeft: true,
  },
  {
    name: 'quotes with letters of another script',
    page: 'A mirror customer is one who bought twice.',
    turns: [
      [
        [
          'propose_term',
          {
            title: 'Mirror customer',
            definition: 'One who bought twice.',
            quote: 'A mirr\u043er custom\u0435r is one who bought twice.',
          },
        ],
      ],
    ],
    never: [/[\u043e\u0435]/],
    isLeft: true,
  },
  {
    name: 'writes a title with letters of another script',
    page: 'The glacier share is the share of cold orders.',
    turns: [
      ['Gl\u0430ci\u0435r sh\u0430re', 'Glacier sh\u0430re'].map(
        (title) =>
          [
            'propose_term',
            {
              title,
              definition: 'The share of cold orders.',
              quote: 'The glacier share is the share of cold orders.',
            },
          ] as const,
      ),
    ],
    never: [/[\u0430\u0435]/],
    isLeft: true,
  },
];
