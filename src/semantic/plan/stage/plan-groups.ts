import type { PlannedKeys } from '../../keys/key-assumption.ts';
import type { SemanticModel } from '../../model/model.ts';
import { queryError, unknownNameError } from '../../query/errors.ts';
import type { SemanticQuery } from '../../query/query.ts';
import type { CommonTable, Expr } from '../../relational/query-tree.ts';
import { emptyTrace } from '../../resolve/aggregate-node.ts';
import {
  type QueryConditions,
  type RowCondition,
  splitConditions,
} from '../../resolve/conditions.ts';
import type { ComparedTexts } from '../../resolve/literals/compared-text.ts';
import { createResolver, findMetric, type MetricResolver } from '../../resolve/metric-resolver.ts';
import { resolveQueryMetric, withZeroForMissingSums } from '../../resolve/metrics.ts';
import { planCalendar } from '../calendar.ts';
import type { FactQuery } from '../fact-query.ts';
import { mergeFactQueries } from '../merge-facts.ts';
import type { Subplans } from '../plan-context.ts';
import { planFactQueries, type PlannedMetric } from '../plan-facts.ts';
import { checkColumnNames, checkCommonPeriods } from '../query-checks.ts';
import { addComparisons, type AddedMetric } from './add-comparisons.ts';
import type { Stage } from './read-stage.ts';

/** The rows of a query, one for each group, before anything is computed over them. */
export interface PlannedGroups {
  readonly factQueries: readonly [FactQuery, ...FactQuery[]];
  /** The last one has one row per group. */
  readonly tables: readonly CommonTable[];
  readonly isRecursive: boolean;
  readonly metrics: readonly PlannedMetric[];
  readonly added: readonly AddedMetric[];
  readonly conditions: QueryConditions;
  /** The requested order: of a column by its name, or of another metric. */
  readonly order: readonly OrderItem[];
}

interface OrderItem {
  readonly dir: 'asc' | 'desc';
  readonly by: { readonly column: string } | { readonly expr: Expr };
}

export interface GroupsInput {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly stage: Stage;
  readonly notes: Set<string>;
  readonly compared: ComparedTexts;
  readonly keys: PlannedKeys;
  /** Addresses of the metrics that the answer uses; filled in place. */
  readonly usedMetrics: Set<string>;
  /** The queries inside the query; their tables come before all others. */
  readonly subplans: Subplans;
  /** A further condition on rows. */
  readonly condition?: RowCondition;
}

/**
 * 1. Resolve the names: metrics become aggregates, conditions are split into WHERE and HAVING.
 * 2. Plan a fact query for each dataset that has aggregates.
 * 3. Plan the calendar: the periods of running totals and of `fill_time`.
 * 4. Merge the fact queries to one row per group.
 */
export function planGroups(input: GroupsInput): PlannedGroups {
  const { model, query, stage, notes, compared, keys, usedMetrics, subplans, condition } = input;
  const resolver = createResolver(model, query.metrics, {
    usedMetrics,
    skipsEmpty: query.skip_empty,
  });
  const metrics = resolveMetrics(resolver, query);
  const names = metrics.map(({ name }) => name);
  const added = addComparisons(resolver, names, stage);
  const columnNames = [
    ...query.dimensions,
    ...names,
    ...added.map(({ name }) => name),
    ...stage.overRows.map(({ name }) => name),
  ];
  checkColumnNames(columnNames);
  const split = splitConditions(resolver, query);
  const conditions =
    condition === undefined ? split : { ...split, rows: [...split.rows, condition] };
  const order = query.order_by.map(({ field, dir }) => ({
    dir,
    by: columnNames.includes(field)
      ? { column: field }
      : { expr: resolveOrderMetric(resolver, field, columnNames) },
  }));
  const context = { model, query, conditions, notes, compared, keys, usedMetrics, subplans };
  const planned = planFactQueries(
    context,
    [...resolver.aggregates.values()],
    [...metrics, ...added],
  );
  checkCommonPeriods(context, planned);
  const calendar = planCalendar(context, planned);
  return {
    factQueries: planned,
    tables: [
      ...calendar.tables,
      ...mergeFactQueries(calendar.factQueries, calendar.filledPeriods, model.dialect),
    ],
    isRecursive: calendar.isRecursive,
    metrics,
    added,
    conditions,
    order,
  };
}

function resolveMetrics(
  resolver: MetricResolver,
  { metrics }: SemanticQuery,
): readonly PlannedMetric[] {
  return metrics.map((metric) => {
    const name = typeof metric === 'string' ? metric : metric.name;
    const trace = emptyTrace();
    const expr = withZeroForMissingSums(() => resolveQueryMetric(resolver, name, trace), trace);
    if (trace.aggregates.size > 0) return { name, expr, trace };
    throw queryError(
      'no_owner',
      `${name} aggregates nothing`,
      'Use a metric or an aggregate in it, like sum(orders.amount).',
    );
  });
}

/** A metric of the model that the query does not show. */
function resolveOrderMetric(
  resolver: MetricResolver,
  field: string,
  candidates: readonly string[],
): Expr {
  if (findMetric(resolver.model, field.split('.')) !== undefined)
    return withZeroForMissingSums((trace) => resolveQueryMetric(resolver, field, trace));
  throw unknownNameError({ what: 'requested dimension or metric', name: field, candidates });
}
