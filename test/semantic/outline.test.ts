import { beforeAll, expect, test } from 'vitest';
import { planLines } from '../../src/cli/commands/sl/plan-text.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { outlinePlan } from '../../src/semantic/emit/outline.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { compile, load, shop } from './shop.ts';

type Query = Parameters<typeof compile>[1];

const queries: Readonly<Record<string, Query>> = {
  'two facts by a time that both have': {
    metrics: [
      'orders.aov',
      'tickets.ticket_count',
      { name: 'per_ticket', expr: 'orders.revenue / tickets.ticket_count' },
    ],
    dimensions: ['metric_time.month'],
    having: ['orders.revenue > 100'],
    order_by: [{ field: 'orders.aov', dir: 'desc' }],
    limit: 5,
  },
  'roles and a segment': {
    metrics: ['orders.paid_revenue'],
    dimensions: ['orders.buyer.segment', 'orders.recipient.segment', 'orders.created_at.month'],
    where: [{ field: 'orders.amount', op: '>', value: 3 }],
    segments: ['orders.paid'],
  },
  'a condition to many': {
    metrics: ['customers.customer_count', 'customers.urgent_count'],
    where: ["tickets.priority = 'paid'"],
  },
  'a bridge': { metrics: ['orders.revenue'], dimensions: ['orders.tags.label'] },
  'a balance': { metrics: ['orders.closing'], dimensions: ['metric_time.month'] },
  'running totals': {
    metrics: ['orders.running', 'orders.month_to_date', 'orders.ten_days'],
    dimensions: ['metric_time.day'],
    where: ["orders.created_at >= '2024-01-01'", "orders.status = 'paid'"],
    fill_time: true,
  },
  'an earlier period': {
    metrics: ['orders.growth'],
    dimensions: ['metric_time.week'],
    include_empty: true,
  },
  'a conversion': { metrics: ['orders.bought_again'], dimensions: ['orders.buyer.segment'] },
  'twice aggregated': { metrics: ['orders.per_buyer'], dimensions: ['orders.status'] },
  'no metric': { dimensions: ['customers.segment'] },
};

let model: SemanticModel;

beforeAll(async () => {
  ({ model } = await load(shop));
});

function outline(query: Query) {
  return outlinePlan(compile(model, query), {
    query: querySchema.parse(query),
    dialect: model.dialect,
  });
}

test('a plan says in words what the SQL does', async () => {
  const texts = Object.entries(queries).map(
    ([name, query]) => `${name}\n${planLines(outline(query)).join('\n')}\n`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('./golden/plans.txt');
});

test('a plan is plain data, and one line an item, whatever was written', () => {
  const name = 'total\n; DROP TABLE orders; --';
  const query: Query = {
    metrics: [{ name, expr: 'sum(orders.amount)' }],
    where: ['orders.amount\n>\r\n1'],
  };
  const plan = outline(query);
  expect(JSON.parse(JSON.stringify(plan))).toMatchObject({
    blocks: [
      {
        rows_of: 'orders',
        filters: ['orders.amount > 1'],
        values: [{ column: 'sum(orders.amount)', is: 'sum(orders.amount)' }],
      },
    ],
    columns: [{ name, kind: 'metric', is: 'sum(orders.amount)' }],
  });
  for (const line of planLines(plan)) expect(line).not.toMatch(/[\r\n]/);
});
