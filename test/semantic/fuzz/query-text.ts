import type { z } from 'zod';
import type { querySchema } from '../../../src/semantic/query/query.ts';
import {
  type Condition,
  type Metric,
  nameOfDimension,
  type Question,
  type StageQuestion,
  type Test,
} from './question.ts';

export type Query = z.input<typeof querySchema>;
type Written = NonNullable<Query['where']>[number];

/** The question as a query of the semantic layer. */
export function queryOf(question: Question): Query {
  const {
    metrics,
    extra,
    where,
    having,
    segments,
    parameters,
    order,
    limit,
    zone,
    weekStart,
    includeEmpty,
    fillTime,
  } = question;
  const dimensions = question.dimensions.map(nameOfDimension);
  const names = [
    ...dimensions,
    ...metrics.map((_, index) => `x${index + 1}`),
    ...(extra === undefined ? [] : [metricText(extra)]),
  ];
  return {
    metrics: metrics.map((metric, index) => ({ name: `x${index + 1}`, expr: metricText(metric) })),
    dimensions,
    where: where.map(conditionText),
    having:
      having === undefined ? [] : [`${extra === undefined ? 'x1' : metricText(extra)} > ${having}`],
    segments: segments.map((name) => `${name}.chosen`),
    parameters,
    order_by: order.map(({ column, dir }) => ({ field: names[column] ?? '', dir })),
    limit,
    timezone: zone,
    week_start: weekStart,
    include_empty: includeEmpty,
    fill_time: fillTime,
    ...(question.stage === undefined
      ? {}
      : stageOf(question.stage, question.metrics.length, dimensions)),
  };
}

function stageOf(
  { shareOf, compareTo, overRows, top, rollup, qualify }: StageQuestion,
  metricCount: number,
  dimensions: readonly string[],
): Partial<Query> {
  const named = (places: readonly number[]) => places.map((index) => dimensions[index] ?? '');
  const perText = (places: readonly number[]) =>
    places.length === 0 ? '' : ` per ${named(places).join(', ')}`;
  const metric = (index: number) => `x${index + 1}`;
  const computations = overRows.map(({ compute, of, dir, per }, index) => {
    const operand = `${metric(of)}${dir === 'asc' ? ' asc' : ''}${perText(per ?? [])}`;
    return `w${index + 1} = ${compute} of ${operand}`;
  });
  return {
    ...(shareOf === undefined
      ? {}
      : { share_of: shareOf.length === 0 ? 'total' : named(shareOf).join(', ') }),
    ...(compareTo === undefined ? {} : { compare_to: `${compareTo.count} ${compareTo.unit}` }),
    over_rows: computations,
    ...(top === undefined
      ? {}
      : {
          top: `${top.count} of ${metric(top.by)}${top.dir === 'asc' ? ' asc' : ''}${perText(top.per)}`,
          others: top.others,
        }),
    rollup,
    ...(qualify === undefined
      ? {}
      : {
          qualify: [
            `${qualify.of < metricCount ? metric(qualify.of) : `w${qualify.of - metricCount + 1}`} ${qualify.op} ${qualify.bound}`,
          ],
        }),
  };
}

const adHoc: Readonly<Record<string, (owner: string) => string>> = {
  count_rows: (owner) => `count(${owner}.id)`,
  count_distinct: (owner) => `count(distinct ${owner}.v)`,
  most_of_g: (owner) => `max(sum(${owner}.v)) per ${owner}.g`,
};

function metricText(metric: Metric): string {
  if ('left' in metric) {
    const { name, left, op, right } = metric;
    return name === undefined
      ? `${metricText(left)} ${op} ${metricText(right)}`
      : `${left.owner}.${name}`;
  }
  const { owner, function: name } = metric;
  if (name === 'sum') return `${owner}.total`;
  const written = adHoc[name];
  if (written !== undefined) return written(owner);
  return ['count', 'avg', 'min', 'max', 'median'].includes(name)
    ? `${name}(${owner}.v)`
    : `${owner}.${name}`;
}

function conditionText({ on, tests, isStructured }: Condition): Written {
  const [only] = tests;
  if (isStructured && on === undefined && only !== undefined && tests.length === 1)
    return comparisonOf(only);
  const text = tests
    .map((test) => testText(test, [test.start, ...test.roles].join('.')))
    .join(' or ');
  return on === undefined ? text : { on, where: text };
}

function comparisonOf(test: Test): Written {
  const { op, value } = test;
  const field = [test.start, ...test.roles, ...columnOf(test)].join('.');
  if (op === 'null') return { field, op: 'is_null' };
  if (op === '<>') return { field, op: 'not_in', value: [value] };
  if (op === 'period') return { field, op: 'in', value: [value] };
  return { field, op: op === '=' ? '=' : op === 'time>=' ? '>=' : '>', value };
}

function columnOf({
  op,
  field = 't',
  grain,
  start,
}: Pick<Test, 'op' | 'field' | 'grain' | 'start'>): readonly string[] {
  const time = start === 'metric_time' ? [] : [field];
  if (op === 'time>=') return time;
  if (op === 'period') return [...time, grain ?? 'day'];
  return [op === 'n>' ? 'n' : op === 'w>' ? 'w' : op === '=' || op === '<>' ? 'g' : 'v'];
}

/** A test of the row that `from` leads to. */
function testText(test: Test, from: string): string {
  const { op, value } = test;
  const name = [from, ...columnOf(test)].join('.');
  if (op === 'null') return `${name} is null`;
  if (op === 'time>=') return `${name} >= '${value}'`;
  if (op === 'period') return `${name} = '${value}'`;
  return op === '=' || op === '<>' ? `${name} ${op} '${value}'` : `${name} > ${value}`;
}
