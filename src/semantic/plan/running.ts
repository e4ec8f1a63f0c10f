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
import type { Expr, FromItem, JoinClause } from '../relational/query-tree.ts';
import type { RowCondition } from '../resolve/conditions.ts';
import { type ResolvedField, resolveQueryField } from '../resolve/field-path.ts';
import { conjunctionOfParts, type JoinScope } from '../resolve/join-scope.ts';
import { fieldExpr, isDefaultTime } from '../resolve/row-expr.ts';

/** The common table with every period of the result once; its column has the name of the dimension. */
export const periodsTable = 'ktx periods';

/** A running total reads the periods, and joins to each one the owner's rows that count in it. A row can count in several. */
export interface PeriodJoin {
  readonly from: FromItem;
  readonly join: JoinClause;
  /** The period of a dimension of the owner's default time; undefined for any other dimension. */
  dimension(dimension: ResolvedField): Expr | undefined;
}

/** The dimension with the finest grain of the owner's default time. Throws if the query has none. */
export function findPeriodDimension(
  scope: Pick<JoinScope, 'model' | 'owner'>,
  dimensions: readonly ResolvedField[],
): { readonly index: number; readonly grain: Grain } {
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

function missingPeriod(scope: Pick<JoinScope, 'model' | 'owner'>): Error {
  // Throws the error about the missing default time.
  if (scope.owner.defaultTime === undefined)
    resolveQueryField({ ...scope, reach: 'one' }, ['metric_time']);
  return queryError(
    'no_period',
    `A running total of ${scope.owner.name} needs a period as a dimension`,
    { hint: 'Add one to the dimensions.', choices: ['metric_time.month'] },
  );
}

/** Joins the owner's rows to the periods in which they count. Adds the joins of the time to the scope. */
export function joinPeriods(
  scope: JoinScope,
  dimensions: readonly ResolvedField[],
  { window, since }: Running,
): PeriodJoin {
  const { index, grain } = findPeriodDimension(scope, dimensions);
  const time = dimensions[index];
  if (time === undefined) throw new Error('the period dimension has no field');
  const yearStart = yearStartFor(time.dataset, [
    since,
    ...dimensions
      .filter((dimension) => isDefaultTime(scope, dimension))
      .map((dimension) => dimension.grain),
  ]);
  if (since !== undefined) checkSince(grain, since, yearStart);
  const period: Expr = { kind: 'column', alias: periodsTable, name: `d${index + 1}` };
  const options = { type: periodStartType(grain), weekStart: scope.query.week_start, yearStart };
  /** The start of the coarser period that the period lies in. */
  const periodIn = (coarser: Grain): Expr =>
    coarser === grain ? period : periodStart(period, coarser, options);
  /** The start of the period that the row's time lies in. */
  const rowPeriod = (cut: Grain): Expr => fieldExpr(scope, { ...time, grain: cut });
  const conditions: Expr[] = [{ kind: 'text', parts: [rowPeriod(grain), ' <= ', period] }];
  if (window !== undefined)
    conditions.push(windowCondition({ grain, period, yearStart, rowPeriod }, window));
  if (since !== undefined)
    conditions.push({ kind: 'text', parts: [rowPeriod(since), ' = ', periodIn(since)] });
  return {
    from: { alias: periodsTable, relation: { kind: 'common', name: periodsTable } },
    join: {
      alias: scope.owner.name,
      relation: requireReadableRows(scope.owner),
      on: conjunctionOfParts(conditions.map((condition) => [condition])),
      kind: 'inner',
    },
    dimension: (dimension) =>
      isDefaultTime(scope, dimension) && dimension.grain !== undefined
        ? periodIn(dimension.grain)
        : undefined,
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
 * True if the condition uses only the time of the running total. It then filters the periods of the result, and not the rows
 * that count. Throws `mixed_condition` if it mixes that time with other fields.
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
