import { UserError } from '../lib/error.ts';
import type { Span } from '../sql/analyzer.ts';
import { type Fragment, parseFragment } from '../sql/expression.ts';
import type { Expr } from './expr.ts';
import type { Condition, FilterValue } from './query.ts';
import { findMetric, newTrace, queryAlgebra, queryMetric, type Resolver } from './resolve.ts';
import { fieldExpr, placeInQuery, rowExpr, type Place, type Scope, visibleField } from './scope.ts';

/** Conditions of a query, apart: on rows before, on aggregates after grouping. */
export interface Conditions {
  readonly rows: readonly RowCondition[];
  readonly aggregates: readonly Expr[];
}

export interface RowCondition {
  readonly text: string;
  build(scope: Scope, cut: (place: Place, expr: Expr) => Expr): Expr;
}

type Side = 'where' | 'having';
type Structured = Exclude<Condition, string>;

/** Splits every condition at its top-level ANDs. Where a field and a metric share a name, `where` means the field, `having` the metric. */
export function conditionsOf(resolver: Resolver, query: { where: readonly Condition[]; having: readonly Condition[] }): Conditions {
  const rows: RowCondition[] = [];
  const aggregates: Expr[] = [];
  const all = [
    ...query.where.map((condition) => ({ condition, side: 'where' as const })),
    ...query.having.map((condition) => ({ condition, side: 'having' as const })),
  ];
  for (const { condition, side } of all) {
    for (const part of typeof condition === 'string' ? textParts(resolver, condition, side) : [structured(resolver, condition, side)]) {
      if ('build' in part) rows.push(part);
      else aggregates.push(part);
    }
  }
  return { rows, aggregates };
}

function textParts(resolver: Resolver, text: string, side: Side): readonly (RowCondition | Expr)[] {
  const fragment = parseFragment(text, { dialect: resolver.model.dialect, origin: 'query', names: resolver.names });
  return fragment.conjuncts.map((span) => conjunct(resolver, { fragment, span }, side));
}

function conjunct(resolver: Resolver, piece: { fragment: Fragment; span: Span }, side: Side): RowCondition | Expr {
  const { fragment, span } = piece;
  const within = (inner: Span): boolean => inner.start >= span.start && inner.end <= span.end;
  const calls = fragment.aggregates.filter(within);
  const outside = fragment.references.filter(
    (reference) => within(reference) && !calls.some((call) => reference.start >= call.start && reference.end <= call.end),
  );
  const metrics = outside.filter((reference) => meansMetric(resolver, reference.parts, side));
  const text = fragment.text.slice(span.start, span.end);
  if (calls.length === 0 && metrics.length === 0) {
    return { text, build: (scope, cut) => rowExpr(scope, { fragment, span, home: undefined }, cut) };
  }
  if (metrics.length < outside.length) throw mixture(text);
  return queryAlgebra(resolver, piece, newTrace());
}

function mixture(text: string): UserError {
  return new UserError('mixed_condition', `The condition ${JSON.stringify(text)} mixes rows and aggregates under OR or in one comparison`, {
    hint: 'Conditions on rows and on aggregates can only be joined by AND: write them as separate conditions.',
    exitCode: 2,
  });
}

function meansMetric(resolver: Resolver, parts: readonly string[], side: Side): boolean {
  const [first = '', second = ''] = parts;
  if (parts.length === 1 && resolver.named.has(first)) return true;
  const dataset = parts.length === 2 ? resolver.model.datasets.get(first) : undefined;
  const isField = dataset !== undefined && visibleField(dataset, second) !== undefined;
  if (isField && side === 'where') return false;
  return findMetric(resolver.model, parts) !== undefined;
}

function structured(resolver: Resolver, condition: Structured, side: Side): RowCondition | Expr {
  const values = valuesOf(condition);
  const parts = condition.field.split('.');
  if (meansMetric(resolver, parts, side)) {
    return { kind: 'compare', op: condition.op, left: queryMetric(resolver, condition.field, newTrace()), values };
  }
  const text = `${condition.field} ${condition.op} ${values.map((value) => JSON.stringify(value)).join(', ')}`.trim();
  return {
    text,
    build: (scope, cut) => {
      const place = placeInQuery(scope.model, scope.owner, parts);
      return { kind: 'compare', op: condition.op, left: cut(place, fieldExpr(scope, place)), values };
    },
  };
}

function valuesOf(condition: Structured): readonly FilterValue[] {
  const { field, op, value } = condition;
  const values = value === undefined ? [] : Array.isArray(value) ? value : [value];
  const isTextOperator = op === 'contains' || op === 'starts_with' || op === 'ends_with';
  const wanted = op === 'is_null' || op === 'is_not_null' ? 0 : op === 'between' ? 2 : op === 'in' || op === 'not_in' ? undefined : 1;
  const isOrdered = ['<', '<=', '>', '>=', 'between'].includes(op);
  const fits =
    (wanted === undefined ? values.length > 0 : values.length === wanted) &&
    (!isTextOperator || (typeof values[0] === 'string' && values[0] !== '')) &&
    (!isOrdered || !values.includes(null));
  if (fits) return values;
  const what = isTextOperator ? 'one text that is not empty' : wanted === undefined ? 'a list of values' : `${wanted} value(s), not null`;
  throw new UserError('invalid_condition', `The condition on ${field} with ${op} takes ${what}`, {
    hint: 'For example {field: orders.status, op: in, value: [paid]}.',
    exitCode: 2,
  });
}
