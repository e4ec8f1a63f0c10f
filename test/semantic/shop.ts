import { loadAnalyzer } from '../../src/sql/analyzer.ts';
import { loadModel, type LoadedModel } from '../../src/semantic/load/load.ts';
import { emit } from '../../src/semantic/emit/emit.ts';
import type { SemanticModel } from '../../src/semantic/model/model.ts';
import { createPlan, type Plan } from '../../src/semantic/plan/plan.ts';
import { querySchema } from '../../src/semantic/query/query.ts';
import type { z } from 'zod';
import type { Dialect } from '../../src/sql/dialect.ts';
import { duckdb } from '../../src/sql/dialects/duckdb.ts';

/** A small shop with two roles, a self-reference, a 1:1 extension, a bridge and a second fact. */
export const shop: Readonly<Record<string, string>> = {
  orders: `
dataset: orders
source: orders
primary_key: [id]
default_time: created_at
fields:
  - {name: id, type: integer}
  - {name: customer_id, type: integer}
  - {name: status, type: string}
  - {name: amount, type: integer}
  - {name: created_at, type: datetime}
  - {name: double_amount, expr: amount * 2, type: integer}
  - {name: secret, expr: cost, hidden: true}
segments:
  - {name: paid, where: "status = 'paid' or status = 'settled'"}
metrics:
  - {name: revenue, agg: sum, of: amount}
  - {name: paid_revenue, agg: sum, of: amount, where: status = 'paid'}
  - {name: order_count, agg: count}
  - {name: customers_seen, agg: count_distinct, of: customer_id}
  - {name: average, agg: avg, of: amount}
  - {name: largest, agg: max, of: amount}
  - {name: cost_total, agg: sum, of: cost}
  - {name: profit, expr: revenue - cost_total}
  - {name: aov, ratio: {numerator: revenue, denominator: order_count}}
  - {name: paid_aov, expr: revenue / order_count, where: status = 'paid'}
  - {name: enterprise_revenue, agg: sum, of: amount, where: orders.buyer.segment = 'ent'}
  - {name: internal, agg: sum, of: secret, hidden: true}
  - {name: running, cumulative: {of: revenue}}
  - {name: month_to_date, cumulative: {of: revenue, grain_to_date: month}}
  - {name: ten_days, cumulative: {of: revenue, window: 10 days}}
  - {name: last_year, offset: {of: revenue, by: 1 year}}
  - {name: last_month, offset: {of: paid_aov, by: 1 month}}
  - {name: growth, expr: revenue - last_week}
  - {name: last_week, offset: {of: revenue, by: 1 week}}
  - {name: closing, agg: sum, of: amount, semi_additive: {over: created_at, take: last, per: [customer_id]}}
  - {name: lowest, agg: sum, of: amount, semi_additive: {over: created_at, take: min, per: [customer_id]}}
  - {name: per_buyer, agg: avg, of: revenue / order_count, per: customer_id, where: amount > 3}
  - {name: bought_again, conversion: {base: order_count, to: order_count, on: {customer_id: customer_id}, window: 7 days, calculation: conversion_rate}}
relationships:
  - {to: customers, on: {customer_id: id}, role: buyer}
  - {to: customers, on: {ship_customer_id: id}, role: recipient}
  - {to: tags, on: id = tags.id, cardinality: many_to_many, via: order_tags}
`,
  customers: `
dataset: customers
source: customers
primary_key: [id]
fields: [{name: id, type: integer}, {name: segment, type: string}, {name: region_id, type: integer}]
metrics:
  - {name: customer_count, agg: count}
  - {name: urgent_count, agg: count, where: tickets.priority = 'high'}
relationships:
  - {to: regions, on: {region_id: id}}
`,
  regions: `
dataset: regions
source: regions
primary_key: [id]
fields: [{name: id, type: integer}, {name: name, type: string}]
metrics: [{name: region_count, agg: count}]
`,
  visits: `
dataset: visits
source: visits
unique_keys: [[code]]
fields: [{name: code, type: string}]
metrics: [{name: visit_count, agg: count}]
`,
  hits: `
dataset: hits
source: hits
primary_key: [id]
fields: [{name: id, type: integer}, {name: page, type: string}]
relationships: [{to: visits, on: {visit_code: code}}]
`,
  profiles: `
dataset: profiles
source: profiles
primary_key: [customer_id]
fields: [{name: customer_id, type: integer}, {name: score, type: decimal}]
relationships:
  - {to: customers, on: {customer_id: id}, cardinality: one_to_one}
`,
  tickets: `
dataset: tickets
source: tickets
primary_key: [id]
default_time: opened_at
fields: [{name: id, type: integer}, {name: priority, type: string}, {name: opened_at, type: datetime}]
metrics: [{name: ticket_count, agg: count}]
relationships:
  - {to: customers, on: {customer_id: id}}
`,
  tags: `
dataset: tags
source: tags
primary_key: [id]
fields: [{name: id, type: integer}, {name: label, type: string}]
`,
  order_tags: `
dataset: order_tags
source: order_tags
primary_key: [order_id, tag_id]
fields: [{name: order_id, type: integer}, {name: tag_id, type: integer}]
relationships:
  - {to: orders, on: {order_id: id}}
  - {to: tags, on: {tag_id: id}}
`,
  employees: `
dataset: employees
source: employees
primary_key: [id]
fields: [{name: id, type: integer}, {name: name, type: string}]
metrics: [{name: headcount, agg: count}, {name: payroll, agg: sum, of: salary}]
relationships:
  - {to: employees, on: {manager_id: id}, role: manager}
`,
};

/** With the parser, which `compile` may need. */
export async function load(
  files: Readonly<Record<string, string>>,
  dialect: Dialect = duckdb,
): Promise<LoadedModel> {
  await loadAnalyzer();
  const listed = Object.entries(files).map(([name, text]) => ({
    path: `semantic-layer/warehouse/${name}.yaml`,
    text,
  }));
  return loadModel({ dialect, files: listed });
}

export function compile(
  model: SemanticModel,
  query: z.input<typeof querySchema>,
): Plan & { readonly sql: string } {
  const planned = createPlan(model, querySchema.parse(query));
  return { ...planned, sql: emit(planned, model.dialect) };
}
