import { isWithin } from '../../sql/analyzer.ts';
import { isCondition } from '../../sql/boolean-operands.ts';
import { isRanked } from '../../sql/percentiles.ts';
import { assumeKey } from '../keys/key-assumption.ts';
import { isToOne } from '../model/join-graph.ts';
import type { Balance } from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import {
  type AggregateExpr,
  type Expr,
  isBoolean,
  type NamedColumn,
  type Select,
  replaceOutputColumns,
} from '../relational/query-tree.ts';
import type { AggregateNode } from '../resolve/aggregate-node.ts';
import { checkAggregateType, needsNumbers } from '../resolve/aggregate-type.ts';
import type { ResolvedField } from '../resolve/field-path.ts';
import { type JoinScope, ownFieldExpr } from '../resolve/join-scope.ts';
import { filterExpr, rowExpr, type RowSql } from '../resolve/row-expr.ts';
import { convertedValue } from './conversion.ts';
import { rankPercentiles } from './values/ranked-percentiles.ts';

interface Aggregation {
  /** All have the same `factQueryKey`. */
  readonly aggregates: readonly AggregateNode[];
  readonly dimensions: readonly ResolvedField[];
  readonly fanOutDimensions: readonly string[];
}

/**
 * Groups `rows`, whose columns are the dimensions, and adds the aggregates. If joins repeat rows, a
 * subquery removes the duplicates first. For balances, a subquery picks the rows that count.
 */
export function aggregateRows(scope: JoinScope, rows: Select, aggregation: Aggregation): Select {
  return rankPercentiles(groupedRows(scope, rows, aggregation), scope.model.dialect);
}

function groupedRows(scope: JoinScope, rows: Select, aggregation: Aggregation): Select {
  const { aggregates, fanOutDimensions } = aggregation;
  const [first] = aggregates;
  if (first?.balance !== undefined)
    return aggregateBalance(scope, rows, { ...aggregation, balance: first.balance });
  const inputs = aggregates.map((aggregate) => ({
    aggregate,
    expr: inputExpr(scope, aggregate),
  }));
  if (fanOutDimensions.length > 0)
    return aggregateDistinctRows(rows, inputs, ownerKey(scope, fanOutDimensions));
  // Engines refuse a subquery inside an aggregate: compute those inputs first.
  const isFirst = (input: AggregateInput): boolean =>
    hasExists(input) || isRanked(input.aggregate, scope.model.dialect);
  return inputs.some(isFirst) ? aggregateDistinctRows(rows, inputs, []) : groupRows(rows, inputs);
}

/** An aggregate with its argument over the rows. `expr` is undefined if it counts rows. */
interface AggregateInput {
  readonly aggregate: AggregateNode;
  readonly expr: Expr | undefined;
}

/**
 * The argument of an aggregate, NULL for rows that its filters exclude. They never use the to-many
 * joins of the dimensions.
 */
function inputExpr(scope: JoinScope, aggregate: AggregateNode): Expr | undefined {
  if (aggregate.conversion !== undefined) return convertedValue;
  const toOneJoins = new Map([...scope.joins].filter(([, { path }]) => path.every(isToOne)));
  const inputScope: JoinScope = { ...scope, joins: toOneJoins };
  checkAggregateType(inputScope, aggregate);
  const argumentScope = {
    ...inputScope,
    reach: 'one',
    checksNumbers: needsNumbers(aggregate),
  } as const;
  const of = aggregate.of && argumentExpr(argumentScope, aggregate.of);
  const where = aggregate.where.map((filter) => filterExpr(inputScope, filter));
  // The argument and the filters may have added joins.
  for (const [alias, join] of toOneJoins) scope.joins.set(alias, join);
  return where.length === 0 ? of : { kind: 'conditional', where, value: of ?? one };
}

/** The argument of an aggregate; a condition is a boolean value there. */
function argumentExpr(scope: JoinScope, of: RowSql): Expr {
  const expr = rowExpr(scope, of);
  const tokens = of.fragment.tokens.filter((token) => isWithin(token, of.span));
  return expr.kind === 'text' && isCondition(tokens)
    ? { kind: 'boolean', of: expr, isCondition: true }
    : expr;
}

const one: Expr = { kind: 'text', parts: ['1'] };

function hasExists({ expr }: AggregateInput): boolean {
  return expr?.kind === 'conditional' && expr.where.some(({ kind }) => kind === 'exists');
}

function ownerKey(scope: JoinScope, fanOutDimensions: readonly string[]): readonly Expr[] {
  const { owner } = scope;
  if (owner.primaryKey !== undefined) {
    const { name: dataset, primaryKey: columns } = owner;
    assumeKey(scope.keys, { dataset, columns, range: undefined, use: 'count' });
    return columns.map((name) => ownFieldExpr(scope, name));
  }
  throw queryError(
    'no_key',
    `${fanOutDimensions.join(' and ')} has many rows for one row of ${owner.name}, and ${owner.name} has no key to count each row once`,
    `Declare primary_key in ${owner.file}, or leave the dimension out.`,
  );
}

/** SELECT dimensions, aggregates FROM rows GROUP BY dimensions. */
function groupRows(rows: Select, inputs: readonly AggregateInput[]): Select {
  const aggregates = inputs.map(({ aggregate, expr }) => ({
    column: aggregate.column,
    expr: aggregateExpr(aggregate, expr),
  }));
  return { ...rows, columns: [...rows.columns, ...aggregates], groups: rows.columns.length };
}

/**
 * Like `groupRows`, over a subquery with the inputs as columns. With a key, each row counts once
 * per group, however often the joins repeat it.
 */
function aggregateDistinctRows(
  rows: Select,
  inputs: readonly AggregateInput[],
  key: readonly Expr[],
): Select {
  const keyColumns = key.map((expr, index) => ({ column: `k${index + 1}`, expr }));
  const inner: Select = {
    ...rows,
    distinct: keyColumns.length > 0,
    columns: [...rows.columns, ...keyColumns, ...inputColumns(inputs)],
  };
  return groupSubquery(inner, { inputs, dimensions: rows.columns, where: [] });
}

/**
 * A semi-additive metric: of the values over the time, only one counts for each entity and period.
 */
function aggregateBalance(
  scope: JoinScope,
  rows: Select,
  {
    aggregates,
    dimensions,
    fanOutDimensions,
    balance,
  }: Aggregation & { readonly balance: Balance },
): Select {
  if (fanOutDimensions.length > 0)
    throw notSupportedError(
      'a semi-additive metric by a dimension to many',
      `${fanOutDimensions.join(' and ')} has several values for one row`,
    );
  const { over, take, per = [] } = balance;
  const inputs = aggregates.map((aggregate) => ({
    aggregate,
    expr: inputExpr(scope, { ...aggregate, where: [] }) ?? one,
  }));
  // Aggregates with equal keys have equal filters.
  const where = aggregates[0]?.where.map((filter) => filterExpr(scope, filter)) ?? [];
  const isOverTime = (dimension: ResolvedField | undefined) =>
    dimension?.path.length === 0 && dimension.name === over;
  const periods = rows.columns
    .filter((_, index) => isOverTime(dimensions[index]))
    .map(({ expr }) => expr);
  const perEntity = per.length === 0 ? '' : ` for each ${per.join(' and ')}`;
  scope.notes.add(
    `Of the values at each ${scope.owner.name}.${over}, the ${take} counts${perEntity}`,
  );
  const stored = ownFieldExpr(scope, over);
  const isTime = scope.owner.fields.get(over)?.type?.startsWith('date') === true;
  const time: Expr = isTime ? { kind: 'time', of: stored } : stored;
  // Rows that do not count must stay in the query, so that their groups stay in the result.
  const counts: readonly Expr[] = [...where, { kind: 'text', parts: [time, ' IS NOT NULL'] }];
  const entity = per.map((name) => ownFieldExpr(scope, name));
  return take === 'first' || take === 'last'
    ? aggregateRanked(rows, inputs, { counts, time, take, partition: [...entity, ...periods] })
    : aggregatePerEntity(rows, inputs, { counts, take, entity });
}

/** Column that is 1 for rows that count. */
const countsColumn = 'o';
/** Column with the rank of a row by its time. */
const rankColumn = 'r';

/** The first or last value: rank 1 over the time, among the rows that count. */
function aggregateRanked(
  rows: Select,
  inputs: readonly AggregateInput[],
  {
    counts,
    time,
    take,
    partition,
  }: {
    counts: readonly Expr[];
    time: Expr;
    take: 'first' | 'last';
    partition: readonly Expr[];
  },
): Select {
  const isCounted: Expr = { kind: 'conditional', where: counts, value: one };
  const rank: Expr = {
    kind: 'rank',
    partition: [isCounted, ...partition],
    order: [time],
    isDescending: take === 'last',
  };
  const columns = [
    ...rows.columns,
    ...inputColumns(inputs),
    { column: countsColumn, expr: isCounted },
    { column: rankColumn, expr: rank },
  ];
  const where = [isOne(subqueryColumn(countsColumn)), isOne(subqueryColumn(rankColumn))];
  return groupSubquery({ ...rows, columns }, { inputs, dimensions: rows.columns, where });
}

/** The smallest, greatest or average value of each entity. The metric aggregates these values. */
function aggregatePerEntity(
  rows: Select,
  inputs: readonly AggregateInput[],
  {
    counts,
    take,
    entity,
  }: {
    counts: readonly Expr[];
    take: Exclude<Balance['take'], 'first' | 'last'>;
    entity: readonly Expr[];
  },
): Select {
  const keyColumns = entity.map((expr, index) => ({ column: `k${index + 1}`, expr }));
  const takenColumns = inputColumns(inputs).map(({ column, expr }): NamedColumn<Expr> => {
    const of: Expr = { kind: 'conditional', where: counts, value: expr };
    return { column, expr: { kind: 'aggregate', function: take, of, fraction: undefined } };
  });
  const inner: Select = {
    ...rows,
    columns: [...rows.columns, ...keyColumns, ...takenColumns],
    groups: rows.columns.length + keyColumns.length,
  };
  return groupSubquery(inner, { inputs, dimensions: rows.columns, where: [] });
}

function isOne(expr: Expr): Expr {
  return { kind: 'text', parts: [expr, ' = 1'] };
}

/** The column of a nested aggregate's inner query for the field `per`. */
export const perColumn = 'per';

/**
 * Aggregates the results of `inner`, the inner query of `aggregate.nested`. Its last dimension is
 * the field `per`; rows where that is NULL do not count.
 */
export function aggregateNested(
  inner: Select,
  aggregate: AggregateNode,
  dimensionCount: number,
): Select {
  const alias = 'ktx inner';
  const innerColumn = (name: string): Expr => ({ kind: 'column', alias, name });
  const dimensions = inner.columns
    .slice(0, dimensionCount)
    .map(({ column }) => ({ column, expr: innerColumn(column) }));
  const hasDimension: Expr = {
    kind: 'text',
    parts: [innerColumn(perColumn), ' IS NOT NULL'],
  };
  const of: Expr | undefined = aggregate.nested && {
    kind: 'conditional',
    where: [hasDimension],
    value: replaceOutputColumns(aggregate.nested.of, ({ column }) => innerColumn(column)),
  };
  return {
    kind: 'select',
    columns: [...dimensions, { column: aggregate.column, expr: aggregateExpr(aggregate, of) }],
    from: { alias, relation: { kind: 'select', select: inner } },
    joins: [],
    where: [],
    groups: dimensionCount,
  };
}

const subqueryAlias = 'ktx rows';

function subqueryColumn(column: string): Expr {
  return { kind: 'column', alias: subqueryAlias, name: column };
}

/** `v1`, `v2`…, numbered like the inputs. */
function inputColumns(inputs: readonly AggregateInput[]): readonly NamedColumn<Expr>[] {
  return inputs.flatMap(({ expr }, index) =>
    expr === undefined ? [] : [{ column: `v${index + 1}`, expr }],
  );
}

/**
 * Groups a subquery whose columns are dimensions and inputs. Only rows that meet all of `where` are
 * aggregated.
 */
function groupSubquery(
  rows: Select,
  {
    inputs,
    dimensions,
    where,
  }: {
    inputs: readonly AggregateInput[];
    dimensions: Select['columns'];
    where: readonly Expr[];
  },
): Select {
  const filtersGroups = inputs.some(({ aggregate }) => aggregate.filtersGroups === true);
  const aggregates = inputs.map(({ aggregate, expr }, index) => {
    const column = subqueryColumn(`v${index + 1}`);
    const value: Expr | undefined =
      expr !== undefined && isBoolean(expr)
        ? { kind: 'boolean', of: column, isCondition: false }
        : expr && column;
    const of: Expr | undefined =
      value !== undefined && where.length > 0 && !filtersGroups
        ? { kind: 'conditional', where, value }
        : value;
    return { column: aggregate.column, expr: aggregateExpr(aggregate, of) };
  });
  return {
    kind: 'select',
    columns: [
      ...dimensions.map(({ column }) => ({ column, expr: subqueryColumn(column) })),
      ...aggregates,
    ],
    from: { alias: subqueryAlias, relation: { kind: 'select', select: rows } },
    joins: [],
    where: filtersGroups ? where : [],
    groups: dimensions.length,
  };
}

function aggregateExpr(
  { function: name, fraction }: AggregateNode,
  of: Expr | undefined,
): AggregateExpr {
  return { kind: 'aggregate', function: name, of, fraction };
}
