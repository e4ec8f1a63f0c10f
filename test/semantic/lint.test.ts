import { beforeAll, describe, expect, test } from 'vitest';
import { lintSql } from '../../src/semantic/lint/lint.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { load } from './shop.ts';

const files = {
  orders: `
dataset: orders
source: main.orders
primary_key: [id]
fields: [{name: id}, {name: customer_id}, {name: status}, {name: created_at, type: date}, {name: net, expr: amount}]
metrics:
  - {name: revenue, agg: sum, of: amount, where: status = 'paid'}
  - {name: web_revenue, agg: sum, of: net, where: "channel = 'web' and status = 'paid'"}
  - {name: largest, agg: max, of: amount}
relationships: [{to: customers, on: {customer_id: id}}]
`,
  customers:
    'dataset: customers\nsource: customers\nprimary_key: [id]\nfields: [{name: id}, {name: segment}]\nmetrics: [{name: credit, agg: sum, of: limit_eur}]\n',
  items:
    'dataset: items\nsource: order_items\nprimary_key: [id]\nfields: [{name: id}, {name: order_id}]\nmetrics: [{name: pieces, agg: sum, of: quantity}]\nrelationships: [{to: orders, on: {order_id: id}}]\n',
  stock:
    'dataset: stock\nsource: stock\nprimary_key: [shop, day]\nfields: [{name: shop}, {name: day, type: date}]\nmetrics: [{name: level, agg: sum, of: pieces, where: shop > 0, semi_additive: {over: day, take: last}}]\n',
  log: 'dataset: log\nsource: log\nfields: [{name: order_id}]\n',
};

let model: SemanticModel;
beforeAll(async () => {
  const loaded = await load(files);
  expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  ({ model } = loaded);
});
const rules = (sql: string) =>
  lintSql(sql, model).findings.map(({ rule, message }) => `${rule}: ${message}`);
const paid = "status = 'paid'";

describe('a join that repeats rows of a sum', () => {
  const repeated =
    'fan_out: sum(orders.amount) counts rows of orders more than once: the join to items is not on a key of it';

  test.each([
    [
      'straight down',
      `SELECT sum(o.amount) FROM orders o JOIN order_items i ON i.order_id = o.id WHERE o.${paid}`,
    ],
    [
      'by a comma',
      `SELECT sum(o.amount) FROM main.orders o, order_items i WHERE o.id = i.order_id AND o.${paid}`,
    ],
    [
      'in a common table',
      `WITH x AS (SELECT SUM(orders.amount) AS s FROM orders LEFT JOIN order_items ON order_id = orders.id WHERE ${paid}) SELECT * FROM x`,
    ],
    [
      'up and over',
      `SELECT sum(o.amount), max(o.amount) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN order_items i ON i.order_id = o.id WHERE o.${paid}`,
    ],
  ])('%s', (_, sql) => {
    expect(rules(sql)).toEqual([repeated]);
  });

  test('is a finding for the one side only, with the metric that is right', () => {
    const { findings } = lintSql(
      'SELECT sum(c.limit_eur), sum(i.quantity) FROM order_items i JOIN orders o ON i.order_id = o.id JOIN customers c ON c.id = o.customer_id',
      model,
    );
    expect(findings).toEqual([
      {
        rule: 'fan_out',
        message:
          'sum(customers.limit_eur) counts rows of customers more than once: the join to orders is not on a key of it',
        hint: 'Each row counts once if you ask for the metric customers.credit.',
      },
    ]);
  });

  test.each([
    [
      'to the one side',
      `SELECT c.segment, sum(o.amount) FROM orders o JOIN customers c ON o.customer_id = c.id WHERE o.${paid} GROUP BY 1`,
    ],
    [
      'of what repetition does not change',
      'SELECT max(o.amount), count(DISTINCT o.id) FROM orders o JOIN order_items i ON i.order_id = o.id',
    ],
    [
      'to what has no declared key',
      `SELECT sum(o.amount) FROM orders o JOIN log l ON l.order_id = o.id WHERE o.${paid}`,
    ],
    [
      'to what the model does not know',
      `SELECT sum(o.amount) FROM orders o JOIN other x ON x.order_id = o.id WHERE ${paid}`,
    ],
    [
      'that a subquery brings to one row',
      `SELECT sum(o.amount) FROM orders o JOIN (SELECT order_id, sum(quantity) AS q FROM order_items GROUP BY 1) i ON i.order_id = o.id WHERE o.${paid}`,
    ],
    ['that does not parse', 'SELECT FROM WHERE'],
  ])('nothing is said of one %s', (_, sql) => {
    expect(rules(sql)).toEqual([]);
  });
});

describe('a filter that every curated metric of a column has', () => {
  const missing =
    "missing_filter: sum(orders.amount) has no status = 'paid', which every curated metric of it has: orders.revenue, orders.web_revenue";

  test('is missed', () => {
    expect(rules('SELECT sum(amount) FROM orders')).toEqual([missing]);
    expect(rules("SELECT sum(amount) FROM orders WHERE status = 'open'")).toEqual([missing]);
    expect(rules("SELECT sum(amount) FROM orders WHERE status IN ('paid', 'open')")).toEqual([
      missing,
    ]);
  });

  test.each([
    `SELECT sum(o.amount) FROM orders AS o WHERE o."status"='paid'`,
    `SELECT sum(amount) FROM orders WHERE ${paid} AND channel = 'web'`,
    'SELECT max(amount), sum(cost) FROM orders',
  ])('is there, or not asked for: %s', (sql) => {
    expect(rules(sql)).toEqual([]);
  });
});

test('where metrics say the same, they are proposed', () => {
  const proposal = (sql: string) => lintSql(sql, model).proposal;
  const left = 'FROM orders o LEFT JOIN customers c ON o.customer_id = c.id';
  const bySegment = {
    metrics: ['orders.revenue'],
    dimensions: ['orders.customers.segment'],
    where: [],
  };
  expect(
    proposal(`SELECT c.segment AS s, sum(o.amount) ${left} WHERE o.${paid} GROUP BY c.segment`),
  ).toEqual(bySegment);
  expect(
    proposal(`SELECT c.segment, sum(o.amount) ${left} WHERE o.status IN ('paid') GROUP BY 1`),
  ).toEqual(bySegment);
  expect(proposal(`SELECT sum(o.amount) ${left} WHERE o.${paid} AND c.segment = 'a''b'`)).toEqual({
    metrics: ['orders.revenue'],
    dimensions: [],
    where: ["orders.customers.segment in ('a''b')"],
  });
  // Each of these has, or may have, other rows than the metric.
  for (const sql of [
    `SELECT c.segment, sum(o.amount) FROM orders o JOIN customers c ON o.customer_id = c.id WHERE o.${paid} GROUP BY 1`,
    `SELECT sum(o.amount) ${left}`,
    `SELECT sum(o.amount) ${left} WHERE o.${paid} AND o.created_at > '2024-01-01'`,
    `SELECT sum(o.amount) OVER () ${left} WHERE o.${paid}`,
    `SELECT sum(o.amount) ${left} WHERE o.${paid} HAVING sum(o.amount) > 5`,
    `SELECT sum(o.amount) + 1 ${left} WHERE o.${paid}`,
    `SELECT sum(o.amount * 2) ${left} WHERE o.${paid}`,
    `SELECT sum(o.amount) FROM orders o LEFT JOIN customers c ON o.id = c.id WHERE o.${paid}`,
  ])
    expect(proposal(sql), sql).toBeUndefined();
  expect(proposal('SELECT sum(o.amount), sum(o.cost) FROM orders o')).toBeUndefined();
  expect(
    proposal(
      'SELECT lower(c.segment), sum(o.amount) FROM orders o JOIN customers c ON o.customer_id = c.id GROUP BY 1',
    ),
  ).toBeUndefined();
  expect(proposal('SELECT id FROM orders')).toBeUndefined();
  // A balance takes one value of each shop: no sum of all days is that.
  expect(lintSql('SELECT sum(pieces) FROM stock', model)).toEqual({
    findings: [],
    proposal: undefined,
  });
});
