import type { Dialect } from '../../sql/dialect.ts';
import type { Plan } from '../plan/plan.ts';
import type { Expr, Select } from '../relational/query-tree.ts';
import { renameColumns } from '../relational/rename-columns.ts';

/** What the statement of a plan is made of. */
export interface LegiblePlan extends Pick<Plan, 'tables' | 'columns' | 'having' | 'order'> {
  /** The only SELECT, if the plan needs no other; its columns are those of the plan. */
  readonly only: Select | undefined;
}

/**
 * The plan as a person would write it: columns have the names of the query, and what one SELECT can
 * compute is one SELECT.
 */
export function legiblePlan(plan: Plan, dialect: Dialect): LegiblePlan {
  const { tables, columns, having, order } = named(plan, dialect);
  const [table, ...others] = tables;
  const isOne = others.length === 0 && table?.query.kind === 'select';
  if (!isOne || table.query.distinct === true || hasWindow(columns))
    return { tables, columns, having, order, only: undefined };
  const values = new Map(table.query.columns.map(({ column, expr }) => [column, expr]));
  const inlined = (expr: Expr) => inline(expr, values);
  return {
    tables: [],
    columns: columns.map((column) => ({ ...column, expr: inlined(column.expr) })),
    having: having.map(inlined),
    order: order.map(({ expr, dir }) => ({ expr: inlined(expr), dir })),
    only: table.query,
  };
}

/** Engines cut longer names, at 63 bytes the earliest. */
const maxNameLength = 48;

type Named = Omit<LegiblePlan, 'only'>;

/** Gives the columns of dimensions and of computed values the names of the query. */
function named(plan: Plan, dialect: Dialect): Named {
  const { tables, columns, having, order } = plan;
  const aggregates = new Set(
    plan.factQueries.flatMap((factQuery) =>
      factQuery.aggregates.map(({ column }) => column.toLowerCase()),
    ),
  );
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [index, { name, expr, kind }] of columns.entries()) {
    if (expr.kind !== 'output_column' || !/^[dgx]\d+$/.test(expr.column)) continue;
    const column = dialect.resultColumn(name, index);
    const isPlain = /^[\w .()*]+$/.test(column) && column.length <= maxNameLength;
    const lower = column.toLowerCase();
    // The tables that have dimensions have aggregates too.
    const isTaken = taken.has(lower) || (kind === 'dimension' && aggregates.has(lower));
    if (!isPlain || isTaken) continue;
    taken.add(lower);
    names.set(expr.column, column);
    if (kind === 'dimension') names.set(expr.column.replace('g', 'd'), column);
  }
  if (names.size === 0) return { tables, columns, having, order };
  return renameColumns({ tables, columns, having, order }, names);
}

function hasWindow(columns: Plan['columns']): boolean {
  return columns.some(({ expr }) => JSON.stringify(expr).includes(' OVER ('));
}

/** Puts the expressions of the table in place of its columns. */
function inline<Value>(value: Value, values: ReadonlyMap<string, Expr>): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => inline(item, values)) as Value;
  if ('kind' in value && value.kind === 'output_column' && 'column' in value)
    return (values.get(String(value.column)) ?? value) as Value;
  const entries = Object.entries(value).map(([key, child]: [string, unknown]) => [
    key,
    inline(child, values),
  ]);
  return Object.fromEntries(entries) as Value;
}
