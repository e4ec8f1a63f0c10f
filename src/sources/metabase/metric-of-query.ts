import { quoteName } from '../../semantic/formats/metricflow/mapping/bound-model.ts';
import type { FieldType } from '../../sql/field-type.ts';
import type { Dialect } from '../../sql/dialect.ts';
import type { CardQuery, Clause, ClauseArgument } from './read-query.ts';

interface QueryFields {
  readonly dialect: Dialect;
  /** The field of the queried table, by its number in Metabase. */
  readonly fieldOf: (id: number) => MetricField | undefined;
}

interface MetricField {
  readonly name: string;
  readonly type: FieldType;
  /** Metabase computes with other values than the column has, like times of numbers. */
  readonly isCoerced: boolean;
}

/** A part of a query that a metric of ktx cannot say. */
class NoMetric extends Error {}

type SimpleMetric = { readonly agg: string; readonly of?: string; readonly where?: string };

/**
 * The metric that an MBQL query computes, without its groups; the reason if it computes none, or
 * one that ktx would say differently.
 */
export function metricOfQuery(
  query: Extract<CardQuery, { kind: 'mbql' }>,
  fields: QueryFields,
): { readonly metric: SimpleMetric } | { readonly reason: string } {
  const { aggregations, joins, others, filters } = query;
  const [aggregation, ...more] = aggregations;
  if (aggregation === undefined) return { reason: 'no aggregation' };
  if (more.length > 0) return { reason: 'several aggregations' };
  if (joins.length > 0) return { reason: 'an aggregation over joined tables' };
  if (others.length > 0) return { reason: `an aggregation with ${others.join(', ')}` };
  try {
    const where = filters.map((filter) => conditionSql(filter, fields));
    const condition = where.length > 0 ? { where: where.join(' AND ') } : {};
    return { metric: { ...aggregate(aggregation, fields), ...condition } };
  } catch (error) {
    if (!(error instanceof NoMetric)) throw error;
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
  if (agg === undefined) throw new NoMetric(`the aggregation ${op}`);
  const [of, ...more] = args;
  if (of === undefined && op === 'count') return { agg };
  if (more.length > 0) throw new NoMetric(`the aggregation ${op} with ${more.length} options`);
  return { agg, of: quoteName(readField(of, fields).name) };
}

const comparisons = new Set(['<', '<=', '>', '>=']);

function conditionSql({ op, args, options }: Clause, fields: QueryFields): string {
  const inner = () =>
    args.map((arg) => {
      if (arg.kind === 'clause') return conditionSql(arg.clause, fields);
      throw new NoMetric(`the filter ${op} over a value`);
    });
  if (op === 'and' || op === 'or') return `(${inner().join(` ${op.toUpperCase()} `)})`;
  const [subject, ...values] = args;
  const read = readField(subject, fields);
  const field = quoteName(read.name);
  const literals = values.map((value) => literalSql(value, read, fields));
  const [first, second] = literals;
  const isCaseSensitive = Object.keys(options).every((key) => !key.includes('case-sensitive'));
  if (first === undefined) {
    if (op === 'is-null') return `${field} IS NULL`;
    if (op === 'not-null') return `${field} IS NOT NULL`;
  } else if (op === '=' && isCaseSensitive) {
    return literals.length === 1 ? `${field} = ${first}` : `${field} IN (${literals.join(', ')})`;
  } else if (op === '!=' && isCaseSensitive) {
    // Metabase keeps the rows without a value.
    return `(${field} NOT IN (${literals.join(', ')}) OR ${field} IS NULL)`;
  } else if (comparisons.has(op) && second === undefined) {
    return `${field} ${op} ${first}`;
  } else if (op === 'between' && literals.length === 2) {
    return `${field} BETWEEN ${first} AND ${second}`;
  }
  throw new NoMetric(`the filter ${op}`);
}

/** Options of a field that change which value is meant. */
const meaningful = ['join-alias', 'source-field', 'binning', 'temporal-unit'];

function readField(arg: ClauseArgument | undefined, { fieldOf }: QueryFields): MetricField {
  if (arg?.kind !== 'clause' || !['field', 'field-id'].includes(arg.clause.op))
    throw new NoMetric('an expression');
  const { args, options } = arg.clause;
  const other = meaningful.find(
    (key) => options[key] !== undefined && options[key] !== null && options[key] !== 'default',
  );
  if (other !== undefined) throw new NoMetric(`a field with ${other}`);
  const [id] = args;
  const number = id?.kind === 'value' && typeof id.value === 'number' ? id.value : undefined;
  const field = number === undefined ? undefined : fieldOf(number);
  if (field === undefined) throw new NoMetric('a field that the table does not have');
  if (field.isCoerced) throw new NoMetric('a field whose values Metabase converts');
  return field;
}

function literalSql(
  arg: ClauseArgument,
  { name, type }: MetricField,
  { dialect }: QueryFields,
): string {
  const value = arg.kind === 'value' ? arg.value : undefined;
  // Metabase compares a day with the day of a time, and a time in the time zone of its reports.
  if (typeof value === 'string' && /^\d{4}-\d{2}/.test(value) && type !== 'date')
    throw new NoMetric(`the day or time ${value} against ${name}, which is not a date`);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return dialect.literal(value);
  throw new NoMetric('a filter with a computed value');
}
