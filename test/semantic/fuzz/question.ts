import * as fc from 'fast-check';
import type { z } from 'zod';
import type { querySchema } from '../../../src/semantic/query.ts';
import type { World } from './world.ts';

export interface Aggregate {
  readonly owner: string;
  readonly function:
    | 'sum'
    | 'count'
    | 'count_rows'
    | 'avg'
    | 'min'
    | 'max'
    | 'count_distinct'
    | 'rows_in_a'
    | 'closing'
    | 'each'
    | 'earlier'
    | 'running'
    | 'overall'
    | 'over_g'
    | 'followed'
    | 'follow_rate';
}

/** Of a row that a name leads to. */
export interface Test {
  readonly dataset: string;
  readonly op: '=' | '<>' | '>' | 'null' | 'n>';
  readonly value: number | string;
}

export interface Question {
  readonly metrics: readonly (Aggregate | { readonly op: '-' | '/'; readonly left: Aggregate; readonly right: Aggregate })[];
  readonly dimensions: readonly { readonly dataset: string; readonly field: 'g' | 't.month' | 'n' }[];
  /** Of conditions joined by AND; each may be one of several tests, of which one has to hold. */
  readonly where: readonly (readonly Test[])[];
  readonly having: number | undefined;
}

export function questionArbitrary({ datasets }: World): fc.Arbitrary<Question> {
  const measures = datasets.filter(({ measure }) => measure !== undefined).map(({ name }) => name);
  const dataset = fc.constantFrom(...datasets.map(({ name }) => name));
  const aggregate = fc.record({
    owner: dataset,
    function: fc.constantFrom(
      'sum',
      'count',
      'count_rows',
      'avg',
      'min',
      'max',
      'count_distinct',
      'rows_in_a',
      'closing',
      'each',
      'overall',
      'over_g',
      'running',
      'earlier',
      'followed',
      'follow_rate' as const,
    ),
  });
  const derived = fc.record({ op: fc.constantFrom('-' as const, '/' as const), left: aggregate, right: aggregate });
  const testsOf = (name: string) =>
    fc.array(
      fc.oneof(
        fc.record({ dataset: fc.constant(name), op: fc.constantFrom('=' as const, '<>' as const), value: fc.constantFrom('a', 'b') }),
        fc.record({ dataset: fc.constant(name), op: fc.constantFrom('>' as const), value: fc.integer({ min: -2, max: 6 }) }),
        fc.record({ dataset: fc.constant(name), op: fc.constantFrom('null' as const), value: fc.constant(0) }),
        ...(measures.includes(name)
          ? [fc.record({ dataset: fc.constant(name), op: fc.constant('n>' as const), value: fc.integer({ min: -2, max: 6 }) })]
          : []),
      ),
      { minLength: 1, maxLength: 2 },
    );
  const test = fc.oneof(
    { weight: 3, arbitrary: dataset.chain(testsOf) },
    { weight: 1, arbitrary: fc.tuple(dataset.chain(testsOf), dataset.chain(testsOf)).map((sides) => sides.flat()) },
  );
  return fc.record({
    metrics: fc.uniqueArray(fc.oneof(aggregate, aggregate, derived), {
      minLength: 1,
      maxLength: 3,
      selector: (one) => JSON.stringify(one),
    }),
    dimensions: fc.uniqueArray(dataset.chain((name) => fc.record({ dataset: fc.constant(name), field: fc.constantFrom('g' as const, 't.month' as const, ...(measures.includes(name) ? ['n' as const] : [])) })), { maxLength: 2, selector: ({ dataset: name, field }) => name + field }), // prettier-ignore
    where: fc.oneof(fc.constant([]), fc.array(test, { maxLength: 2 })),
    having: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.integer({ min: -1, max: 4 }) }),
  }) as fc.Arbitrary<Question>;
}

export function queryOf({ metrics, dimensions, where, having }: Question): z.input<typeof querySchema> {
  return {
    metrics: metrics.map((metric, index) => ({ name: `x${index + 1}`, expr: textOf(metric) })),
    dimensions: dimensions.map(({ dataset, field }) => `${dataset}.${field}`),
    where: where.map((tests) => tests.map(testText).join(' or ')),
    having: having === undefined ? [] : [`x1 > ${having}`],
  };
}

function textOf(metric: Question['metrics'][number]): string {
  if ('left' in metric) return `${textOf(metric.left)} ${metric.op} ${textOf(metric.right)}`;
  const { owner, function: name } = metric;
  if (name === 'sum') return `${owner}.total`;
  if (['rows_in_a', 'closing', 'each', 'earlier', 'running', 'overall', 'over_g', 'followed', 'follow_rate'].includes(name))
    return `${owner}.${name}`;
  if (name === 'count_rows') return `count(${owner}.id)`;
  return name === 'count_distinct' ? `count(distinct ${owner}.v)` : `${name}(${owner}.v)`;
}

function testText({ dataset, op, value }: Test): string {
  if (op === 'null') return `${dataset}.v is null`;
  if (op === 'n>') return `${dataset}.n > ${value}`;
  return op === '>' ? `${dataset}.v > ${value}` : `${dataset}.g ${op} '${value}'`;
}
