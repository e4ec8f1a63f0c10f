import { beforeAll, expect, test } from 'vitest';
import { querySchema } from '../../src/semantic/query/query.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { compile, load } from './shop.ts';

beforeAll(loadAnalyzer);

const orders = (more: string) => `
dataset: orders
source: orders
primary_key: [id]
fields: [{name: id, type: integer}, {name: amount, type: decimal}, {name: customer_id, type: integer}]
metrics:
  - {name: revenue, agg: sum, of: amount, synonyms: [Turnover]}
  - {name: per_head, expr: revenue / heads}
${more}relationships: [{to: customers, on: {customer_id: id}}]
`;
const customers = (more: string) => `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: spent, type: decimal}, {name: region, type: string}]
metrics:
  - {name: heads, agg: count}
${more}`;
/** What a model may read: names of metrics, of synonyms, and of what other metrics use. */
const readByModel = {
  orders: "  - {name: heads, agg: count, where: 'amount > 9', unreviewed: true}\n",
  customers: `  - {name: revenue, agg: sum, of: spent, unreviewed: true, synonyms: [Turnover, Big Spenders]}
  - {name: turnover, agg: sum, of: spent, unreviewed: true}
  - {name: big, expr: revenue * 2, unreviewed: true}
`,
};

const standing = [
  { metrics: ['revenue'] },
  { metrics: ['Turnover'] },
  { metrics: ['turnover'] },
  { metrics: ['heads'], dimensions: ['customers.region'] },
  { metrics: ['per_head'] },
  { metrics: ['orders.per_head'], having: ['revenue > 1'], order_by: [{ field: 'revenue' }] },
];

test('what a model read changes no query that had an answer', async () => {
  const [before, after] = await Promise.all([
    load({ orders: orders(''), customers: customers('') }),
    load({ orders: orders(readByModel.orders), customers: customers(readByModel.customers) }),
  ]);
  expect(after.diagnostics).toEqual([]);
  for (const query of standing)
    expect(compile(after.model, query).sql, JSON.stringify(query)).toBe(
      compile(before.model, query).sql,
    );
});

test('an unreviewed metric answers under its full name, and the receipt says what it is', async () => {
  const { model } = await load({
    orders: orders(readByModel.orders),
    customers: customers(readByModel.customers),
  });
  const planned = createPlan(model, querySchema.parse({ metrics: ['customers.big', 'revenue'] }));
  expect(
    planned.receipt.metrics.map(({ curated, unreviewed }) => ({ curated, unreviewed })),
  ).toEqual([
    { curated: false, unreviewed: ['customers.big', 'customers.revenue'] },
    { curated: true, unreviewed: undefined },
  ]);
  expect(compile(model, { metrics: ['big'] }).sql).toContain('"spent"');
});
