import { conditionSql, readField, type QueryFields, UnsaidQuery } from './query-conditions.ts';
import type { Clause, ClauseArgument, MbqlQuery } from './read-query.ts';

/** A question as ktx asks it. */
interface CardAsQuery {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly where?: readonly string[];
  readonly order_by?: readonly { readonly field: string; readonly dir: 'asc' | 'desc' }[];
  readonly limit?: number;
}

interface AskedDataset extends QueryFields {
  readonly dataset: string;
}

/** The query that an MBQL question over one dataset asks, or why ktx cannot ask it. */
export function queryOfCard(
  query: MbqlQuery,
  { dataset, ...own }: AskedDataset,
): { readonly query: CardAsQuery } | { readonly reason: string } {
  const { aggregations, groups, joins, others, filters } = query;
  if (aggregations.length + groups.length === 0)
    return { reason: 'it lists rows and computes nothing' };
  if (joins.length > 0) return { reason: 'it adds up over joined tables' };
  const [other] = others;
  if (other !== undefined) return { reason: `it has ${other}` };
  const fields: QueryFields = {
    ...own,
    fieldOf: (id, alias) => {
      const field = own.fieldOf(id, alias);
      return field && { ...field, sql: `${dataset}.${quoteIfNeeded(field.name)}` };
    },
  };
  try {
    const metrics = aggregations.map((clause) => aggregateName(clause, dataset, fields));
    const dimensions = groups.map((group) => groupName(group, fields));
    const where = filters.map((filter) => conditionSql(filter, fields));
    return {
      query: {
        metrics,
        dimensions,
        ...(where.length > 0 && { where }),
        ...orderOf(query, metrics),
      },
    };
  } catch (error) {
    if (error instanceof UnsaidQuery) return { reason: `ktx cannot ask ${error.message}` };
    throw error;
  }
}

function quoteIfNeeded(name: string): string {
  return /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

const aggregates: ReadonlyMap<string, (sql: string) => string> = new Map([
  ['sum', (sql) => `sum(${sql})`],
  ['avg', (sql) => `avg(${sql})`],
  ['min', (sql) => `min(${sql})`],
  ['max', (sql) => `max(${sql})`],
  ['median', (sql) => `median(${sql})`],
  ['distinct', (sql) => `count(distinct ${sql})`],
  ['count', (sql) => `count(${sql})`],
]);

function aggregateName({ op, args }: Clause, dataset: string, fields: QueryFields): string {
  const write = aggregates.get(op);
  const [of, ...more] = args;
  if (write === undefined || more.length > 0) throw new UnsaidQuery(`the aggregation ${op}`);
  if (of === undefined && op === 'count') return `${dataset}.count`;
  return write(readField(of, fields).sql ?? '');
}

/** Periods that begin on the same day everywhere. */
const periods = new Set(['minute', 'hour', 'day', 'month', 'quarter', 'year']);

function groupName(group: Clause, fields: QueryFields): string {
  const { 'temporal-unit': unit, ...options } = group.options;
  const plain: ClauseArgument = { kind: 'clause', clause: { ...group, options } };
  const { sql = '', type } = readField(plain, fields);
  if (unit === undefined || unit === null || unit === 'default') return sql;
  const isWeek = unit === 'week' && fields.hasMondayWeeks === true;
  if (typeof unit !== 'string' || !(isWeek || periods.has(unit)) || type === 'unknown')
    throw new UnsaidQuery(`the period ${JSON.stringify(unit)}`);
  // A time with a zone falls into the days of Metabase's reports.
  if (type === 'datetime_tz') throw new UnsaidQuery('periods of a time with a zone');
  return `${sql}.${unit}`;
}

/** Without a limit, the order does not change the answer. Only of counts no engine has NULLs. */
function orderOf(
  { orders, limit, aggregations }: MbqlQuery,
  metrics: readonly string[],
): Pick<CardAsQuery, 'order_by' | 'limit'> {
  if (limit === undefined) return {};
  const order = orders.map(({ op, args: [by] }): NonNullable<CardAsQuery['order_by']>[number] => {
    const index = by?.kind === 'clause' && by.clause.op === 'aggregation' ? by.clause.args[0] : by;
    const number = index?.kind === 'value' ? Number(index.value) : -1;
    const metric = metrics[number];
    const isCount = ['count', 'distinct'].includes(aggregations[number]?.op ?? '');
    const dir = op === 'asc' || op === 'desc' ? op : undefined;
    if (metric === undefined || !isCount || dir === undefined)
      throw new UnsaidQuery('a limit of rows in that order');
    return { field: metric, dir };
  });
  if (order.length === 0) throw new UnsaidQuery('a limit without an order');
  return { order_by: order, limit };
}
