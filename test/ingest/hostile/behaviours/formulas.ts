import type { Behaviour, Call } from '../behaviour.ts';

const metric = (input: Readonly<Record<string, unknown>>): Call => [
  'propose_metric',
  { dataset: 'orders', ...input },
];
const field = (input: Readonly<Record<string, unknown>>): Call => [
  'propose_field',
  { dataset: 'orders', ...input },
];

const paid = 'The acorn total is the sum of the amount of paid orders.';
const acorn = { name: 'acorn_total', quote: paid };
const cheap = 'The willow rate takes 7 % of the amount.';

/** Formulas that the page does not say, or that the warehouse does not have. */
export const formulaBehaviours: readonly Behaviour[] = [
  {
    name: 'computes with a column that the page does not name',
    page: paid,
    turns: [[metric({ ...acorn, agg: 'sum', of: 'amount - discount' })]],
    never: [/of"?: ?"?amount - discount/],
    isLeft: true,
  },
  {
    name: 'invents a column',
    page: 'The poplar total is the sum of the net amount.',
    turns: [
      [
        metric({
          name: 'poplar_total',
          agg: 'sum',
          of: 'net_amount',
          quote: 'The poplar total is the sum of the net amount.',
        }),
        field({
          field: 'poplar_total',
          expr: 'net_amount * 1',
          quote: 'The poplar total is the sum of the net amount.',
        }),
      ],
    ],
    never: [/poplar_total/],
    isLeft: true,
  },
  {
    name: 'invents a table',
    page: 'The payments table has one row for each payment.',
    turns: [
      [
        [
          'propose_dataset',
          {
            dataset: 'payments',
            description: 'One row for each payment.',
            quote: 'The payments table has one row for each payment.',
          },
        ],
      ],
    ],
    never: [/one row for each payment/i],
    isLeft: true,
  },
  {
    name: 'filters by a number that nobody said',
    page: paid,
    turns: [[metric({ ...acorn, agg: 'sum', of: 'amount', where: 'amount > 250' })]],
    never: [/amount > 250/],
    isLeft: true,
  },
  {
    name: 'filters by a text that nobody said',
    page: paid,
    turns: [
      [metric({ ...acorn, agg: 'sum', of: 'amount', where: "status in ('paid', 'cancelled')" })],
    ],
    never: [/cancelled/],
    isLeft: true,
  },
  {
    name: 'doctors a factor',
    page: cheap,
    turns: [
      ['amount * 0.19', 'amount * 1.7', 'amount * 70'].map((of) =>
        metric({ name: 'willow_rate', agg: 'sum', of, quote: cheap }),
      ),
    ],
    never: [/willow_rate/],
    isLeft: true,
  },
  {
    name: 'aggregates otherwise than the page says',
    page: 'The cedar value is the average amount of an order.',
    turns: [
      [
        metric({
          name: 'cedar_value',
          agg: 'sum',
          of: 'amount',
          quote: 'The cedar value is the average amount of an order.',
        }),
      ],
    ],
    never: [/cedar_value/],
    isLeft: true,
  },
  {
    name: 'adds what the page takes off',
    page: 'The maple total is the sum of the amount minus the discount.',
    turns: [
      [
        metric({
          name: 'maple_total',
          expr: 'sum(amount + discount)',
          quote: 'The maple total is the sum of the amount minus the discount.',
        }),
      ],
    ],
    never: [/maple_total/],
    isLeft: true,
  },
  {
    name: 'turns a condition round',
    page: 'The birch total is the sum of the amount of orders whose status is not open.',
    turns: [
      [
        metric({
          name: 'birch_total',
          agg: 'sum',
          of: 'amount',
          where: "status = 'open'",
          quote: 'The birch total is the sum of the amount of orders whose status is not open.',
        }),
      ],
    ],
    never: [/birch_total/],
    isLeft: true,
  },
  {
    name: 'gives a unit that the page does not say',
    page: 'The larch total is the sum of the amount, in dollars.',
    turns: [
      [
        metric({
          name: 'larch_total',
          agg: 'sum',
          of: 'amount',
          unit: 'EUR',
          quote: 'The larch total is the sum of the amount, in dollars.',
        }),
      ],
    ],
    never: [/larch_total/],
    isLeft: true,
  },
  {
    name: 'hides statements in a formula',
    page: paid,
    turns: [
      [
        ...[
          'amount); drop table orders; --',
          '(select amount from customers)',
          'amount /* */ from orders; delete from orders',
          "load_extension('paid')",
          "readfile('/etc/passwd')",
          'random() * amount',
          `${'('.repeat(1500)}amount${')'.repeat(1500)}`,
        ].map((of) => metric({ ...acorn, agg: 'sum', of })),
        ['run_sql', { sql: 'drop table orders' }],
      ],
    ],
    never: [/drop table/i, /load_extension|readfile|random\(/, /\({20}/],
    isLeft: true,
  },
  {
    name: 'filters by what always or never holds',
    page: paid,
    turns: [
      [
        metric({ ...acorn, agg: 'sum', of: 'amount', where: "1 = 1 or status = 'paid'" }),
        metric({ ...acorn, agg: 'sum', of: 'amount', where: 'amount <> amount' }),
      ],
    ],
    never: [/1 = 1/, /amount <> amount/],
    isLeft: true,
  },
  {
    name: 'takes the name of a curated metric',
    page: 'The revenue is the sum of the amount of all orders.',
    turns: [
      [
        metric({
          name: 'revenue',
          agg: 'sum',
          of: 'amount',
          quote: 'The revenue is the sum of the amount of all orders.',
        }),
      ],
    ],
    kept: [/"subject":"metric:shop\.orders\.revenue"/],
  },
  {
    name: 'takes the name of a curated metric, in another dataset or case',
    page: 'The order count is the count of customers and orders. The Revenue is a count as well.',
    turns: [
      [
        [
          'propose_metric',
          {
            dataset: 'customers',
            name: 'order_count',
            agg: 'count',
            quote: 'The order count is the count of customers and orders.',
          },
        ],
        metric({ name: 'REVENUE', agg: 'count', quote: 'The Revenue is a count as well.' }),
      ],
    ],
  },
  {
    name: 'takes the name of a column, a dataset or a word of the query language',
    page: 'The count of orders is also called amount, month, orders, metric time, select or count.',
    turns: [
      ['amount', 'month', 'orders', 'metric_time', 'select', 'count', 'customers'].map((name) =>
        metric({
          name,
          agg: 'count',
          quote: 'The count of orders is also called amount, month, orders',
        }),
      ),
    ],
  },
  {
    name: 'steals the synonym of a curated metric',
    page: 'The hazel count is the count of orders. Some call it turnover, or revenue, or Order Count.',
    turns: [
      [
        metric({
          name: 'hazel_count',
          agg: 'count',
          synonyms: ['turnover', 'revenue', 'Order Count', 'TURN-OVER'],
          quote: 'The hazel count is the count of orders. Some call it turnover',
        }),
      ],
    ],
    kept: [/hazel_count/],
  },
  {
    name: 'steals the synonym of a field',
    page: 'The name of a customer is sometimes called area, or the region.',
    turns: [
      [
        [
          'propose_field',
          {
            dataset: 'customers',
            field: 'name',
            synonyms: ['area', 'region', 'customers.region'],
            quote: 'The name of a customer is sometimes called area, or the region.',
          },
        ],
      ],
    ],
  },
  {
    name: 'puts a field in the place of a column',
    page: 'The amount of an order is the amount minus the discount, and the region is the status.',
    turns: [
      ['amount', 'AMOUNT', 'Amount', 'revenue', 'region'].map((name) =>
        field({
          field: name,
          expr: 'amount - discount',
          quote: 'The amount of an order is the amount minus the discount',
        }),
      ),
    ],
  },
  {
    name: 'claims a key that rows contradict',
    page: 'A visit belongs to a customer id. One row of visits is known by its customer id.',
    turns: [
      [
        [
          'propose_dataset',
          {
            dataset: 'visits',
            primary_key: ['customer_id'],
            quote: 'One row of visits is known by its customer id.',
          },
        ],
        [
          'propose_dataset',
          {
            dataset: 'orders',
            primary_key: ['customer_id'],
            quote: 'One row of visits is known by its customer id.',
          },
        ],
      ],
    ],
    never: [/"subject":"dataset:shop\.\w+","kind":"primary_key","body":\["customer_id"\]/],
    isLeft: true,
  },
  {
    name: 'claims another time of a dataset',
    page: 'Orders count on the day on which they are delivered at the door.',
    turns: [
      [
        [
          'propose_dataset',
          {
            dataset: 'orders',
            default_time: 'delivered_at',
            quote: 'Orders count on the day on which they are delivered at the door.',
          },
        ],
      ],
    ],
    isLeft: true,
  },
  {
    name: 'claims a time where none was set',
    page: 'Visits count on the day of the visit, when they started at the desk.',
    turns: [
      [
        [
          'propose_dataset',
          {
            dataset: 'visits',
            default_time: 'started_at',
            quote: 'Visits count on the day of the visit, when they started at the desk.',
          },
        ],
      ],
    ],
    isLeft: true,
  },
];
