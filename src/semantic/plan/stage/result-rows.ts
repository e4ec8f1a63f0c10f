import type { Dialect } from '../../../sql/dialect.ts';
import type { FieldType } from '../../../sql/field-type.ts';
import { grains } from '../../model/grains.ts';
import { findField } from '../../model/model.ts';
import type { SemanticQuery } from '../../query/query.ts';
import type { Expr } from '../../relational/query-tree.ts';
import type { ResolvedField } from '../../resolve/field-path.ts';
import { findAdditivityLimits } from '../additivity.ts';
import type { AddedMetric } from './add-comparisons.ts';
import type { GroupsInput, PlannedGroups } from './plan-groups.ts';
import type { PlannedMetric } from '../plan-facts.ts';

export interface Ordering {
  readonly expr: Expr;
  readonly dir: 'asc' | 'desc';
}

/** The rows of the result, as expressions over one common table. */
export interface ResultRows {
  readonly dialect: Dialect;
  readonly dimensions: ReadonlyMap<string, Expr>;
  /** Metrics, each with what is added to it. */
  readonly values: ReadonlyMap<string, Expr>;
  /** What `order_by` asks for; undefined if it asks for nothing but the order of the periods. */
  readonly order: readonly Ordering[] | undefined;
  /** The dimension whose periods follow each other, and its other periods. */
  readonly time: { readonly name: string; readonly sameTime: readonly string[] } | undefined;
  /** The dimensions over which the groups of a value add up, and why not over the others. */
  readonly sums: (
    value: string,
  ) => { readonly only_over: readonly string[]; readonly because: string } | undefined;
}

export function resultRows({ model, query }: GroupsInput, groups: PlannedGroups): ResultRows {
  const all = valuesOf(groups);
  const traces = new Map(all.map(({ name, trace }) => [name, trace]));
  const dimensions = new Map(
    query.dimensions.map((name, index) => [name, outputColumn(`d${index + 1}`)]),
  );
  const values = new Map(all.map(({ name, expr }) => [name, expr]));
  const time = periodsOf(query);
  const [first] = query.order_by;
  const isByTime = first?.field === time?.name && first?.dir === 'asc';
  const order = groups.order.flatMap(({ by, dir }) => {
    const expr = 'expr' in by ? by.expr : (dimensions.get(by.column) ?? values.get(by.column));
    return expr === undefined ? [] : [{ expr, dir }];
  });
  return {
    dialect: model.dialect,
    dimensions,
    values,
    order: order.length === 0 || isByTime ? undefined : order,
    time,
    sums: (name) => {
      const trace = traces.get(name);
      if (trace === undefined) return undefined;
      const { datasets } = model;
      const { factQueries } = groups;
      return findAdditivityLimits(trace, { datasets, factQueries, dimensions: query.dimensions });
    },
  };
}

/** The metrics of the query, each followed by what is added to it. */
export function valuesOf({
  metrics,
  added,
}: Pick<PlannedGroups, 'metrics' | 'added'>): readonly (PlannedMetric | AddedMetric)[] {
  return metrics.flatMap((metric) => [
    metric,
    ...added.filter(({ metric: name }) => name === metric.name),
  ]);
}

/** The type of a dimension's column in the result. */
export function dimensionType({ grain, derived, field }: ResolvedField): FieldType | undefined {
  if (derived?.kind === 'part') return 'integer';
  if (derived?.kind === 'custom') return findField(derived.spine, derived.field)?.type;
  if (grain === undefined) return field?.type;
  const isWithinDay = grain === 'second' || grain === 'minute' || grain === 'hour';
  return isWithinDay ? 'datetime' : 'date';
}

export function outputColumn(column: string): Expr {
  return { kind: 'output_column', column };
}

/** The dimension with the finest grain, and the others of the same time. */
function periodsOf({ dimensions }: SemanticQuery): ResultRows['time'] {
  const periods = dimensions.flatMap((name) => {
    const end = name.lastIndexOf('.');
    const grain = grains.findIndex((candidate) => name.slice(end + 1) === candidate);
    return grain === -1 ? [] : [{ name, grain, time: name.slice(0, end) }];
  });
  const [finest, ...others] = periods.toSorted((a, b) => a.grain - b.grain);
  if (finest === undefined) return undefined;
  const sameTime = others.filter(({ time }) => time === finest.time).map(({ name }) => name);
  return { name: finest.name, sameTime };
}
