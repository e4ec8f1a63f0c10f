import type { TimeGrain } from '../../../sql/dialect.ts';
import {
  finer,
  type Grain,
  isFiscal,
  liesIn,
  periodOfGrains,
  periodStartType,
} from '../../model/grains.ts';
import { requireReadableRows, type SpineOffset, type SpineRunning } from '../../model/model.ts';
import { notSupportedError } from '../../query/errors.ts';
import {
  conjunctionOf,
  disjunctionOf,
  type Expr,
  type FromItem,
  type JoinClause,
  type NamedColumn,
  type Select,
} from '../../relational/query-tree.ts';
import type { AggregateNode, SpineUse } from '../../resolve/aggregate-node.ts';
import type { ResolvedField } from '../../resolve/field-path.ts';
import { type JoinScope, type PlannedJoin, toJoin } from '../../resolve/join-scope.ts';
import { spinePeriodExpr } from '../../resolve/periods/period-expr.ts';
import { fieldExpr } from '../../resolve/row-expr.ts';
import { combinedBy, missingPeriod, periodsTable, type RowSource } from '../running.ts';
import { findSpine, type Spine } from './find-spine.ts';
import {
  finestGrain,
  type PeriodCondition,
  type PeriodDimension,
  periodDimensions,
  periodOf,
  spinePeriods,
} from './spine-periods.ts';

const partsAlias = 'ktx parts';
const totalsAlias = 'ktx totals';
/** The column of the period of the spine, and that of the rows. */
const periodColumn = 'p';
const timeColumn = 't';

interface SpineJoinInput {
  /** All have the same `factQueryKey`. */
  readonly aggregates: readonly AggregateNode[];
  readonly spine: SpineUse;
  readonly conditions: readonly PeriodCondition[];
}

/** What the parts of one join to the spine have in common. */
interface SpineJoin {
  readonly scope: JoinScope;
  readonly dimensions: readonly ResolvedField[];
  readonly periods: readonly PeriodDimension[];
  /** The grain of the periods that are joined. */
  readonly grain: TimeGrain;
  /** True if the query groups by longer periods only. */
  readonly isCoarser: boolean;
  /** True if each of those shows one of the totals of its periods, or their average. */
  readonly hasTotals: boolean;
}

/**
 * Plans a cumulative metric or an offset over the time spine: each period of the spine reads the
 * rows of one or several periods, and a period without rows to read is not shown. As in
 * MetricFlow, a row can count in several periods, or in none.
 */
export function joinSpine(
  scope: JoinScope,
  dimensions: readonly ResolvedField[],
  { aggregates, spine: use, conditions }: SpineJoinInput,
): RowSource {
  const periods = periodDimensions(scope, dimensions);
  const finest = finestGrain(periods);
  const [first] = periods;
  if (finest === undefined || first === undefined) throw missingPeriod(scope);
  const { spine, grain } = chooseSpine(scope, use, { periods, finest });
  const isCoarser = periods.every(
    (period) => period.grain !== grain || period.field.derived !== undefined,
  );
  checkOrder(use, isCoarser);
  const hasTotals = isCoarser && use.running !== undefined;
  const join: SpineJoin = { scope, dimensions, periods, grain, isCoarser, hasTotals };
  const from = readSpine(join, spine, { use, conditions });
  const time = dimensions[first.index];
  if (time === undefined) throw new Error('the period dimension has no field');
  const rowTime = fieldExpr(scope, { ...time, grain, derived: undefined });
  return aggregates.every((aggregate) => combinedBy[aggregate.function] !== undefined)
    ? joinParts(join, { aggregates, use, from, rowTime })
    : joinRows(join, { aggregates, use, from, rowTime });
}

function chooseSpine(
  { model }: JoinScope,
  { offsets, running }: SpineUse,
  { periods, finest }: { readonly periods: readonly PeriodDimension[]; readonly finest: Grain },
): { readonly spine: Spine; readonly grain: TimeGrain } {
  const grouped = periods.map((period) => period.grain);
  if (running !== undefined) {
    const grain = finer<Grain>(running.grain, finest);
    if (isFiscal(grain))
      throw notSupportedError(
        `a cumulative metric by ${running.grain} and ${grain}`,
        'Group by another period',
      );
    const crossed = grouped.find((coarser) => !liesIn(grain, coarser, 1));
    if (crossed !== undefined)
      throw notSupportedError(
        `a cumulative metric by ${grain} and ${crossed}`,
        `A ${grain} can begin in one ${crossed} and end in the next`,
      );
    return { spine: findSpine(model, [grain]), grain };
  }
  const spine = findSpine(model, grouped);
  const isTooCoarse = (offset: SpineOffset) => !liesIn(spine.grain, offset.grain, 1);
  // With a coarser spine, MetricFlow's own joins depend on which spines there are.
  if (finer(spine.grain, 'day') !== spine.grain || offsets.some(isTooCoarse))
    throw notSupportedError(
      `an offset over the time spine by ${spine.grain}`,
      'The spine must have a row for each day, or for shorter periods',
    );
  return { spine, grain: spine.grain };
}

/** The order of an offset and another rule matters if the query groups by a longer period. */
function checkOrder({ offsets, running }: SpineUse, isCoarser: boolean): void {
  const rules = offsets.length + (running === undefined ? 0 : 1);
  if (!isCoarser || rules < 2) return;
  throw notSupportedError(
    'an offset of an offset or of a cumulative metric by a longer period',
    'Group by the period of the time spine, like metric_time.day',
  );
}

/** The periods of the spine that meet the conditions on the time. */
function readSpine(
  { scope, periods, grain, isCoarser }: SpineJoin,
  spine: Spine,
  { use, conditions }: { readonly use: SpineUse; readonly conditions: readonly PeriodCondition[] },
): FromItem {
  const startsOnly = isCoarser && use.offsets.some(({ kind }) => kind === 'to');
  if (startsOnly && periods.some(({ field }) => field.derived !== undefined))
    throw notSupportedError(
      'an offset to the start of a period by a part of a date or a custom period',
      'Group by another period',
    );
  return spinePeriods(scope, {
    spine,
    grain,
    columns: ({ expr }) => [{ column: periodColumn, expr }],
    where: (period) => {
      const spineScope = { ...scope, spinePeriod: period };
      const isStart = periods.map((dimension): Expr => ({
        kind: 'text',
        parts: [period.expr, ' = ', periodOf(scope, period, dimension.grain)],
      }));
      return [
        ...conditions.map((condition) => condition(spineScope)),
        ...(startsOnly ? [disjunctionOf(isStart)] : []),
      ];
    },
  });
}

interface JoinedRows {
  readonly aggregates: readonly AggregateNode[];
  readonly use: SpineUse;
  readonly from: FromItem;
  /** The period of a row. */
  readonly rowTime: Expr;
}

/** Aggregates the rows by period first: the aggregates make a whole of the parts. */
function joinParts(join: SpineJoin, { aggregates, use, from, rowTime }: JoinedRows): RowSource {
  const { scope, dimensions } = join;
  const { periods, joins } = periodExprs(join);
  const others = dimensions.flatMap((dimension, index) =>
    periods[index] === undefined
      ? [{ column: `d${index + 1}`, expr: fieldExpr(scope, dimension) }]
      : [],
  );
  const columns = dimensions.map((_, index): NamedColumn<Expr> => ({
    column: `d${index + 1}`,
    expr: periods[index] ?? columnOf(partsAlias, `d${index + 1}`),
  }));
  const whole = aggregates.map(({ column, function: name }): NamedColumn<Expr> => {
    const of = columnOf(partsAlias, column);
    const combine = combinedBy[name] ?? name;
    return { column, expr: { kind: 'aggregate', function: combine, of, fraction: undefined } };
  });
  return {
    from: () => ({ alias: scope.owner.name, relation: requireReadableRows(scope.owner) }),
    joins: [],
    dimensions: [...others, { column: timeColumn, expr: rowTime }],
    finish: (inner) => {
      const grouped = [...columns, ...ownPeriod(join)];
      const on = isRead(join, use, columnOf(partsAlias, timeColumn));
      const totals: Select = {
        kind: 'select',
        columns: [...grouped, ...whole],
        from,
        joins: [
          { alias: partsAlias, relation: { kind: 'select', select: inner }, on, kind: 'inner' },
          ...joins,
        ],
        where: [],
        groups: grouped.length,
      };
      return takeOfPeriods(join, totals, { aggregates, running: use.running });
    },
  };
}

/** Joins every row to the periods that read it. Distinct counts and medians need that. */
function joinRows(join: SpineJoin, { aggregates, use, from, rowTime }: JoinedRows): RowSource {
  const { scope, dimensions } = join;
  const { owner } = scope;
  const { periods, joins } = periodExprs(join);
  const columns = dimensions.map((dimension, index) => ({
    column: `d${index + 1}`,
    expr: periods[index] ?? fieldExpr(scope, dimension),
  }));
  const rows = { alias: owner.name, relation: requireReadableRows(owner) };
  return {
    from: () => from,
    joins: [{ ...rows, on: isRead(join, use, rowTime), kind: 'inner' }, ...joins],
    dimensions: [...columns, ...ownPeriod(join)],
    finish: (totals) => takeOfPeriods(join, totals, { aggregates, running: use.running }),
  };
}

/** For each dimension that is a period, its expression over the spine. */
function periodExprs({ scope, dimensions, periods, grain }: SpineJoin): {
  readonly periods: readonly (Expr | undefined)[];
  /** The joins that custom periods need. */
  readonly joins: readonly JoinClause[];
} {
  const joins = new Map<string, PlannedJoin>();
  const period = { expr: columnOf(periodsTable, periodColumn), type: typeOf(grain), joins };
  const exprs = dimensions.map((_, index) => {
    const own = periods.find((candidate) => candidate.index === index);
    if (own === undefined) return undefined;
    if (own.grain === grain && own.field.derived === undefined) return period.expr;
    return spinePeriodExpr(scope, own.field, period).expr;
  });
  return { periods: exprs, joins: [...joins.values()].map(toJoin) };
}

/** Totals are computed for each period of the spine, even if the query groups by longer ones. */
function ownPeriod({ hasTotals }: SpineJoin): readonly NamedColumn<Expr>[] {
  return hasTotals ? [{ column: periodColumn, expr: columnOf(periodsTable, periodColumn) }] : [];
}

/** True if a period of the spine reads the rows of a time. */
function isRead({ scope, grain }: SpineJoin, { offsets, running }: SpineUse, time: Expr): Expr {
  const type = typeOf(grain);
  const read = offsets.reduce<Expr>(
    (period, offset) => {
      if (offset.kind === 'to') return periodOf(scope, { expr: period, type }, offset.grain);
      checkUnit(grain, offset.grain);
      return { kind: 'add', of: period, period: negated(offset.period), type };
    },
    columnOf(periodsTable, periodColumn),
  );
  if (running === undefined) return { kind: 'text', parts: [time, ' = ', read] };
  const { window, since } = running;
  const conditions: Expr[] = [{ kind: 'text', parts: [time, ' <= ', read] }];
  if (window !== undefined) {
    checkUnit(grain, window.grain);
    const start: Expr = { kind: 'add', of: read, period: negated(window.period), type };
    conditions.push({ kind: 'text', parts: [time, ' > ', start] });
  }
  if (since !== undefined)
    conditions.push({
      kind: 'text',
      parts: [time, ' >= ', periodOf(scope, { expr: read, type }, since)],
    });
  return conjunctionOf(conditions);
}

function checkUnit(grain: TimeGrain, unit: TimeGrain): void {
  if (finer(grain, unit) === grain) return;
  throw notSupportedError(
    `a window or an offset by ${unit} over periods of a ${grain}`,
    `Group by metric_time.${unit}, or write time_granularity: ${unit} at the metric`,
  );
}

function negated(period: ReturnType<typeof periodOfGrains>): ReturnType<typeof periodOfGrains> {
  return { ...period, count: -period.count };
}

interface SpineTotals {
  readonly aggregates: readonly AggregateNode[];
  readonly running: SpineRunning | undefined;
}

/**
 * What a longer period shows: of a cumulative metric, the first or last total, or the average of
 * all; of an offset, the rows of all its periods together.
 */
function takeOfPeriods(
  { dimensions, hasTotals }: SpineJoin,
  totals: Select,
  { aggregates, running }: SpineTotals,
): Select {
  if (!hasTotals || running === undefined) return totals;
  const columns = dimensions.map((_, index) => `d${index + 1}`);
  const from: FromItem = { alias: totalsAlias, relation: { kind: 'select', select: totals } };
  const groups = columns.map((column) => ({ column, expr: columnOf(totalsAlias, column) }));
  const values = aggregates.map(({ column }) => ({ column, expr: columnOf(totalsAlias, column) }));
  if (running.periodAgg === 'average') {
    const averages = values.map(({ column, expr }): NamedColumn<Expr> => ({
      column,
      expr: { kind: 'aggregate', function: 'avg', of: expr, fraction: undefined },
    }));
    const all = [...groups, ...averages];
    return { kind: 'select', columns: all, from, joins: [], where: [], groups: groups.length };
  }
  const rank: Expr = {
    kind: 'rank',
    partition: groups.map(({ expr }) => expr),
    order: [columnOf(totalsAlias, periodColumn)],
    isDescending: running.periodAgg === 'last',
  };
  const ranked: Select = {
    kind: 'select',
    columns: [...groups, ...values, { column: 'r', expr: rank }],
    from,
    joins: [],
    where: [],
  };
  const taken = [...columns, ...aggregates.map(({ column }) => column)];
  return {
    kind: 'select',
    columns: taken.map((column) => ({ column, expr: columnOf(partsAlias, column) })),
    from: { alias: partsAlias, relation: { kind: 'select', select: ranked } },
    joins: [],
    where: [{ kind: 'text', parts: [columnOf(partsAlias, 'r'), ' = 1'] }],
  };
}

function typeOf(grain: TimeGrain): 'date' | 'datetime' {
  return periodStartType(grain) === 'date' ? 'date' : 'datetime';
}

function columnOf(alias: string, name: string): Expr {
  return { kind: 'column', alias, name };
}
