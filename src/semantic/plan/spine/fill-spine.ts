import { notSupportedError } from '../../query/errors.ts';
import {
  conjunctionOf,
  type Expr,
  type FromItem,
  type NamedColumn,
  type Select,
} from '../../relational/query-tree.ts';
import { type AggregateNode, isCount } from '../../resolve/aggregate-node.ts';
import { formatFieldPath, type ResolvedField } from '../../resolve/field-path.ts';
import type { JoinScope } from '../../resolve/join-scope.ts';
import { spinePeriodExpr } from '../../resolve/periods/period-expr.ts';
import { type RowPredicate, sqlPredicate, wordsThatAcceptNull } from '../../resolve/row-expr.ts';
import { periodsTable } from '../running.ts';
import { findSpine } from './find-spine.ts';
import { type PeriodCondition, periodDimensions, spinePeriods } from './spine-periods.ts';

const groupsAlias = 'ktx groups';

interface SpineFill {
  readonly aggregates: readonly AggregateNode[];
  readonly dimensions: readonly ResolvedField[];
  /** Conditions on the time: they apply to the periods too. */
  readonly conditions: readonly PeriodCondition[];
  /** Conditions on other fields of the rows. */
  readonly rowConditions: readonly RowPredicate[];
}

/**
 * Adds every period of the time spine that the groups lack, with NULL in the other dimensions.
 * Nothing is added if the query does not group by the time of the metric.
 */
export function fillFromSpine(scope: JoinScope, groups: Select, fill: SpineFill): Select {
  const { aggregates, dimensions, conditions } = fill;
  const periods = periodDimensions(scope, dimensions);
  if (periods.length === 0) return groups;
  const spine = findSpine(
    scope.model,
    periods.map(({ grain }) => grain),
  );
  const nameOf = (index: number) => `d${index + 1}`;
  const from = spinePeriods(scope, {
    spine,
    grain: spine.grain,
    columns: (period) =>
      periods.map(({ index, field }) => ({
        column: nameOf(index),
        expr:
          field.grain === spine.grain && field.derived === undefined
            ? period.expr
            : spinePeriodExpr(scope, field, period).expr,
      })),
    where: (spinePeriod) => conditions.map((condition) => condition({ ...scope, spinePeriod })),
  });
  const joined: FromItem = {
    alias: groupsAlias,
    relation: { kind: 'select', select: groups },
  };
  const isSame = periods.map(({ index }): Expr => ({
    kind: 'text',
    parts: [columnOf(periodsTable, nameOf(index)), ' = ', columnOf(groupsAlias, nameOf(index))],
  }));
  const isPeriod = (index: number) => periods.some((period) => period.index === index);
  const dimensionColumns = dimensions.map((_, index): NamedColumn<Expr> => {
    const alias = isPeriod(index) ? periodsTable : groupsAlias;
    return { column: nameOf(index), expr: columnOf(alias, nameOf(index)) };
  });
  return {
    kind: 'select',
    columns: [...dimensionColumns, ...aggregates.map(filledValue)],
    from,
    joins: [
      {
        ...joined,
        on: conjunctionOf(isSame),
        kind: dropsAddedPeriods(scope, fill) ? 'inner' : 'left',
      },
    ],
    where: [],
  };
}

function filledValue(aggregate: AggregateNode): NamedColumn<Expr> {
  const value = columnOf(groupsAlias, aggregate.column);
  const isZero = isCount(aggregate);
  const expr: Expr = isZero ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
  return { column: aggregate.column, expr };
}

/**
 * As in MetricFlow, a condition whose fields are all in the result applies to the added periods
 * too, where these fields are NULL: none of them meets it. Throws if it might accept NULL.
 */
function dropsAddedPeriods(
  scope: JoinScope,
  { dimensions, rowConditions, aggregates: [first] }: SpineFill,
): boolean {
  const inResult = new Set(dimensions.map(formatFieldPath));
  const filters = (first?.where ?? []).map(sqlPredicate);
  /** For each field of a condition, whether the result has it. */
  const areInResult = (condition: RowPredicate) =>
    fieldsOf(scope, condition).map((field) => inResult.has(field));
  // MetricFlow decides about each of its filters alone, and ktx has joined them to one.
  const mixed = filters.find((filter) => {
    const areKnown = areInResult(filter);
    return areKnown.includes(true) && areKnown.includes(false);
  });
  if (mixed !== undefined)
    throw notSupportedError(
      `the filter ${JSON.stringify(mixed.text)} on periods of the time spine`,
      'Group by all of its fields, or by none',
    );
  const appliedAgain = [...rowConditions, ...filters].filter((condition) =>
    areInResult(condition).every(Boolean),
  );
  const mayAcceptNull = appliedAgain.find(
    ({ row, text }) =>
      row === undefined ||
      text
        .toLowerCase()
        .split(/\W+/)
        .some((word) => wordsThatAcceptNull.test(word)),
  );
  if (mayAcceptNull === undefined) return appliedAgain.length > 0;
  throw notSupportedError(
    `the condition ${JSON.stringify(mayAcceptNull.text)} on periods of the time spine`,
    'They have no value in the other dimensions. Write it without NULL, NOT, OR and IN, or leave these dimensions out',
  );
}

/** The fields that a condition reads. Builds it in a copy of the scope, which keeps no joins. */
function fieldsOf(scope: JoinScope, condition: RowPredicate): readonly string[] {
  const fields: string[] = [];
  condition.build({
    ...scope,
    joins: new Map(scope.joins),
    existsJoins: new Map(),
    usedFields: new Set(),
    onField: (field) => fields.push(formatFieldPath(field)),
  });
  return fields;
}

function columnOf(alias: string, name: string): Expr {
  return { kind: 'column', alias, name };
}
