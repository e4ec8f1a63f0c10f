import { notSupportedError } from '../../query/errors.ts';
import type { Select } from '../../relational/query-tree.ts';
import type { AggregateNode } from '../../resolve/aggregate-node.ts';
import type { QueryConditions, RowCondition } from '../../resolve/conditions.ts';
import type { ResolvedField } from '../../resolve/field-path.ts';
import type { JoinScope } from '../../resolve/join-scope.ts';
import type { Fact, PlanContext } from '../plan-context.ts';
import { rowConditionExpr } from '../row-conditions.ts';
import { isAboutPeriods, type RowSource } from '../running.ts';
import { fillFromSpine } from './fill-spine.ts';
import { joinSpine } from './join-spine.ts';

interface SpineInput {
  readonly scope: JoinScope;
  readonly fact: Fact;
  readonly dimensions: readonly ResolvedField[];
  /** All have the same `factQueryKey`. */
  readonly aggregates: readonly AggregateNode[];
}

interface SpinePlan {
  /** Set if periods of the spine read the rows; otherwise they are at most shown. */
  readonly source: RowSource | undefined;
  /** Adds the periods that the groups lack, if the metric shows them. */
  readonly finish: (groups: Select, fanOutDimensions: readonly string[]) => Select;
}

/** How the aggregates use the time spine. If they do not, the groups stay as they are. */
export function planSpine(
  { query, owners = [] }: PlanContext,
  { scope, fact, dimensions, aggregates }: SpineInput,
  ownConditions: QueryConditions['rows'],
): SpinePlan {
  const spine = aggregates[0]?.spine;
  if (spine === undefined) return { source: undefined, finish: (groups) => groups };
  if (query.fill_time)
    throw notSupportedError('fill_time with a metric over the time spine', 'Leave it out');
  const isOfPeriods = (condition: RowCondition) => isAboutPeriods(scope, condition);
  const conditions = ownConditions
    .filter(isOfPeriods)
    .map(
      (condition) => (spineScope: JoinScope) =>
        rowConditionExpr(spineScope, condition, { metric: fact.metric, owners }),
    );
  const readsRows = spine.offsets.length > 0 || spine.running !== undefined;
  return {
    source: readsRows ? joinSpine(scope, dimensions, { aggregates, spine, conditions }) : undefined,
    finish: (groups, fanOutDimensions) => {
      checkFanOutDimensions(fact, fanOutDimensions);
      const rowConditions = ownConditions.filter((condition) => !isOfPeriods(condition));
      return spine.fills
        ? fillFromSpine(scope, groups, { aggregates, dimensions, conditions, rowConditions })
        : groups;
    },
  };
}

/** Throws if one row would be in several groups: the spine repeats rows already. */
function checkFanOutDimensions({ metric }: Fact, fanOutDimensions: readonly string[]): void {
  if (fanOutDimensions.length === 0) return;
  throw notSupportedError(
    `${metric}, which is over the time spine, by a dimension to many`,
    `${fanOutDimensions.join(' and ')} has several values for one row`,
  );
}
