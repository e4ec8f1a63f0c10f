import { namesOutside } from '../resolve/algebra.ts';
import { refused } from './errors.ts';
import { type Expr, type Piece, within } from '../sql/expr.ts';
import type { SemanticModel } from '../model/model.ts';
import type { Comparison, Condition, FilterOperator, FilterValue } from './query.ts';
import {
  completed,
  findMetric,
  queryAlgebra,
  queryFragment,
  queryMetric,
  type Resolver,
} from '../resolve/metrics.ts';
import { placeInQuery, visibleField } from '../resolve/field-path.ts';
import { placeExpr, type RowTest, testOf } from '../resolve/scope.ts';
import { unknownMetric } from './unknown-metric.ts';

/** Conditions of a query, apart: on rows before, on aggregates after grouping. */
export interface Conditions {
  readonly rows: readonly RowCondition[];
  readonly aggregates: readonly { readonly text: string; readonly expr: Expr }[];
}

export interface RowCondition extends RowTest {
  /** The dataset whose metrics alone it is about. */
  readonly on: string | undefined;
}

type Split = RowCondition | Conditions['aggregates'][number];
type Side = 'where' | 'having';

/** Splits every condition at its top-level ANDs. Where a field and a metric share a name, `where` means the field, `having` the metric. */
export function conditionsOf(
  resolver: Resolver,
  query: Readonly<Record<Side, readonly Condition[]>>,
): Conditions {
  const all = (['where', 'having'] as const).flatMap((side) =>
    query[side].flatMap((condition) => splitCondition(resolver, condition, side)),
  );
  return {
    rows: all.filter((one) => 'build' in one),
    aggregates: all.filter((one) => 'expr' in one),
  };
}

function splitCondition(resolver: Resolver, condition: Condition, side: Side): readonly Split[] {
  if (typeof condition !== 'string' && 'field' in condition)
    return [structured(resolver, condition, side)];
  const { on, where } =
    typeof condition === 'string' ? { on: undefined, where: condition } : condition;
  const fragment = queryFragment(resolver, where);
  return fragment.conjuncts.map((span) => scoped(conjunct(resolver, { fragment, span }, side), on));
}

function scoped(split: Split, on: string | undefined): Split {
  if (on === undefined || 'build' in split) return { ...split, on };
  const hint =
    'Leave on: out. What is asked of an aggregate decides about whole rows of the result.';
  throw refused(
    'invalid_condition',
    `The condition ${JSON.stringify(split.text)} is about aggregates, so it cannot be scoped`,
    hint,
  );
}

function conjunct(resolver: Resolver, piece: Piece, side: Side): Split {
  const { fragment, span } = piece;
  const text = fragment.text.slice(span.start, span.end);
  const names = namesOutside(piece);
  const metrics = names.filter(({ parts }) => meansMetric(resolver, parts, side));
  if (metrics.length === 0 && !fragment.aggregates.some((call) => within(call, span))) {
    return { ...testOf({ ...piece, home: undefined }), on: undefined };
  }
  if (metrics.length === names.length)
    return { text, expr: completed((trace) => queryAlgebra(resolver, piece, trace)) };
  const unknown = names.find(
    ({ parts }) => !meansMetric(resolver, parts, side) && !meansField(resolver.model, parts),
  );
  if (unknown !== undefined) throw unknownMetric(resolver, unknown.parts);
  throw refused(
    'mixed_condition',
    `The condition ${JSON.stringify(text)} mixes rows and aggregates under OR or in one comparison`,
    'Conditions on rows and on aggregates can only be joined by AND: write them as separate conditions.',
  );
}

function meansMetric({ model, named }: Resolver, parts: readonly string[], side: Side): boolean {
  if (side === 'where' && meansField(model, parts)) return false;
  return named.has(parts.join('.')) || findMetric(model, parts) !== undefined;
}

/** By a dataset or a role; metrics have no longer names. */
function meansField(
  model: SemanticModel,
  [first = '', second = '', ...more]: readonly string[],
): boolean {
  if (more.length > 0 || (first === 'metric_time' && second !== '')) return true;
  const isField = (name: string): boolean => {
    const dataset = model.datasets.get(name);
    return dataset !== undefined && visibleField(dataset, second) !== undefined;
  };
  if (isField(first)) return true;
  if (model.datasets.has(first)) return false;
  return [...model.datasets.values()].some(({ steps, ways }) =>
    [...steps, ...ways].some(({ name, to }) => name === first && isField(to)),
  );
}

function structured(resolver: Resolver, { field, op, value = [] }: Comparison, side: Side): Split {
  const values = Array.isArray(value) ? value : [value];
  const operand = operands[operandOf[op]];
  if (!operand.fits(values)) {
    const hint = 'For example {field: orders.status, op: in, value: [paid]}.';
    throw refused(
      'invalid_condition',
      `The condition on ${field} with ${op} takes ${operand.words}`,
      hint,
    );
  }
  const parts = field.split('.');
  const text = `${field} ${op} ${values.map((one) => JSON.stringify(one)).join(', ')}`.trim();
  if (meansMetric(resolver, parts, side)) {
    return {
      text,
      expr: {
        kind: 'compare',
        op,
        left: completed((trace) => queryMetric(resolver, field, trace)),
        values,
      },
    };
  }
  return {
    text,
    on: undefined,
    build: (scope) => ({
      kind: 'compare',
      op,
      left: placeExpr(scope, placeInQuery(scope, parts)),
      values,
    }),
  };
}

const operands = {
  nothing: { words: 'no value', fits: (values) => values.length === 0 },
  value: { words: 'one value', fits: (values) => values.length === 1 },
  bound: {
    words: 'one value, not null',
    fits: (values) => values.length === 1 && !values.includes(null),
  },
  bounds: {
    words: 'two values, not null',
    fits: (values) => values.length === 2 && !values.includes(null),
  },
  list: { words: 'a list of values', fits: (values) => values.length > 0 },
  text: {
    words: 'one text that is not empty',
    fits: ([text, ...more]) => typeof text === 'string' && text !== '' && more.length === 0,
  },
} satisfies Record<string, { words: string; fits: (values: readonly FilterValue[]) => boolean }>;

const operandOf: Readonly<Record<FilterOperator, keyof typeof operands>> = {
  '=': 'value',
  '!=': 'value',
  '<': 'bound',
  '<=': 'bound',
  '>': 'bound',
  '>=': 'bound',
  between: 'bounds',
  in: 'list',
  not_in: 'list',
  is_null: 'nothing',
  is_not_null: 'nothing',
  contains: 'text',
  starts_with: 'text',
  ends_with: 'text',
};
