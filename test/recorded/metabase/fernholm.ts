/** What the Metabase of the sample company has, in the shapes of its API. */

export const databases = [
  { id: 3, name: 'Analytics', engine: 'duckdb', details: { password: 'hunter2' } },
  {
    id: 7,
    name: 'Scratch',
    engine: 'postgres',
    details: { host: 'db.fernholm.example', dbname: 'scratch', password: 'hunter3' },
  },
];

const field = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  display_name: name,
  description: null,
  semantic_type: null,
  fk_target_field_id: null,
  ...more,
});

export const metadata = {
  tables: [
    {
      id: 10,
      name: 'orders',
      schema: 'main',
      display_name: 'Bestellungen',
      description: 'One row per order.',
      view_count: 7,
      fields: [
        field(101, 'id', { semantic_type: 'type/PK' }),
        field(102, 'amount', { display_name: 'Order total', description: 'Euros, with tax.' }),
        field(103, 'status', { semantic_type: 'type/Category' }),
        field(104, 'buyer_id', { semantic_type: 'type/FK', fk_target_field_id: 201 }),
        field(105, 'placed_at'),
      ],
    },
    {
      id: 20,
      name: 'customers',
      schema: 'main',
      display_name: 'Customers',
      description: null,
      fields: [field(201, 'id', { semantic_type: 'type/PK' }), field(202, 'cust_rgn')],
    },
    { id: 30, name: 'gone', schema: 'main', display_name: 'Gone', description: null, fields: [] },
  ],
};

export const collections = [
  { id: 'root', name: 'Our analytics', is_personal: false },
  { id: 2, name: "Ada's Personal Collection", location: '/', personal_owner_id: 1 },
  { id: 3, name: 'Finance', location: '/', personal_owner_id: null },
  { id: 4, name: 'Monthly', location: '/3/', personal_owner_id: null },
  { id: 5, name: 'Drafts', location: '/2/', personal_owner_id: null },
  { id: 6, name: 'Snippets', location: '/', namespace: 'snippets' },
];

interface Card {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly type: 'question' | 'model' | 'metric';
  readonly archived: boolean;
  readonly collection_id: number | null;
  readonly database_id: number;
  readonly dataset_query: Readonly<Record<string, unknown>>;
  readonly moderation_reviews: readonly object[];
  readonly view_count: number;
  /** The dashboard that it is saved in, instead of a collection. */
  readonly dashboard_id?: number | null;
  readonly result_metadata?: readonly object[];
}

const card = (id: number, name: string, more: Partial<Card>): Card => ({
  id,
  name,
  description: null,
  type: 'question',
  archived: false,
  collection_id: 3,
  database_id: 3,
  dataset_query: {},
  moderation_reviews: [],
  view_count: id * 13,
  ...more,
});

const mbql = (query: object) => ({ database: 3, type: 'query', query });
const stages = (stage: object) => ({
  'lib/type': 'mbql/query',
  database: 3,
  stages: [{ 'lib/type': 'mbql.stage/mbql', ...stage }],
});
const native = (query: string) => ({ database: 3, type: 'native', native: { query } });
const uuid = (number: number) => ({ 'lib/uuid': `00000000-0000-4000-8000-${1e11 + number}` });

export const cards: readonly Card[] = [
  card(1, 'Paid revenue', {
    type: 'metric',
    description: 'What customers paid.',
    moderation_reviews: [{ status: 'verified', most_recent: true }],
    dataset_query: mbql({
      'source-table': 10,
      aggregation: [['sum', ['field', 102, { 'base-type': 'type/Decimal' }]]],
      filter: ['=', ['field', 103, null], 'paid'],
    }),
  }),
  card(2, 'Orders that still count', {
    type: 'metric',
    dataset_query: stages({
      'source-table': 10,
      aggregation: [['count', uuid(1)]],
      filters: [
        ['!=', uuid(2), ['field', { ...uuid(3), 'base-type': 'type/Text' }, 103], 'cancelled'],
        ['>', uuid(4), ['field', uuid(5), 102], 200],
      ],
    }),
  }),
  card(3, 'Orders + customers', {
    collection_id: null,
    dataset_query: stages({
      'source-table': 10,
      joins: [
        {
          alias: 'Customers',
          'lib/type': 'mbql/join',
          stages: [{ 'lib/type': 'mbql.stage/mbql', 'source-table': 20 }],
          conditions: [
            ['=', uuid(6), ['field', uuid(7), 104], ['field', { 'join-alias': 'Customers' }, 201]],
          ],
        },
      ],
    }),
  }),
  card(4, 'Returned "orders" 🙃', {
    collection_id: 4,
    description: 'Counted each month.',
    dataset_query: native(
      "WITH c AS (SELECT * FROM customers) SELECT count(*) FROM main.orders o JOIN c ON c.id = o.buyer_id WHERE o.status = 'returned' [[AND o.placed_at > {{from}}]];",
    ),
  }),
  card(5, 'Over a question', {
    collection_id: 4,
    dataset_query: mbql({ 'source-table': 'card__4', aggregation: [['count']] }),
  }),
  card(6, 'Revenue last month', {
    type: 'metric',
    collection_id: 4,
    dataset_query: mbql({
      'source-table': 10,
      aggregation: [['sum', ['field', 102, null]]],
      filter: ['time-interval', ['field', 105, null], -1, 'month'],
    }),
  }),
  card(7, 'Private', { collection_id: 2, dataset_query: mbql({ 'source-table': 10 }) }),
  card(9, 'Standing orders', {
    type: 'model',
    collection_id: 4,
    dataset_query: {
      database: 3,
      type: 'native',
      native: {
        query:
          'SELECT id, amount FROM orders WHERE {{snippet: standing}} [[AND placed_at > {{from}}]] AND {{state}};',
        'template-tags': {
          'snippet: standing': { type: 'snippet', 'snippet-name': 'standing', 'snippet-id': 5 },
          from: { name: 'from', type: 'date' },
          state: { name: 'state', type: 'dimension', dimension: ['field', 103, null] },
        },
      },
    },
    result_metadata: [
      { name: 'id', base_type: 'type/Integer', display_name: 'ID' },
      { name: 'amount', base_type: 'type/Decimal', display_name: 'Order total' },
    ],
  }),
  card(10, 'Large orders by week', {
    dashboard_id: 70,
    dataset_query: mbql({
      'source-table': 10,
      aggregation: ['count'],
      breakout: [['field', 105, { 'temporal-unit': 'week' }]],
      filter: ['segment', 4],
    }),
  }),
  card(8, 'Elsewhere', {
    database_id: 7,
    dataset_query: { database: 7, type: 'native', native: { query: 'select 1 from orders' } },
  }),
];

export const snippets = [
  {
    id: 5,
    name: 'standing',
    content: "status NOT IN ('returned', 'cancelled')",
    archived: false,
    creator: { common_name: 'Ada Example' },
    template_tags: null,
  },
  { id: 6, name: 'unused', content: 'x', archived: true },
];

export const segments = [
  {
    id: 4,
    name: 'Large orders',
    description: 'What sales looks at first.',
    table_id: 10,
    archived: false,
    definition: {
      'source-table': 10,
      aggregation: [['count']],
      filter: ['>', ['field', 102, null], 200],
    },
  },
];

export const dashboards = [
  {
    id: 70,
    name: 'Weekly review',
    description: 'Every Monday.',
    archived: false,
    collection_id: 3,
    view_count: 12,
    tabs: [{ id: 1, name: 'Sales' }],
    dashcards: [
      {
        id: 701,
        card_id: 10,
        card: { id: 10, dashboard_id: 70 },
        dashboard_tab_id: 1,
        series: [{ id: 1 }],
        visualization_settings: {},
      },
      {
        id: 702,
        card_id: null,
        card: null,
        dashboard_tab_id: 1,
        series: [],
        visualization_settings: {
          virtual_card: { display: 'text' },
          text: 'Orders count from the day they were placed.',
        },
      },
    ],
  },
];
