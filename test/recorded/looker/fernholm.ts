/** What the Looker of the sample company has, in the shapes of its API 4.0. */

type FieldStart = readonly [name: string, type: string];
const field = ([name, type]: FieldStart, sql: string | null, more: object = {}) => ({
  name,
  type,
  sql,
  label_short: name.split('.')[1],
  description: '',
  hidden: false,
  primary_key: false,
  view: name.split('.')[0],
  original_view: name.startsWith('buyer.') ? 'customers' : name.split('.')[0],
  scope: name.split('.')[0],
  dimension_group: null,
  value_format_name: null,
  filters: null,
  error: null,
  times_used: 7,
  ...more,
});
const placed = (timeframe: string) =>
  field([`orders.placed_${timeframe}`, `date_${timeframe}`], '${TABLE}.placed_at', {
    dimension_group: 'orders.placed',
  });

const orders = {
  id: 'shop::orders',
  name: 'orders',
  view_name: 'orders',
  description: 'Orders and their buyers',
  sql_table_name: 'main.orders',
  connection_name: 'warehouse',
  access_filters: [],
  always_filter: [],
  joins: [
    {
      name: 'buyer',
      from: 'customers',
      type: 'left_outer',
      relationship: 'many_to_one',
      sql_on: '${orders.buyer_id} = ${buyer.id} ',
      foreign_key: null,
      sql_table_name: 'main.customers',
      dependent_fields: ['orders.buyer_id', 'buyer.id'],
    },
  ],
  fields: {
    dimensions: [
      field(['orders.id', 'number'], '${TABLE}.id', { primary_key: true }),
      field(['orders.status', 'string'], '${TABLE}.status', { label_short: 'Order state' }),
      field(['orders.buyer_id', 'number'], '${TABLE}.buyer_id', { hidden: true }),
      field(['orders.amount', 'number'], '${TABLE}.amount'),
      placed('date'),
      placed('month'),
      field(['buyer.id', 'number'], '${TABLE}.id', { primary_key: true }),
      field(['buyer.region', 'string'], '${TABLE}.cust_rgn', { description: 'Where they live.' }),
      field(['orders.secret', 'string'], null),
      field(
        ['orders.breakout', 'string'],
        "'x' ;; } measure: evil { type: count } dimension: y { sql: 1",
      ),
    ],
    measures: [
      field(['orders.count', 'count'], null),
      field(['orders.paid_amount', 'sum'], '${orders.amount}', {
        label_short: 'Takings',
        description: 'What customers paid.',
        filters: [{ field: 'orders.status', condition: 'paid' }],
      }),
    ],
  },
};

export const models = [
  {
    name: 'shop',
    label: 'Shop',
    project_name: 'fernholm',
    explores: [{ name: 'orders', hidden: false }],
  },
];
export const explores = new Map<string, object>([['shop/orders', orders]]);

export const folders = [
  { id: '1', name: 'Shared', parent_id: null, is_personal: false, is_personal_descendant: false },
  { id: '2', name: 'Finance', parent_id: '1', is_personal: false, is_personal_descendant: false },
  { id: '3', name: 'Ada', parent_id: null, is_personal: true, is_personal_descendant: true },
];

const query = (more: object) => ({
  model: 'shop',
  view: 'orders',
  fields: ['orders.paid_amount'],
  pivots: null,
  filters: null,
  filter_expression: null,
  sorts: [],
  limit: '500',
  dynamic_fields: null,
  ...more,
});
const look = (id: number, title: string, more: object) => ({
  id: String(id),
  title,
  description: null as string | null,
  deleted: false,
  folder: { id: '2', name: 'Finance' },
  view_count: id * 31,
  user_name: 'Ada Example',
  certification_metadata: null as object | null,
  query: null as object | null,
  ...more,
});
export type Look = ReturnType<typeof look>;

export const looks: readonly Look[] = [
  look(1, 'Paid by month', {
    description: 'For the board.',
    certification_metadata: { certification_status: 'certified' },
    query: query({
      fields: ['orders.placed_month', 'orders.paid_amount', 'share'],
      filters: { 'orders.status': 'paid,shipped' },
      sorts: ['orders.placed_month desc'],
      dynamic_fields: JSON.stringify([{ table_calculation: 'share', expression: '1' }]),
    }),
  }),
  look(2, 'Buyers by region', {
    query: query({ fields: ['buyer.region', 'orders.count'], limit: '10' }),
  }),
  look(3, 'Last week', { query: query({ filters: { 'orders.placed_date': '7 days' } }) }),
  look(4, 'Mine', { folder: { id: '3', name: 'Ada' }, query: query({}) }),
  look(5, 'Custom "field" 🙃', {
    query: query({ dynamic_fields: JSON.stringify([{ measure: 'm', based_on: 'orders.amount' }]) }),
  }),
];

export const dashboards = [
  {
    id: '9',
    title: 'Board',
    description: 'Every Monday.',
    deleted: false,
    folder: { id: '1', name: 'Shared' },
    certification_metadata: null,
    view_count: 99,
    dashboard_elements: [
      { id: '90', title: 'Takings', type: 'vis', body_text: null, query: query({}) },
      {
        id: '91',
        title: null,
        type: 'text',
        body_text: 'Takings count when they are paid.',
        query: null,
      },
    ],
  },
];

export const activity: Readonly<Record<string, readonly object[]>> = {
  'look.id': [
    { 'look.id': 1, 'history.query_run_count': 120 },
    { 'look.id': 2, 'history.query_run_count': 3 },
  ],
  'dashboard.id': [{ 'dashboard.id': '9', 'history.query_run_count': 45 }],
};
