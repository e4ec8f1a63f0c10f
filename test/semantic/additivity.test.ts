import { describe, expect, test } from 'vitest';
import { compile, load, shop } from './shop.ts';

const { orders = '', customers = '', ...others } = shop;
const { model, diagnostics } = await load({
  ...others,
  orders: orders.replace(
    'metrics:\n',
    `metrics:
  - {name: of_all, total: {of: revenue}}
  - {name: last_balance, agg: sum, of: amount, semi_additive: {over: created_at, take: last, per: [customer_id]}}
  - {name: sales_after, conversion: {base: order_count, to: order_count, on: {customer_id: customer_id}, calculation: conversions}}
`,
  ),
  customers: `${customers}row_metrics: [{name: spent, metric: orders.revenue, via: orders.buyer}]\n`,
});
const buyer = 'orders.buyer.segment';
const month = 'metric_time.month';
const label = 'tags.label';

/**
 * The metric, what it is grouped by, then over which of these it adds up (undefined: over any), and
 * why not over the others.
 */
const cases: [
  metric: string,
  dimensions: string[],
  over: string[] | undefined,
  because?: RegExp,
][] = [
  ['orders.revenue', [buyer, month], undefined],
  ['orders.order_count', [], undefined],
  ['orders.enterprise_revenue', [month], undefined],
  ['orders.last_year', [month], undefined],
  ['orders.sales_after', [buyer], undefined],
  ['sum(customers.spent)', ['customers.segment'], undefined],
  ['orders.revenue / 100', [buyer], undefined],
  ['0.5 * (orders.revenue - 2 * orders.revenue)', [buyer], undefined],
  ['count(orders.id) - count(orders.amount)', [buyer], undefined],
  ['orders.revenue - tickets.ticket_count', [month], undefined],
  [
    'sum(orders.amount) - count(orders.id)',
    [buyer],
    [],
    /^it is NULL for a group where one of its sums has no values$/,
  ],
  ['orders.profit', [buyer], [], /NULL/],
  ['orders.revenue + 1', [buyer], [], /^it is a ratio, or uses arithmetic/],
  ['orders.revenue * 2 * orders.order_count', [buyer], [], /ratio/],
  ['1 / orders.revenue', [buyer], [], /ratio/],
  ['2 * 3 - orders.revenue', [buyer], [], /ratio/],
  ['abs(orders.revenue)', [buyer], [], /ratio/],
  ['orders.aov', [buyer], [], /ratio/],
  ['orders.bought_again', [buyer], [], /ratio/],
  ['orders.customers_seen', [buyer], [], /^one value can be in several groups of orders$/],
  ['orders.average', [], [], /^it is based on an avg of orders$/],
  ['orders.largest', [buyer], [], /a max/],
  ['orders.per_buyer', [buyer], [], /for each orders\.customer_id/],
  ['orders.of_all', [buyer], [], /total/],
  ['orders.last_balance', [buyer, month], [buyer], /^it is a balance over orders\.created_at$/],
  ['orders.last_balance', ['orders.created_at.year', buyer], [buyer], /balance/],
  ['orders.lowest', [buyer, month], [], /the min over orders\.created_at/],
  ['orders.running', [buyer, month], [buyer], /^it accumulates over orders\.created_at$/],
  ['orders.ten_days', ['metric_time.day', 'metric_time.month', buyer], [buyer], /accumulates/],
  [
    'orders.revenue',
    [label, month],
    [month],
    /^one row of orders can be in several groups by orders\.tags\.label$/,
  ],
  ['orders.running', [label, month, buyer], [buyer], /accumulates.*; one row of orders/],
  ['orders.running - orders.revenue', [month, buyer], [buyer], /accumulates/],
];

describe('the receipt says over what a metric may be summed', () => {
  test('of a model without faults', () => expect(diagnostics).toEqual([]));

  test.each(cases)('%s by %j: over %j', (...[metric, dimensions, over, because]) => {
    const [receipt] = compile(model, { metrics: [metric], dimensions }).receipt.metrics;
    expect(receipt).toMatchObject({ additive: over === undefined });
    expect(receipt?.sums?.only_over).toEqual(over);
    expect(receipt?.sums?.because ?? '').toMatch(because ?? /^$/);
  });
});
