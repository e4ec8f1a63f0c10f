import { referencesOutsideAggregates } from './arithmetic.ts';
import { queryError } from '../query/errors.ts';
import type { Expr } from '../relational/query-tree.ts';
import type { SqlPiece } from '../relational/sql-piece.ts';
import { isWithin } from '../../sql/analyzer.ts';
import { type SemanticModel, findVisibleField } from '../model/model.ts';
import type { Comparison, Condition, FilterOperator, FilterValue } from '../query/query.ts';
import { withZeroForMissingSums, resolveQueryExpression, resolveQueryMetric } from './metrics.ts';
import { findMetric, parseQueryFragment, type MetricResolver } from './metric-resolver.ts';
import { resolveQueryField } from './field-path.ts';
import { fieldExpr, type RowPredicate, sqlPredicate } from './row-expr.ts';
import { unknownMetricError } from './unknown-metric.ts';

/** Conditions of a query, apart: on rows before, on aggregates after grouping. */
export interface QueryConditions {
  readonly rows: readonly RowCondition[];
  readonly aggregates: readonly { readonly text: string; readonly expr: Expr }[];
}

export interface RowCondition extends RowPredicate {
  /** The dataset whose metrics alone it is about. */
  readonly on: string | undefined;
}

type SplitCondition = RowCondition | QueryConditions['aggregates'][number];
type ConditionClause = 'where' | 'having';

/** Splits every condition at its top-level ANDs. Where a field and a metric share a name, `where` means the field, `having` the metric. */
export function splitConditions(
  resolver: MetricResolver,
  query: Readonly<Record<ConditionClause, readonly Condition[]>>,
): QueryConditions {
  const all = (['where', 'having'] as const).flatMap((side) =>
    query[side].flatMap((condition) => splitCondition(resolver, condition, side)),
  );
  return {
    rows: all.filter((one) => 'build' in one),
    aggregates: all.filter((one) => 'expr' in one),
  };
}

function splitCondition(
  resolver: MetricResolver,
  condition: Condition,
  side: ConditionClause,
): readonly SplitCondition[] {
  if (typeof condition !== 'string' && 'field' in condition)
    return [resolveComparison(resolver, condition, side)];
  const { on, where } =
    typeof condition === 'string' ? { on: undefined, where: condition } : condition;
  const fragment = parseQueryFragment(resolver, where);
  return fragment.conjuncts.map((span) =>
    scopeCondition(resolveConjunct(resolver, { fragment, span }, side), on),
  );
}

function scopeCondition(split: SplitCondition, on: string | undefined): SplitCondition {
  if (on === undefined || 'build' in split) return { ...split, on };
  const hint =
    'Leave on: out. What is asked of an aggregate decides about whole rows of the result.';
  throw queryError(
    'invalid_condition',
    `The condition ${JSON.stringify(split.text)} is about aggregates, so it cannot be scoped`,
    hint,
  );
}

function resolveConjunct(
  resolver: MetricResolver,
  piece: SqlPiece,
  side: ConditionClause,
): SplitCondition {
  const { fragment, span } = piece;
  const text = fragment.text.slice(span.start, span.end);
  const names = referencesOutsideAggregates(piece);
  const metrics = names.filter(({ parts }) => meansMetric(resolver, parts, side));
  if (metrics.length === 0 && !fragment.aggregates.some((call) => isWithin(call, span))) {
    return { ...sqlPredicate({ ...piece, home: undefined }), on: undefined };
  }
  if (metrics.length === names.length)
    return {
      text,
      expr: withZeroForMissingSums((trace) => resolveQueryExpression(resolver, piece, trace)),
    };
  const unknown = names.find(
    ({ parts }) => !meansMetric(resolver, parts, side) && !meansField(resolver.model, parts),
  );
  if (unknown !== undefined) throw unknownMetricError(resolver, unknown.parts);
  throw queryError(
    'mixed_condition',
    `The condition ${JSON.stringify(text)} mixes rows and aggregates under OR or in one comparison`,
    'Conditions on rows and on aggregates can only be joined by AND: write them as separate conditions.',
  );
}

function meansMetric(
  { model, queryMetrics: named }: MetricResolver,
  parts: readonly string[],
  side: ConditionClause,
): boolean {
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
    return dataset !== undefined && findVisibleField(dataset, second) !== undefined;
  };
  if (isField(first)) return true;
  if (model.datasets.has(first)) return false;
  return [...model.datasets.values()].some(({ toOne: steps, toMany: ways }) =>
    [...steps, ...ways].some(({ name, to }) => name === first && isField(to)),
  );
}

function resolveComparison(
  resolver: MetricResolver,
  { field, op, value = [] }: Comparison,
  side: ConditionClause,
): SplitCondition {
  const values = Array.isArray(value) ? value : [value];
  const operand = operands[operandOf[op]];
  if (!operand.fits(values)) {
    const hint = 'For example {field: orders.status, op: in, value: [paid]}.';
    throw queryError(
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
        left: withZeroForMissingSums((trace) => resolveQueryMetric(resolver, field, trace)),
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
      left: fieldExpr(scope, resolveQueryField(scope, parts)),
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
