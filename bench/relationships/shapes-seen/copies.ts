import {
  code,
  computed,
  day,
  integer,
  moment,
  money,
  oneOf,
  ref,
  serial,
  words,
  type HandWrittenSchema,
} from '../schema-builder.ts';

export const copies: HandWrittenSchema = {
  stg_orders: {
    rows: 700,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: computed('INTEGER', ({ random }) => 1 + Math.floor(random() * 210)),
      store_code: computed(
        'TEXT',
        ({ random, values }) => values('stores', 'store_code')[Math.floor(random() * 15)] ?? null,
      ),
      ordered_at: moment(),
      amount: money(300),
      _loaded_at: moment(),
    },
    open: [
      [['customer_id'], 'stg_customers', ['customer_id']],
      [['customer_id'], 'customers', ['customer_id']],
      [['store_code'], 'stores', ['store_code']],
      [['order_id'], 'orders', ['order_id']],
    ],
  },
  stg_customers: {
    rows: 210,
    key: ['customer_id'],
    columns: {
      customer_id: serial(),
      full_name: words(),
      city: oneOf('Oslo', 'Bergen'),
      _loaded_at: moment(),
    },
    open: [[['customer_id'], 'customers', ['customer_id']]],
  },
  customers: {
    rows: 210,
    key: ['customer_id'],
    columns: {
      customer_id: serial(),
      full_name: words(),
      city: oneOf('Oslo', 'Bergen'),
      first_order_on: day(),
    },
    open: [[['customer_id'], 'stg_customers', ['customer_id']]],
  },
  customers_history: {
    rows: 500,
    key: ['customer_id', 'valid_from'],
    columns: {
      customer_id: ref('customers', 'customer_id'),
      full_name: words(),
      valid_from: day(),
      valid_to: day(),
      is_current: integer(0, 1),
    },
    open: [[['customer_id'], 'stg_customers', ['customer_id']]],
  },
  stores: {
    rows: 15,
    key: ['store_code'],
    columns: { store_code: code('S', 100), store_name: words(), opened_on: day() },
  },
  orders: {
    rows: 700,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: ref('customers', 'customer_id'),
      store_code: ref('stores', 'store_code'),
      ordered_at: moment(),
      amount: money(300),
      status: oneOf('open', 'shipped'),
    },
    open: [
      [['order_id'], 'stg_orders', ['order_id']],
      [['customer_id'], 'stg_customers', ['customer_id']],
    ],
  },
  orders_snapshot_2023: {
    rows: 400,
    key: ['order_id'],
    columns: {
      order_id: serial(5001),
      customer_id: computed('INTEGER', ({ random }) => 1 + Math.floor(random() * 210)),
      status: oneOf('open', 'shipped'),
    },
    open: [
      [['order_id'], 'orders', ['order_id']],
      [['order_id'], 'stg_orders', ['order_id']],
      [['customer_id'], 'customers', ['customer_id']],
      [['customer_id'], 'stg_customers', ['customer_id']],
    ],
  },
  order_lines: {
    rows: 1800,
    key: ['order_line_id'],
    columns: {
      order_line_id: serial(),
      order_id: ref('orders', 'order_id'),
      sku: ref('items', 'sku'),
      qty: integer(1, 9),
      price: money(80),
    },
    open: [[['order_id'], 'stg_orders', ['order_id']]],
  },
  items: {
    rows: 130,
    key: ['sku'],
    columns: { sku: code('SKU-', 1000), label: words(), weight_g: integer(10, 900) },
  },
  refunds: {
    rows: 90,
    key: ['refund_id'],
    columns: {
      refund_id: serial(),
      order_id: ref('orders', 'order_id'),
      refunded_at: moment(),
      amount: money(80),
    },
    open: [[['order_id'], 'stg_orders', ['order_id']]],
  },
};
