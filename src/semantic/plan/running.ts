import type { RowCondition } from '../resolve/conditions.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type { Expr, FromItem, JoinClause } from '../relational/query-tree.ts';
import { readableRows, type Running } from '../model/model.ts';
import {
  periodStart,
  yearStartFor,
  finer,
  type Grain,
  liesIn,
  periodStartType,
  periodOfGrains,
} from '../model/grains.ts';
import { type ResolvedField, resolveQueryField } from '../resolve/field-path.ts';
import type { JoinScope } from '../resolve/join-scope.ts';
import { isDefaultTime, fieldExpr } from '../resolve/row-expr.ts';

/** The common table of all periods of the result, each once; its column is that of the dimension. */
export const periodsName = 'ktx periods';

/** The rows of an owner beside each period in which they count, however often that is. */
export interface RunningRows {
  readonly from: FromItem;
  readonly join: JoinClause;
  /** The period where the dimension is the time that runs; undefined where it is another. */
  dimension(place: ResolvedField): Expr | undefined;
}

/** The dimension that cuts the owner's time most finely. */
export function timeDimension(
  scope: Pick<JoinScope, 'model' | 'owner'>,
  places: readonly ResolvedField[],
): { readonly index: number; readonly grain: Grain } {
  const own = places.flatMap((place, index) =>
    isDefaultTime(scope, place) && place.grain !== undefined ? [{ index, grain: place.grain }] : [],
  );
  const [first, ...others] = own.toSorted((a, b) => (finer(a.grain, b.grain) === a.grain ? -1 : 1));
  if (first === undefined) {
    if (scope.owner.defaultTime === undefined)
      resolveQueryField({ ...scope, reach: 'one' }, ['metric_time']);
    const message = `A running total of ${scope.owner.name} needs the period that it runs to`;
    throw queryError('no_period', message, {
      hint: 'Add it to the dimensions.',
      choices: ['metric_time.month'],
    });
  }
  const yearStart = yearStartFor(
    scope.owner,
    [first, ...others].map(({ grain }) => grain),
  );
  for (const { grain } of others) {
    if (!liesIn(first.grain, grain, yearStart))
      throw notSupportedError(
        `running totals by ${first.grain} and ${grain}`,
        'One crosses the ends of the other',
      );
  }
  return first;
}

export function runningRows(
  scope: JoinScope,
  places: readonly ResolvedField[],
  { window, since }: Running,
): RunningRows {
  const { index, grain } = timeDimension(scope, places);
  const place = places[index];
  if (place === undefined) throw new Error('no dimension where one was found');
  const yearStart = yearStartFor(place.dataset, [
    since,
    ...places.filter((one) => isDefaultTime(scope, one)).map((one) => one.grain),
  ]);
  if (since !== undefined && !liesIn(grain, since, yearStart)) {
    throw queryError(
      'no_period',
      `A ${grain} crosses the ends of a ${since}, so its total to date means nothing`,
      {
        hint: 'Ask by a period that lies in it.',
        choices: ['metric_time.day', `metric_time.${since}`],
      },
    );
  }
  const start: Expr = { kind: 'column', alias: periodsName, name: `d${index + 1}` };
  const type = periodStartType(grain);
  const cut = (to: Grain): Expr => fieldExpr(scope, { ...place, grain: to });
  const isBefore: Expr = { kind: 'text', parts: [cut(grain), ' <= ', start] };
  const conditions = [isBefore];
  if (window !== undefined) {
    const end: Expr = { kind: 'add', of: start, period: periodOfGrains(1, grain), type };
    const isCrossed =
      !liesIn(grain, window.grain, yearStart) && !liesIn(window.grain, grain, yearStart);
    const unit = isCrossed ? 'day' : finer<Grain>(grain, window.grain);
    const clock = type === 'date' && periodStartType(unit) === 'date' ? 'date' : 'datetime';
    const from: Expr = {
      kind: 'add',
      of: end,
      period: { ...window.period, count: -window.period.count },
      type: clock,
    };
    conditions.push({ kind: 'text', parts: [cut(unit), ' >= ', from] });
  }
  const options = { type, weekStart: scope.query.week_start, yearStart };
  const startOf = (to: Grain): Expr => (to === grain ? start : periodStart(start, to, options));
  if (since !== undefined)
    conditions.push({ kind: 'text', parts: [cut(since), ' = ', startOf(since)] });
  const on: Expr = {
    kind: 'text',
    parts: conditions.flatMap((one, position) => (position === 0 ? [one] : [' AND ', one])),
  };
  const { name } = scope.owner;
  return {
    from: { alias: periodsName, relation: { kind: 'common', name: periodsName } },
    join: { alias: name, relation: readableRows(scope.owner), on, kind: 'inner' },
    dimension: (asked) =>
      isDefaultTime(scope, asked) && asked.grain !== undefined ? startOf(asked.grain) : undefined,
  };
}

/** True for a condition on nothing but the time that runs: it says which periods are shown, not which rows count. */
export function isAboutPeriods(scope: JoinScope, condition: RowCondition): boolean {
  const visited = new Set<'time' | 'other'>();
  condition.build({
    ...scope,
    joins: new Map(scope.joins),
    existsJoins: new Map(),
    usedFields: visited,
  });
  if (visited.size < 2) return visited.has('time');
  const message = `The condition ${JSON.stringify(condition.text)} mixes the time of a running total with other fields`;
  throw queryError(
    'mixed_condition',
    message,
    'Conditions on the time say which periods are shown: write them apart.',
  );
}
