import type { Behaviour, Call } from '../behaviour.ts';

interface Join {
  readonly from: string;
  readonly to: string;
  readonly on: readonly (readonly [string, string])[];
  readonly quote: string;
  readonly role?: string;
}

const join = ({ from, on, ...others }: Join): Call => [
  'propose_relationship',
  {
    dataset: from,
    on: on.map(([own, target]) => ({ field: own, to_field: target })),
    ...others,
  },
];

const gift = 'An order may be a thanks to one of the customers.';

/** Joins that the rows or the page do not bear out, or that compete with others. */
export const joinBehaviours: readonly Behaviour[] = [
  {
    name: 'joins what has no values in common',
    page: 'Each of the order items belongs to one of the products.',
    turns: [
      [
        join({
          from: 'order_items',
          to: 'products',
          on: [['order_id', 'id']],
          quote: 'Each of the order items belongs to one of the products.',
        }),
      ],
    ],
    never: [/"subject":"relationship:shop\.order_items\(order_id\)"[^\n]*"to":"products"/],
    isLeft: true,
  },
  {
    name: 'joins what is contained by chance',
    page: 'Each of the order items belongs to one of the products.',
    turns: [
      [
        join({
          from: 'order_items',
          to: 'products',
          on: [['quantity', 'id']],
          quote: 'Each of the order items belongs to one of the products.',
        }),
      ],
    ],
    never: [/relationship:shop\.order_items\(quantity\)/],
    isLeft: true,
  },
  {
    name: 'joins to the many side',
    page: 'A customer has orders, by its id; customers and orders have the same customer id.',
    turns: [
      [
        join({
          from: 'customers',
          to: 'orders',
          on: [['id', 'customer_id']],
          quote: 'A customer has orders, by its id',
        }),
      ],
    ],
    never: [/relationship:shop\.customers\(id\)/],
    isLeft: true,
  },
  {
    name: 'joins to a table without rows',
    page: 'Each order has one of the archive numbers, by its id.',
    turns: [
      [
        join({
          from: 'orders',
          to: 'archive',
          on: [['id', 'id']],
          quote: 'Each order has one of the archive numbers, by its id.',
        }),
        join({
          from: 'archive',
          to: 'orders',
          on: [['id', 'id']],
          quote: 'Each order has one of the archive numbers, by its id.',
        }),
      ],
    ],
    never: [/"to":"archive"/, /relationship:shop\.archive/],
    isLeft: true,
  },
  {
    name: 'joins a true column that makes a query ambiguous',
    page: gift,
    turns: [[join({ from: 'orders', to: 'customers', on: [['thanked', 'id']], quote: gift })]],
    kept: [/relationship:shop\.orders\(thanked\)/],
  },
  {
    name: 'joins with the role of another join',
    page: `${gift} The customers are told.`,
    turns: [
      [
        join({
          from: 'orders',
          to: 'customers',
          on: [['thanked', 'id']],
          quote: gift,
          role: 'buyer',
        }),
        join({
          from: 'visits',
          to: 'customers',
          on: [['customer_id', 'id']],
          quote: gift,
          role: 'orders',
        }),
      ],
    ],
  },
  {
    name: 'joins a table to itself',
    page: 'Orders have orders, each by its id.',
    turns: [
      [
        join({
          from: 'orders',
          to: 'orders',
          on: [['id', 'id']],
          quote: 'Orders have orders, each by its id.',
        }),
      ],
    ],
    never: [/relationship:shop\.orders\(id\)/],
    isLeft: true,
  },
  {
    name: 'joins by columns and tables that do not exist',
    page: 'Orders have a coupon from the coupons of the campaigns.',
    turns: [
      [
        join({
          from: 'orders',
          to: 'campaigns',
          on: [['id', 'id']],
          quote: 'Orders have a coupon from the coupons of the campaigns.',
        }),
        join({
          from: 'orders',
          to: 'coupons',
          on: [['coupon_code', 'code']],
          quote: 'Orders have a coupon from the coupons of the campaigns.',
        }),
        join({
          from: 'orders',
          to: 'coupons',
          on: [['id"; drop table orders; --', 'code']],
          quote: 'Orders have a coupon from the coupons of the campaigns.',
        }),
      ],
    ],
    never: [/campaigns|coupon_code/],
    isLeft: true,
  },
];
