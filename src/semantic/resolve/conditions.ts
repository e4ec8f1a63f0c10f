import { isWithin } from '../../sql/analyzer.ts';
import { findVisibleField, type ModelDataset, type SemanticModel } from '../model/model.ts';
import { queryError } from '../query/errors.ts';
import type { Comparison, Condition, FilterOperator, FilterValue } from '../query/query.ts';
import type { Expr } from '../relational/query-tree.ts';
import { pieceText, type SqlPiece } from '../relational/sql-piece.ts';
import { referencesOutsideAggregates } from './arithmetic.ts';
import { resolveQueryField } from './field-path.ts';
import { findMetric, type MetricResolver, parseQueryFragment } from './metric-resolver.ts';
import { resolveQueryExpression, resolveQueryMetric, withZeroForMissingSums } from './metrics.ts';
import type { JoinScope } from './join-scope.ts';
import { comparedField, fieldExpr, type RowPredicate, sqlPredicate } from './row-expr.ts';
import { keepComparedText } from './literals/compared-text.ts';
import { noteDayBounds } from './literals/day-bounds.ts';
import { typedValue } from './literals/typed-literal.ts';
import { unknownMetricError } from './unknown-metric.ts';

/** The conditions of a query: those on rows apply before grouping, those on aggregates after it. */
export interface QueryConditions {
  readonly rows: readonly RowCondition[];
  readonly aggregates: readonly AggregateCondition[];
}

export interface RowCondition extends RowPredicate {
  /** The dataset whose metrics it is limited to; undefined for all metrics. */
  readonly on: string | undefined;
  /** True if totals are of all rows, whether they meet it or not. */
  readonly sparesTotals?: true;
}

interface AggregateCondition {
  readonly text: string;
  readonly expr: Expr;
}

type SplitCondition = RowCondition | AggregateCondition;
type ConditionClause = 'where' | 'having';

/**
 * Splits every condition at its top-level ANDs, and tells conditions on rows from conditions on
 * aggregates. Where a field and a metric share a name, `where` means the field and `having` the
 * metric. Throws `mixed_condition` for one that is both.
 */
export function splitConditions(
  resolver: MetricResolver,
  query: Readonly<Record<ConditionClause, readonly Condition[]>>,
): QueryConditions {
  const all = (['where', 'having'] as const).flatMap((clause) =>
    query[clause].flatMap((condition) => splitCondition(resolver, condition, clause)),
  );
  return {
    rows: all.filter((condition) => 'build' in condition),
    aggregates: all.filter((condition) => 'expr' in condition),
  };
}

function splitCondition(
  resolver: MetricResolver,
  condition: Condition,
  clause: ConditionClause,
): readonly SplitCondition[] {
  if (typeof condition !== 'string' && 'field' in condition)
    return [resolveComparison(resolver, condition, clause)];
  const { on, where } =
    typeof condition === 'string' ? { on: undefined, where: condition } : condition;
  const fragment = parseQueryFragment(resolver, where);
  return fragment.conjuncts.map((span) =>
    scopeCondition(resolveConjunct(resolver, { fragment, span }, clause), on),
  );
}

function scopeCondition(condition: SplitCondition, on: string | undefined): SplitCondition {
  if (on === undefined || 'build' in condition) return { ...condition, on };
  throw queryError(
    'invalid_condition',
    `The condition ${JSON.stringify(condition.text)} is about aggregates, so it cannot be scoped`,
    'Leave on: out. Conditions on aggregates filter whole rows of the result.',
  );
}

function resolveConjunct(
  resolver: MetricResolver,
  piece: SqlPiece,
  clause: ConditionClause,
): SplitCondition {
  const { fragment, span } = piece;
  const text = pieceText(piece);
  const names = referencesOutsideAggregates(piece);
  const metrics = names.filter(({ parts }) => meansMetric(resolver, parts, clause));
  const hasAggregates = fragment.aggregates.some((call) => isWithin(call, span));
  if (metrics.length === 0 && !hasAggregates)
    return { ...sqlPredicate({ ...piece, home: undefined }), on: undefined };
  if (metrics.length === names.length) {
    const expr = withZeroForMissingSums((trace) => resolveQueryExpression(resolver, piece, trace));
    return { text, expr };
  }
  const unknown = names.find(
    ({ parts }) => !meansMetric(resolver, parts, clause) && !meansField(resolver.model, parts),
  );
  if (unknown !== undefined) throw unknownMetricError(resolver, unknown.parts);
  throw queryError(
    'mixed_condition',
    `The condition ${JSON.stringify(text)} mixes rows and aggregates under OR or in one comparison`,
    'Conditions on rows and on aggregates can only be joined by AND: write them as separate conditions.',
  );
}

function meansMetric(
  { model, queryMetrics }: MetricResolver,
  parts: readonly string[],
  clause: ConditionClause,
): boolean {
  if (clause === 'where' && meansField(model, parts)) return false;
  return queryMetrics.has(parts.join('.')) || findMetric(model, parts) !== undefined;
}

/** True for dataset.field, role.field and longer paths. A metric's name has at most two parts. */
function meansField(
  model: SemanticModel,
  [first = '', second = '', ...more]: readonly string[],
): boolean {
  if (more.length > 0 || (first === 'metric_time' && second !== '')) return true;
  const hasField = (name: string): boolean => {
    const dataset = model.datasets.get(name);
    return dataset !== undefined && findVisibleField(dataset, second) !== undefined;
  };
  if (hasField(first)) return true;
  if (model.datasets.has(first)) return false;
  const isEntity = ({ name, entity }: ModelDataset) => entity === first && hasField(name);
  if ([...model.datasets.values()].some(isEntity)) return true;
  return [...model.datasets.values()].some(({ toOne, toMany }) =>
    [...toOne, ...toMany].some(({ name, to }) => name === first && hasField(to)),
  );
}

function resolveComparison(
  resolver: MetricResolver,
  { field, op, value = [] }: Comparison,
  clause: ConditionClause,
): SplitCondition {
  const values = Array.isArray(value) ? value : [value];
  checkOperand(field, op, values);
  const parts = field.split('.');
  const text = `${field} ${op} ${values.map((item) => JSON.stringify(item)).join(', ')}`.trim();
  if (meansMetric(resolver, parts, clause)) {
    const left = withZeroForMissingSums((trace) => resolveQueryMetric(resolver, field, trace));
    const literals = values.map((item) =>
      item === null ? null : ({ kind: 'literal', value: item } as const),
    );
    return { text, expr: { kind: 'compare', op, left, values: literals } };
  }
  return {
    text,
    on: undefined,
    build: (scope) => comparisonExpr(scope, { parts, op, values }),
  };
}

function comparisonExpr(
  scope: JoinScope,
  {
    parts,
    op,
    values,
  }: { parts: readonly string[]; op: FilterOperator; values: readonly FilterValue[] },
): Expr {
  const resolved = resolveQueryField(scope, parts);
  const name = parts.join('.');
  const isAboutText = operandOf[op] === 'text';
  const { expr: left, target } = isAboutText
    ? { expr: fieldExpr(scope, resolved), target: undefined }
    : comparedField(scope, resolved, name);
  const isEquality = ['=', '!=', 'in', 'not_in'].includes(op);
  for (const value of isEquality ? values : [])
    if (typeof value === 'string') keepComparedText(scope.compared, resolved, { name, value });
  if (target !== undefined && !['<', '>='].includes(op)) noteDayBounds(scope.notes, target, values);
  const literals = values.map((value): Expr | null => {
    if (value === null) return null;
    return target === undefined
      ? { kind: 'literal', value }
      : typedValue(value, target, { isEquality });
  });
  return { kind: 'compare', op, left, values: literals };
}

function checkOperand(field: string, op: FilterOperator, values: readonly FilterValue[]): void {
  const operand = operands[operandOf[op]];
  if (operand.fits(values)) return;
  throw queryError(
    'invalid_condition',
    `The condition on ${field} with ${op} takes ${operand.words}`,
    'For example {field: orders.status, op: in, value: [paid]}.',
  );
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
