import type { TimeGrain } from '../../../sql/dialect.ts';
import {
  finer,
  type Grain,
  periodStart,
  periodStartType,
  yearStartFor,
} from '../../model/grains.ts';
import { requireReadableRows } from '../../model/model.ts';
import type { Expr, FromItem, NamedColumn } from '../../relational/query-tree.ts';
import type { ResolvedField } from '../../resolve/field-path.ts';
import { columnExpr, type JoinScope, type PlannedJoin, toJoin } from '../../resolve/join-scope.ts';
import { isDefaultTime } from '../../resolve/row-expr.ts';
import { periodsTable } from '../running.ts';
import type { Spine } from './find-spine.ts';

/** A condition of the query on the time of the metric, over the periods of the time spine. */
export type PeriodCondition = (scope: JoinScope) => Expr;

/** A dimension that is a period of the metric's time. */
export interface PeriodDimension {
  readonly index: number;
  readonly grain: Grain;
  readonly field: ResolvedField;
}

/** The dimensions that are periods of the time of the scope. */
export function periodDimensions(
  scope: Pick<JoinScope, 'owner' | 'time'>,
  dimensions: readonly ResolvedField[],
): readonly PeriodDimension[] {
  return dimensions.flatMap((dimension, index) =>
    isDefaultTime(scope, dimension) && dimension.grain !== undefined
      ? [{ index, grain: dimension.grain, field: dimension }]
      : [],
  );
}

export function finestGrain(periods: readonly PeriodDimension[]): Grain | undefined {
  return periods
    .map(({ grain }) => grain)
    .reduce<Grain | undefined>(
      (finest, grain) => (finest === undefined ? grain : finer(finest, grain)),
      undefined,
    );
}

/** The start of the period of `grain` in which a period of the spine begins. */
export function periodOf(
  { owner, query }: Pick<JoinScope, 'owner' | 'query'>,
  { expr, type }: Pick<NonNullable<JoinScope['spinePeriod']>, 'expr' | 'type'>,
  grain: Grain,
): Expr {
  const yearStart = yearStartFor(owner, [grain]);
  return periodStart(expr, grain, { type, weekStart: query.week_start, yearStart });
}

interface SpineRead {
  readonly spine: Spine;
  /** The grain that the periods are truncated to first. */
  readonly grain: TimeGrain;
  readonly columns: (period: NonNullable<JoinScope['spinePeriod']>) => readonly NamedColumn<Expr>[];
  /** Which periods are read. */
  readonly where: (period: NonNullable<JoinScope['spinePeriod']>) => readonly Expr[];
}

/** The periods of a spine as a subquery `ktx periods`, each once. */
export function spinePeriods(
  { model, query }: Pick<JoinScope, 'model' | 'query'>,
  { spine, grain, columns, where }: SpineRead,
): FromItem {
  const { dataset, column } = spine;
  const side = { dialect: model.dialect, dataset, alias: dataset.name };
  const field = dataset.fields.get(column);
  const stored = field?.type === 'datetime' || field?.type === 'datetime_tz' ? field.type : 'date';
  const expr: Expr = {
    kind: 'truncate',
    grain,
    of: columnExpr(side, column),
    options: { type: stored, weekStart: query.week_start },
  };
  const type = periodStartType(grain) === 'date' ? 'date' : 'datetime';
  const joins = new Map<string, PlannedJoin>();
  const period = { expr, type, joins } as const;
  const selected = columns(period);
  const conditions = where(period);
  return {
    alias: periodsTable,
    relation: {
      kind: 'select',
      select: {
        kind: 'select',
        distinct: true,
        columns: selected,
        from: { alias: dataset.name, relation: requireReadableRows(dataset) },
        joins: [...joins.values()].map(toJoin),
        where: conditions,
      },
    },
  };
}
