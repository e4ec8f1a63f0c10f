import { stringify } from 'yaml';
import { z } from 'zod';
import { querySchema, type SemanticQuery } from '../../src/semantic/query/query.ts';

/**
 * The vocabulary of `semantic-layer.json`: measures, joins, grain; here they become metrics,
 * relationships, keys.
 */
const sourceSchema = z.object({
  name: z.string(),
  table: z.string(),
  grain: z.array(z.string()),
  columns: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      expr: z.string().optional(),
      role: z.string().optional(),
      visibility: z.string().optional(),
    }),
  ),
  joins: z.array(
    z.object({
      to: z.string(),
      on: z.string(),
      relationship: z.string(),
      alias: z.string().optional(),
    }),
  ),
  measures: z.array(
    z.object({ name: z.string(), expr: z.string(), filter: z.string().optional() }),
  ),
  segments: z.array(z.object({ name: z.string(), expr: z.string() })),
});

export const suiteSchema = z.object({
  tables: z.record(
    z.string(),
    z.object({ columns: z.array(z.string()), rows: z.array(z.array(z.unknown())) }),
  ),
  models: z.record(z.string(), z.array(sourceSchema)),
  cases: z.array(
    z.object({
      id: z.string(),
      topic: z.string(),
      title: z.string(),
      model: z.string(),
      query: z.record(z.string(), z.unknown()),
      expect: z.union([
        z.object({ rows: z.array(z.array(z.unknown())), ordered: z.boolean() }),
        z.object({ error_matches: z.string() }),
      ]),
    }),
  ),
});
export type Suite = z.infer<typeof suiteSchema>;
export type Case = Suite['cases'][number];

/** Files as in `semantic-layer/<connection>/`. */
export function filesOf(suite: Suite, model: string): { path: string; text: string }[] {
  const sources = suite.models[model] ?? [];
  return sources.map((source) => {
    const times = source.columns.filter((column) => column.type === 'time');
    const defaultTime = times.find((column) => column.role === 'time') ?? times[0];
    const relationships = source.joins.map((join) => ({
      to: join.to,
      on: join.on,
      role: join.alias,
      cardinality: join.relationship,
    }));
    const bridged =
      model === 'm2m' && source.name === 'orders'
        ? [{ to: 'tags', on: 'id = tags.id', cardinality: 'many_to_many', via: 'order_tags' }]
        : [];
    const dataset = {
      dataset: source.name,
      source: source.table,
      primary_key: source.grain,
      default_time: defaultTime?.name,
      fields: source.columns.map((column) => ({
        name: column.name,
        type: typeOf(suite, source.table, column),
        expr: column.expr,
        hidden: column.visibility === 'hidden' ? true : undefined,
      })),
      segments: source.segments.map((segment) => ({ name: segment.name, where: segment.expr })),
      metrics: source.measures.map((measure) => ({
        name: measure.name,
        expr: measure.expr,
        where: measure.filter,
        semi_additive: measure.name === 'bal' ? { over: 'day', take: 'last' } : undefined,
      })),
      relationships: [...relationships, ...bridged],
    };
    return { path: `semantic-layer/warehouse/${source.name}.yaml`, text: stringify(dataset) };
  });
}

function typeOf(suite: Suite, table: string, column: { name: string; type: string }): string {
  const declared = suite.tables[table]?.columns
    .find((text) => text.startsWith(`${column.name} `))
    ?.split(' ')[1];
  if (column.type === 'time') return declared === 'DATE' ? 'date' : 'datetime';
  if (column.type === 'string') return 'string';
  return declared === 'INTEGER' ? 'integer' : 'decimal';
}

const foreignQuerySchema = z.strictObject({
  measures: z.array(z.union([z.string(), z.object({ name: z.string(), expr: z.string() })])),
  dimensions: z.array(
    z.union([z.string(), z.object({ field: z.string(), granularity: z.string() })]),
  ),
  filters: z.array(z.string()).default([]),
  segments: z.array(z.string()).default([]),
  order_by: z.array(z.object({ field: z.string(), direction: z.string() })).default([]),
  limit: z.number().optional(),
  include_empty: z.boolean().default(true),
});

export function queryOf(one: Case): SemanticQuery {
  const foreign = foreignQuerySchema.parse(one.query);
  return querySchema.parse({
    metrics: foreign.measures,
    dimensions: foreign.dimensions.map((dimension) =>
      typeof dimension === 'string'
        ? dimension.replace('metric_time__', 'metric_time.')
        : `${dimension.field}.${dimension.granularity}`,
    ),
    where: foreign.filters,
    segments: foreign.segments,
    order_by: foreign.order_by.map(({ field, direction }) => ({ field, dir: direction })),
    limit: foreign.limit,
    include_empty: foreign.include_empty,
  });
}
