import type { z } from 'zod';
import type { querySchema } from '../../../src/semantic/query.ts';
import { type Aggregate, type Condition, nameOfDimension, type Question, type Test } from './question.ts';

export type Query = z.input<typeof querySchema>;

/** A question as people write it. */
export function queryOf(question: Question): Query {
  const { metrics, where, having, segments, order, limit, zone, weekStart, includeEmpty, fillTime } = question;
  const dimensions = question.dimensions.map(nameOfDimension);
  const names = [...dimensions, ...metrics.map((_, index) => `x${index + 1}`)];
  return {
    metrics: metrics.map((metric, index) => ({ name: `x${index + 1}`, expr: metricText(metric) })),
    dimensions,
    where: where.map(conditionText),
    having: having === undefined ? [] : [`x1 > ${having}`],
    segments: segments.map((name) => `${name}.chosen`),
    order_by: order.map(({ column, dir }) => ({ field: names[column] ?? '', dir })),
    limit,
    timezone: zone,
    week_start: weekStart,
    include_empty: includeEmpty,
    fill_time: fillTime,
  };
}

function metricText(metric: Question['metrics'][number]): string {
  return 'left' in metric ? `${aggregateText(metric.left)} ${metric.op} ${aggregateText(metric.right)}` : aggregateText(metric);
}

function aggregateText({ owner, function: name }: Aggregate): string {
  if (name === 'sum') return `${owner}.total`;
  if (name === 'count_rows') return `count(${owner}.id)`;
  if (name === 'count_distinct') return `count(distinct ${owner}.v)`;
  return ['count', 'avg', 'min', 'max'].includes(name) ? `${name}(${owner}.v)` : `${owner}.${name}`;
}

function conditionText({ on, tests }: Condition): string | { on: string; where: string } {
  const text = tests.map((test) => testText(test, [test.start, ...test.roles].join('.'))).join(' or ');
  return on === undefined ? text : { on, where: text };
}

/** A test of the row that `from` leads to. */
export function testText({ op, value }: Pick<Test, 'op' | 'value'>, from: string): string {
  if (op === 'null') return `${from}.v is null`;
  if (op === 'n>') return `${from}.n > ${value}`;
  if (op === 't>=') return `${from}.t >= '${value}'`;
  return op === '>' ? `${from}.v > ${value}` : `${from}.g ${op} '${value}'`;
}
