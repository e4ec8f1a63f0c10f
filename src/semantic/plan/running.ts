import type { Aggregate } from '../../sql/aggregates.ts';
import {
  finer,
  type Grain,
  liesIn,
  periodOfGrains,
  periodStart,
  periodStartType,
  yearStartFor,
} from '../model/grains.ts';
import { requireReadableRows, type Running } from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type {
  CommonTable,
  Expr,
  FromItem,
  JoinClause,
  NamedColumn,
  Query,
  Select,
} from '../relational/query-tree.ts';
import type { AggregateNode } from '../resolve/aggregate-node.ts';
import type { RowCondition } from '../resolve/conditions.ts';
import { formatFieldPath, type ResolvedField, resolveQueryField } from '../resolve/field-path.ts';
import { conjunctionOfParts, type JoinScope } from '../resolve/join-scope.ts';
import { fieldExpr, isDefaultTime } from '../resolve/row-expr.ts';

/**
 * The common table with every period of the result once; its column has the name of the dimension.
 */
export const periodsTable = 'ktx periods';

/**
 * The rows that a fact query aggregates. In a running total a row can count in several periods, so
 * its rows are aggregated by period first where `combinedBy` allows that.
 */
export interface RowSource {
  /**
   * What the inner query reads: the owner's rows, or the periods. Throws if no rule lets the role
   * read the rows.
   */
  readonly from: () => FromItem;
  readonly joins: readonly JoinClause[];
  /** The columns of the inner query for the dimensions. */
  readonly dimensions: readonly NamedColumn<Expr>[];
  /** Turns the inner query, with its aggregates, into the fact query. */
  readonly finish: (inner: Select) => Select;
}

/** The rows that are aggregated by period: the alias, and the name of a common table of them. */
const partsAlias = 'ktx parts';

/**
 * Which aggregate makes a whole of the aggregates of parts. The others, such as distinct counts,
 * need the rows.
 */
export const combinedBy: { readonly [name in Aggregate]?: Aggregate } = {
  sum: 'sum',
  count: 'sum',
  min: 'min',
  max: 'max',
};

/**
 * The dimension with the finest grain of the owner's default time. Throws if the query has none.
 */
export function findPeriodDimension(
  scope: Pick<JoinScope, 'model' | 'owner' | 'time'>,
  dimensions: readonly ResolvedField[],
): { readonly index: number; readonly grain: Grain } {
  const derived = dimensions.find(
    (dimension) => isDefaultTime(scope, dimension) && dimension.derived !== undefined,
  );
  if (derived !== undefined)
    throw notSupportedError(
      `a running total by ${formatFieldPath(derived)}`,
      'Group by periods like metric_time.day and metric_time.month',
    );
  const ofDefaultTime = dimensions.flatMap((dimension, index) =>
    isDefaultTime(scope, dimension) && dimension.grain !== undefined
      ? [{ index, grain: dimension.grain }]
      : [],
  );
  const [finest, ...coarser] = ofDefaultTime.toSorted((a, b) =>
    finer(a.grain, b.grain) === a.grain ? -1 : 1,
  );
  if (finest === undefined) throw missingPeriod(scope);
  const allGrains = [finest, ...coarser].map(({ grain }) => grain);
  const yearStart = yearStartFor(scope.owner, allGrains);
  for (const { grain } of coarser) {
    if (!liesIn(finest.grain, grain, yearStart))
      throw notSupportedError(
        `running totals by ${finest.grain} and ${grain}`,
        `A ${finest.grain} can begin in one ${grain} and end in the next`,
      );
  }
  return finest;
}

export function missingPeriod(scope: Pick<JoinScope, 'model' | 'owner' | 'time'>): Error {
  // Throws the error about the missing default time.
  if ((scope.time ?? scope.owner.defaultTime) === undefined)
    resolveQueryField({ ...scope, reach: 'one' }, ['metric_time']);
  return queryError(
    'no_period',
    `A running total of ${scope.owner.name} needs a period as a dimension`,
    { hint: 'Add one to the dimensions.', choices: ['metric_time.month'] },
  );
}

/**
 * Plans a running total of aggregates with equal `factQueryKey`s. Adds the joins of its dimensions
 * to the scope.
 */
export function joinPeriods(
  scope: JoinScope,
  dimensions: readonly ResolvedField[],
  { aggregates, running }: { aggregates: readonly AggregateNode[]; running: Running },
): RowSource {
  const { owner } = scope;
  const from: FromItem = {
    alias: periodsTable,
    relation: { kind: 'common', name: periodsTable },
  };
  const rows: FromItem = { alias: owner.name, relation: requireReadableRows(owner) };
  const named = (dimension: ResolvedField, index: number, expr: Expr | undefined) => ({
    column: `d${index + 1}`,
    expr: expr ?? fieldExpr(scope, dimension),
  });
  if (aggregates.some((aggregate) => combinedBy[aggregate.function] === undefined)) {
    const { on, periods } = matchPeriods(scope, dimensions, { running, read: (_, cut) => cut });
    return {
      from: () => from,
      joins: [{ ...rows, on, kind: 'inner' }],
      dimensions: dimensions.map((dimension, index) => named(dimension, index, periods[index])),
      finish: (inner) => inner,
    };
  }
  const cuts = new Map<string, Expr>();
  const read = (grain: Grain, cut: Expr): Expr => {
    cuts.set(grain, cut);
    return { kind: 'column', alias: partsAlias, name: grain };
  };
  const { on, periods } = matchPeriods(scope, dimensions, { running, read });
  const others = dimensions.flatMap((dimension, index) =>
    periods[index] === undefined ? [named(dimension, index, undefined)] : [],
  );
  return {
    from: () => rows,
    joins: [],
    dimensions: [...others, ...[...cuts].map(([column, expr]) => ({ column, expr }))],
    finish: (inner) => ({
      kind: 'select',
      columns: [
        ...dimensions.map((_, index) => partColumn(`d${index + 1}`, periods[index])),
        ...aggregates.map(combineParts),
      ],
      from,
      joins: [
        { alias: partsAlias, relation: { kind: 'select', select: inner }, on, kind: 'inner' },
      ],
      where: [],
      groups: dimensions.length,
    }),
  };
}

function partColumn(column: string, expr: Expr | undefined): NamedColumn<Expr> {
  return { column, expr: expr ?? { kind: 'column', alias: partsAlias, name: column } };
}

function combineParts({ column, function: name }: AggregateNode): NamedColumn<Expr> {
  const of: Expr = { kind: 'column', alias: partsAlias, name: column };
  const combine = combinedBy[name] ?? name;
  return { column, expr: { kind: 'aggregate', function: combine, of, fraction: undefined } };
}

/** A running total that reads its rows, aggregated by period, from a common table. */
interface SharedParts {
  readonly table: CommonTable;
  /** The periods of the result, read from that table. */
  readonly periods: Query;
  /** The fact query, with the table in place of the subquery. */
  readonly select: Select;
}

/**
 * Reads the periods from the aggregated rows of a running total, so that its rows are scanned once.
 * Undefined if the periods are those of other rows: of another dataset, or of a part of the rows.
 */
export function shareParts(
  running: Select,
  seen: readonly Select[],
  { column, grain }: { readonly column: string; readonly grain: Grain },
): SharedParts | undefined {
  const [rows, ...otherRows] = seen;
  const [join] = running.joins;
  if (rows === undefined || otherRows.length > 0 || join?.alias !== partsAlias) return undefined;
  if (join.relation.kind !== 'select' || join.relation.select.kind !== 'select') return undefined;
  const parts = join.relation.select;
  if (!readsSameRows(parts, rows)) return undefined;
  const from: FromItem = { alias: partsAlias, relation: { kind: 'common', name: partsAlias } };
  const period: Expr = { kind: 'column', alias: partsAlias, name: grain };
  return {
    table: { name: partsAlias, query: parts },
    periods: {
      kind: 'select',
      distinct: true,
      columns: [{ column, expr: period }],
      from,
      joins: [],
      where: [],
    },
    select: { ...running, joins: [{ ...join, ...from }] },
  };
}

/** Left joins may differ: those of parts are to one, so they neither drop nor add rows. */
function readsSameRows(parts: Select, rows: Select): boolean {
  const { relation } = parts.from;
  // Filters across to-many relationships are computed in a subquery.
  const isSubquery = relation.kind === 'select' && relation.select.kind === 'select';
  if (isSubquery && parts.where.length === 0 && relation.select.distinct !== true)
    return readsSameRows(relation.select, rows);
  const joins = [...parts.joins, ...rows.joins];
  const rowsOf = ({ from, where }: Select) => JSON.stringify([from, where]);
  return joins.every(({ kind }) => kind === 'left') && rowsOf(parts) === rowsOf(rows);
}

/**
 * The condition under which a row counts in a period, and for each dimension of the default time
 * its period. `read` says how the condition reads the start of a period of the row.
 */
function matchPeriods(
  scope: JoinScope,
  dimensions: readonly ResolvedField[],
  { running, read }: { running: Running; read: (grain: Grain, ofRow: Expr) => Expr },
): { readonly on: Expr; readonly periods: readonly (Expr | undefined)[] } {
  const { window, since } = running;
  const { index, grain } = findPeriodDimension(scope, dimensions);
  const time = dimensions[index];
  if (time === undefined) throw new Error('the period dimension has no field');
  const isPeriod = (dimension: ResolvedField) =>
    isDefaultTime(scope, dimension) && dimension.grain !== undefined;
  const yearStart = yearStartFor(time.dataset, [
    since,
    ...dimensions.filter(isPeriod).map((dimension) => dimension.grain),
  ]);
  if (since !== undefined) checkSince(grain, since, yearStart);
  const period: Expr = { kind: 'column', alias: periodsTable, name: `d${index + 1}` };
  const options = { type: periodStartType(grain), weekStart: scope.query.week_start, yearStart };
  /** The start of the coarser period that the period lies in. */
  const periodIn = (coarser: Grain): Expr =>
    coarser === grain ? period : periodStart(period, coarser, options);
  /** The start of the period that the row's time lies in. */
  const rowPeriod = (cut: Grain): Expr => read(cut, fieldExpr(scope, { ...time, grain: cut }));
  const conditions: Expr[] = [{ kind: 'text', parts: [rowPeriod(grain), ' <= ', period] }];
  if (window !== undefined)
    conditions.push(windowCondition({ grain, period, yearStart, rowPeriod }, window));
  if (since !== undefined)
    conditions.push({ kind: 'text', parts: [rowPeriod(since), ' = ', periodIn(since)] });
  return {
    on: conjunctionOfParts(conditions.map((condition) => [condition])),
    periods: dimensions.map((dimension) =>
      dimension.grain !== undefined && isPeriod(dimension) ? periodIn(dimension.grain) : undefined,
    ),
  };
}

interface WindowInput {
  readonly grain: Grain;
  readonly period: Expr;
  readonly yearStart: number;
  readonly rowPeriod: (cut: Grain) => Expr;
}

/** The row's time is at most one window before the end of the period. */
function windowCondition(
  { grain, period, yearStart, rowPeriod }: WindowInput,
  window: NonNullable<Running['window']>,
): Expr {
  const type = periodStartType(grain);
  const end: Expr = { kind: 'add', of: period, period: periodOfGrains(1, grain), type };
  const isCrossed =
    !liesIn(grain, window.grain, yearStart) && !liesIn(window.grain, grain, yearStart);
  // Weeks do not fit into months, so days are compared.
  const unit = isCrossed ? 'day' : finer<Grain>(grain, window.grain);
  const start: Expr = {
    kind: 'add',
    of: end,
    period: { ...window.period, count: -window.period.count },
    type: type === 'date' && periodStartType(unit) === 'date' ? 'date' : 'datetime',
  };
  return { kind: 'text', parts: [rowPeriod(unit), ' >= ', start] };
}

function checkSince(grain: Grain, since: Grain, yearStart: number): void {
  if (liesIn(grain, since, yearStart)) return;
  throw queryError(
    'no_period',
    `A ${grain} can begin in one ${since} and end in the next, so it has no total since the start of the ${since}`,
    {
      hint: `Group by a period that lies within a ${since}.`,
      choices: ['metric_time.day', `metric_time.${since}`],
    },
  );
}

/**
 * True if the condition uses only the time of the running total. It then filters the periods of the
 * result, and not the rows that count. Throws `mixed_condition` if it mixes that time with other
 * fields.
 */
export function isAboutPeriods(scope: JoinScope, condition: RowCondition): boolean {
  const usedFields = new Set<'time' | 'other'>();
  // Built only to see which fields it uses: the joins that it adds are thrown away.
  const trialScope = {
    ...scope,
    joins: new Map(scope.joins),
    existsJoins: new Map(),
    usedFields,
  };
  condition.build(trialScope);
  if (usedFields.size < 2) return usedFields.has('time');
  throw queryError(
    'mixed_condition',
    `The condition ${JSON.stringify(condition.text)} mixes the time of a running total with other fields`,
    'A condition on the time says which periods to show. Write it as a separate condition.',
  );
}
