import { conditionSql, fieldSql, type QueryFields, UnsaidQuery } from './query-conditions.ts';
import type { Clause, MbqlQuery } from './read-query.ts';

type SimpleMetric = { readonly agg: string; readonly of?: string; readonly where?: string };

/**
 * The metric that an MBQL query computes, without its groups; the reason if it computes none, or
 * one that ktx would say differently.
 */
export function metricOfQuery(
  query: MbqlQuery,
  fields: QueryFields,
): { readonly metric: SimpleMetric } | { readonly reason: string } {
  const { aggregations, joins, others, filters } = query;
  const [aggregation, ...more] = aggregations;
  if (aggregation === undefined) return { reason: 'no aggregation' };
  if (more.length > 0) return { reason: 'several aggregations' };
  if (joins.length > 0) return { reason: 'an aggregation over joined tables' };
  if (query.limit !== undefined) return { reason: 'an aggregation with limit' };
  if (others.length > 0) return { reason: `an aggregation with ${others.join(', ')}` };
  try {
    const where = filters.map((filter) => conditionSql(filter, fields));
    const condition = where.length > 0 ? { where: where.join(' AND ') } : {};
    return { metric: { ...aggregate(aggregation, fields), ...condition } };
  } catch (error) {
    if (!(error instanceof UnsaidQuery)) throw error;
    return { reason: error.message };
  }
}

const aggregates: ReadonlyMap<string, string> = new Map([
  ['count', 'count'],
  ['sum', 'sum'],
  ['avg', 'avg'],
  ['min', 'min'],
  ['max', 'max'],
  ['median', 'median'],
  ['distinct', 'count_distinct'],
]);

function aggregate({ op, args }: Clause, fields: QueryFields): SimpleMetric {
  const agg = aggregates.get(op);
  if (agg === undefined) throw new UnsaidQuery(`the aggregation ${op}`);
  const [of, ...more] = args;
  if (of === undefined && op === 'count') return { agg };
  if (more.length > 0) throw new UnsaidQuery(`the aggregation ${op} with ${more.length} options`);
  return { agg, of: fieldSql(of, fields) };
}
