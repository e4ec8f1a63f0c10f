import { beforeAll, describe, expect, test } from 'vitest';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { visibleMetrics } from '../../src/semantic/model/visible-metrics.ts';
import { createPlan, createPlanToTry } from '../../src/semantic/plan/plan.ts';
import {
  findGroupings,
  findMetricsBy,
  type TrialPlans,
} from '../../src/semantic/query/groupings.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import { load, shop } from './shop.ts';

let model: SemanticModel;
let plans: TrialPlans;
beforeAll(async () => {
  ({ model } = await load(shop));
  plans = {
    tried: (query) => createPlanToTry(model, query),
    explained: (query) => createPlan(model, query),
  };
});

const works = (metrics: readonly string[], ...dimensions: readonly string[]): boolean => {
  try {
    plans.explained(querySchema.parse({ metrics, dimensions }));
    return true;
  } catch {
    return false;
  }
};
const namesFor = (...metrics: readonly string[]): string[] =>
  findGroupings(model, metrics, { plans }).groupings.map(({ dimension }) => dimension);

describe('what metrics can be grouped by', () => {
  test.for([
    { metrics: ['orders.revenue'] },
    { metrics: ['orders.profit'] },
    { metrics: ['orders.running'], needs: ['metric_time.month'] },
    { metrics: ['customers.customer_count'] },
    { metrics: ['tickets.ticket_count'] },
    { metrics: ['employees.headcount'] },
    { metrics: ['orders.revenue', 'tickets.ticket_count'] },
    { metrics: ['visits.visit_count'] },
  ])('$metrics: each has an answer, and no other field of a dataset has', (given) => {
    const { metrics, needs = [] } = given;
    const listed = namesFor(...metrics);
    expect(findGroupings(model, metrics, { plans }).needs).toEqual(needs);
    expect(listed.length).toBeGreaterThan(0);
    const has = (dimension: string): boolean => works(metrics, ...needs, dimension);
    expect(listed.filter((dimension) => !has(dimension))).toEqual([]);
    const fields = [...model.datasets.values()].flatMap((dataset) =>
      [...dataset.fields.values()].flatMap(({ name, hidden }) =>
        hidden === true ? [] : [`${dataset.name}.${name}`],
      ),
    );
    const missed = fields.filter((name) => has(name) && !listed.includes(name));
    expect(missed).toEqual([]);
  });

  test('near fields come first, with the roles where a dataset has several, without hidden ones', () => {
    const listed = namesFor('orders.revenue');
    expect(listed.slice(0, 2)).toEqual(['metric_time', 'orders.id']);
    expect(listed).toEqual(
      expect.arrayContaining(['orders.buyer.segment', 'orders.recipient.regions.name']),
    );
    expect(listed).not.toContain('orders.secret');
    expect(namesFor('employees.headcount')).toContain('employees.manager.name');
  });

  test('several metrics: only what all of them have', () => {
    const shared = namesFor('orders.revenue', 'employees.headcount');
    expect(shared).toEqual([]);
    const own = namesFor('orders.revenue');
    for (const name of namesFor('orders.revenue', 'orders.customers_seen'))
      expect(own).toContain(name);
  });

  test('fields of several rows are marked, and not those of one', () => {
    const { groupings } = findGroupings(model, ['orders.revenue'], { plans });
    const isToMany = (name: string) =>
      groupings.find(({ dimension }) => dimension === name)?.isToMany;
    const marked = groupings
      .filter((grouping) => grouping.isToMany)
      .map((grouping) => grouping.dimension);
    expect(isToMany('orders.id')).toBe(false);
    expect(isToMany('orders.buyer.segment')).toBe(false);
    expect(marked).toEqual(['tags.id', 'tags.label', 'order_tags.order_id', 'order_tags.tag_id']);
  });

  test('no more are found than asked for', () => {
    const { groupings, isComplete } = findGroupings(model, ['orders.revenue'], { plans, most: 3 });
    expect(groupings).toHaveLength(3);
    expect(isComplete).toBe(false);
  });

  test('an unknown metric is the error of the query', () => {
    expect(() => namesFor('orders.revenu')).toThrow(/revenu/u);
  });
});

describe('metrics by dimension', () => {
  test('all of them without a dimension, and running totals by their period', () => {
    expect(findMetricsBy(model, [], plans)).toEqual(visibleMetrics(model).addresses);
    expect(findMetricsBy(model, ['orders.status'], plans)).toContain('orders.running');
  });

  test('those that have the field', () => {
    const names = findMetricsBy(model, ['regions.name'], plans);
    expect(names).toEqual(
      expect.arrayContaining(['customers.customer_count', 'regions.region_count']),
    );
    expect(names).not.toContain('visits.visit_count');
    for (const metric of names) expect(works([metric], 'regions.name')).toBe(true);
    expect(findMetricsBy(model, [], plans)).toContain('visits.visit_count');
    expect(findMetricsBy(model, [], plans)).not.toContain('orders.internal');
  });

  test('a field that does not exist is the error of the query', () => {
    expect(() => findMetricsBy(model, ['regions.nam'], plans)).toThrow(/nam/u);
  });
});
