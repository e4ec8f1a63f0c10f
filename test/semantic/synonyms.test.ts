import { beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { createPlan } from '../../src/semantic/plan/plan.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { compile, load } from './shop.ts';

const files = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: placed_at
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: order_total, type: decimal}
  - {name: placed_at, type: datetime, synonyms: [Ordered At]}
  - {name: guest_id, type: integer, synonyms: [Metric Time]}
  - {name: secret, type: string, hidden: true, synonyms: [Hidden Field]}
metrics:
  - {name: order_total, agg: sum, of: order_total, synonyms: [Order Total, Umsatz]}
  - {name: large, agg: count, where: order_total > 50, synonyms: [Big Ones]}
  - {name: doubled, expr: order_total * 2}
  - {name: internal, agg: max, of: id, hidden: true, synonyms: [Internal One]}
relationships: [{to: customers, on: {customer_id: id}}]
`,
  customers: `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: region, type: string, synonyms: [Sales Region]}]
metrics: [{name: heads, agg: count, synonyms: [Big Ones, Large]}]
`,
};

let model: SemanticModel;
beforeAll(async () => {
  await loadAnalyzer();
  ({ model } = await load(files));
});

const plan = (query: Parameters<typeof querySchema.parse>[0]) =>
  createPlan(model, querySchema.parse(query));

describe('a metric and a column of one name', () => {
  test('are told apart by where they stand', () => {
    const { sql } = compile(model, {
      metrics: ['orders.order_total', 'doubled', 'large'],
      where: ['orders.order_total > 5'],
      having: ['order_total > 100'],
    });
    expect(sql).toContain('sum("orders"."order_total")');
    expect(sql).toMatch(/WHERE \("orders"\."order_total" > 5\)/);
    expect(sql).toMatch(/HAVING \(sum\("orders"\."order_total"\) > 100\)/);
  });
});

describe('synonyms, labels and other spellings', () => {
  test.each([
    ['Order Total', 'orders.order_total'],
    ['order total', 'orders.order_total'],
    ['umsatz', 'orders.order_total'],
    ['ORDERS.Order_Total', 'orders.order_total'],
    ['orders.Umsatz', 'orders.order_total'],
    ['Order-Total', 'orders.order_total'],
    ['customers.big ones', 'customers.heads'],
  ])('%s is the metric %s, and the receipt says so', (written, name) => {
    const { columns, receipt } = plan({ metrics: [written] });
    expect(columns.map((column) => column.name)).toEqual([name]);
    expect(receipt.notes).toContain(`${written} is ${name}`);
  });

  test.each([
    ['Ordered At.month', 'orders.placed_at.month'],
    ['ordered at.MONTH', 'orders.placed_at.month'],
    ['Sales Region', 'customers.region'],
    ['Customers.Region', 'customers.region'],
  ])('%s is the dimension %s', (written, name) => {
    const { columns } = plan({
      metrics: ['umsatz'],
      dimensions: [written],
      order_by: [{ field: written }, { field: 'umsatz', dir: 'desc' }],
    });
    expect(columns[0]?.name).toBe(name);
  });

  test('names are taken as they are, without a note', () => {
    const { receipt } = plan({ metrics: ['order_total'], dimensions: ['orders.customers.region'] });
    expect(receipt.notes).toEqual([]);
  });

  test.each([
    ['Big Ones', 'The metric Big Ones is ambiguous: orders.large, customers.heads'],
    ['Internal One', 'There is no metric named Internal One'],
    ['Order Totle', 'There is no metric named Order Totle'],
  ])('%s is an error', (written, message) => {
    expect(() => plan({ metrics: [written] })).toThrow(message);
  });

  test('an error suggests the name behind a synonym', () => {
    expect(() => plan({ metrics: ['Order Totle'] })).toThrow(
      expect.objectContaining({ hint: 'Did you mean orders.order_total?' }),
    );
  });

  test('a name wins over a synonym in any case', () => {
    const { columns } = plan({ metrics: ['LARGE'] });
    expect(columns.map((column) => column.name)).toEqual(['orders.large']);
  });

  test('metric_time stays the time of the metric, whatever has that as a synonym', () => {
    const { columns } = plan({ metrics: ['order_total'], dimensions: ['metric_time.month'] });
    expect(columns[0]?.name).toBe('metric_time.month');
  });

  test('hidden fields stay hidden', () => {
    expect(() => plan({ metrics: ['umsatz'], dimensions: ['Hidden Field'] })).toThrow();
  });

  test('a metric that the query names itself is not replaced', () => {
    const umsatz = { name: 'umsatz', expr: 'count(orders.id)' };
    const { columns, receipt } = plan({
      metrics: [umsatz, { name: 'twice', expr: 'umsatz * 2' }],
      order_by: [{ field: 'umsatz' }],
    });
    expect(columns.map((column) => column.name)).toEqual(['umsatz', 'twice']);
    expect(receipt.notes).toEqual([]);
  });
});
