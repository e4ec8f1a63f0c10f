import { metricAddress } from '../../model/model.ts';
import type { CommonTable, Expr } from '../../relational/query-tree.ts';
import { replaceOutputColumns } from '../../relational/query-tree.ts';
import { isCount } from '../../resolve/aggregate-node.ts';
import type { GroupedMetric, GroupValues } from '../../resolve/join-scope.ts';
import { findMetric } from '../../resolve/metric-resolver.ts';
import { unknownMetricError } from '../../resolve/unknown-metric.ts';
import type { PlanContext } from '../plan-context.ts';

/**
 * Plans `metric_by`: a query of its own, whose tables come before those of the whole. No condition
 * of the query around it applies. Without rows a count is 0 and any other metric NULL.
 */
export function planGroupValues(
  { model, subplans, notes, keys, usedMetrics }: PlanContext,
  { metric: parts, home, by }: GroupedMetric,
): GroupValues {
  const found = findMetric(model, parts, home);
  if (found === undefined) throw unknownMetricError({ model, queryMetrics: new Map() }, parts);
  const metric = metricAddress(found);
  const key = JSON.stringify([metric, by]);
  const known = subplans.planned.get(key);
  if (known !== undefined) return known;
  const plan = subplans.plan(metric, by);
  for (const note of plan.receipt.notes) notes.add(note);
  for (const name of plan.used) usedMetrics.add(name);
  for (const assumption of plan.assumes) keys.assumed.set(assumption.name, assumption);
  const prefix = `ktx by ${subplans.planned.size + 1}`;
  const tables = renameTables(plan.tables, (name) => name.replace(/^ktx/, prefix));
  subplans.tables.push(...tables);
  if (plan.isRecursive) subplans.isRecursive = true;
  const counts = new Set(
    plan.factQueries
      .flatMap(({ aggregates }) => aggregates.filter(isCount))
      .map(({ column }) => column),
  );
  const read = (alias: string, column: string): Expr => {
    const value: Expr = { kind: 'column', alias, name: column };
    return counts.has(column) ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
  };
  const expr = plan.columns.at(-1)?.expr ?? { kind: 'text', parts: ['NULL'] };
  notes.add(`${metric} by ${by.join(' and ')} counts all rows, whatever the other conditions`);
  const values: GroupValues = {
    table: tables.at(-1)?.name ?? '',
    value: (alias) => replaceOutputColumns(expr, ({ column }) => read(alias, column)),
  };
  subplans.planned.set(key, values);
  return values;
}

/** The tables under other names, also where they read each other. Aliases stay. */
function renameTables(
  tables: readonly CommonTable[],
  rename: (name: string) => string,
): readonly CommonTable[] {
  const names = new Set(tables.map(({ name }) => name));
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, visit(value)]),
    );
    const kind = 'kind' in node ? node.kind : undefined;
    const nameKey = kind === 'common' ? 'name' : 'table';
    const isReference = kind === 'common' || kind === 'typed_null' || kind === 'greatest';
    const name: unknown = copy[nameKey];
    if (isReference && typeof name === 'string' && names.has(name)) copy[nameKey] = rename(name);
    return copy;
  };
  return tables.map(({ name, query }) => ({
    name: rename(name),
    query: visit(query) as CommonTable['query'],
  }));
}
