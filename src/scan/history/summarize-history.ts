import { tableKey, type TableRef } from '../../sql/dialect.ts';
import type { TableSchema } from '../../warehouse/warehouse.ts';
import type { AggregateUse, UsedColumn, ConditionOperator, FilterUse } from './statement-use.ts';
import type { ReadStatement } from './read-statements.ts';

/** How much one table is used, and how. Numbers are exact: who writes them to git rounds them. */
interface TableUse {
  readonly table: TableRef;
  readonly runs: number;
  /** The most people that one statement over it had; undefined if the log does not tell. */
  readonly users: number | undefined;
  readonly columns: readonly { readonly column: string; readonly runs: number }[];
  /** Conditions that its queries have, the most frequent first. */
  readonly filters: readonly CommonFilter[];
  /** The time that its queries group by or take a range of; undefined if they do not agree. */
  readonly defaultTime: string | undefined;
}

interface CommonFilter {
  readonly column: string;
  readonly operator: ConditionOperator;
  /** Of the runs that aggregate the table, 0..1. */
  readonly share: number;
}

/** A metric that people type again and again. */
export interface MetricUse extends Omit<AggregateUse, 'table'> {
  readonly table: TableRef;
  /** Conditions that are part of it, because all its statements have them as they are. */
  readonly conditions: readonly Pick<FilterUse, 'column' | 'declared'>[];
  readonly runs: number;
  readonly users: number | undefined;
  /** The number of different statements that compute it. */
  readonly templates: number;
}

export interface HistorySummary {
  /** Sorted by name. */
  readonly tables: readonly TableUse[];
  readonly metrics: readonly MetricUse[];
}

/** Fewer runs are chance. */
const leastRuns = 20;
/** Fewer people are a habit, where the log tells who they are. */
const leastUsers = 3;
/** One statement alone is a dashboard. */
const leastTemplates = 2;
const commonShare = 0.5;
const defaultTimeShare = 0.7;

/** Adds up what the statements ask of each table. Pure. */
export function summarizeHistory(statements: readonly ReadStatement[]): HistorySummary {
  const byTable = new Map<TableSchema, TableCounts>();
  const metrics = new Map<string, MetricCounts>();
  for (const statement of statements) {
    const { runs, users } = statement;
    const uses = statement.selects.flatMap(({ columns }) => columns);
    for (const table of new Set(statement.selects.flatMap(({ tables }) => tables))) {
      const counts = countsOf(byTable, table);
      counts.runs += runs;
      counts.users = greatest(counts.users, users);
      const own = uses.filter((use) => use.table === table).map(({ column }) => column);
      for (const column of new Set(own)) addTo(counts.columns, column, runs);
    }
    for (const select of statement.selects) {
      countTimes(select.times, runs, byTable);
      countFilters(select, runs, byTable);
      countMetrics(select, statement, metrics);
    }
  }
  return {
    tables: [...byTable].map(tableUse).sort(byTableKey),
    metrics: [...metrics.values()].filter(isFrequent).map(metricUse),
  };
}

interface TableCounts {
  runs: number;
  users: number | undefined;
  readonly columns: Map<string, number>;
  readonly times: Map<string, number>;
  /** Runs of selects that aggregate the table. */
  aggregated: number;
  /** By operator and column. */
  readonly filters: Map<string, number>;
}

interface MetricCounts {
  readonly aggregate: AggregateUse;
  readonly conditions: MetricUse['conditions'];
  runs: number;
  users: number | undefined;
  readonly templates: Set<string>;
}

function countsOf(byTable: Map<TableSchema, TableCounts>, table: TableSchema): TableCounts {
  const known = byTable.get(table);
  if (known !== undefined) return known;
  const counts: TableCounts = {
    runs: 0,
    users: undefined,
    columns: new Map(),
    times: new Map(),
    aggregated: 0,
    filters: new Map(),
  };
  byTable.set(table, counts);
  return counts;
}

function addTo(counts: Map<string, number>, key: string, runs: number): void {
  counts.set(key, (counts.get(key) ?? 0) + runs);
}

function greatest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

/** One time of a table: a query that uses two of them does not say which one is meant. */
function countTimes(
  times: readonly UsedColumn[],
  runs: number,
  byTable: Map<TableSchema, TableCounts>,
): void {
  for (const [table, own] of Map.groupBy(times, (use) => use.table)) {
    const { times: counts } = countsOf(byTable, table);
    for (const { column } of own) addTo(counts, column, runs / own.length);
  }
}

function countFilters(
  { aggregates, filters }: ReadStatement['selects'][number],
  runs: number,
  byTable: Map<TableSchema, TableCounts>,
): void {
  for (const table of new Set(aggregates.map((aggregate) => aggregate.table))) {
    const counts = countsOf(byTable, table);
    counts.aggregated += runs;
    const own = filters.filter((filter) => filter.table === table);
    const keys = new Set(own.map(({ operator, column }) => `${operator} ${column}`));
    for (const key of keys) addTo(counts.filters, key, runs);
  }
}

function countMetrics(
  { aggregates, filters }: ReadStatement['selects'][number],
  { runs, users, id }: ReadStatement,
  metrics: Map<string, MetricCounts>,
): void {
  // What one person runs alone is no metric of the company.
  if (users !== undefined && users < 2) return;
  const seen = new Set<string>();
  for (const aggregate of aggregates) {
    const conditions = filters
      .filter(({ table, declared }) => table === aggregate.table && declared !== undefined)
      .map(({ column, declared }) => ({ column, declared }))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    // Every dataset has the count of its rows.
    if (aggregate.terms.length === 0 && conditions.length === 0) continue;
    const { function: name, terms } = aggregate;
    const key = JSON.stringify([tableKey(aggregate.table), name, terms, conditions]);
    if (seen.has(key)) continue;
    seen.add(key);
    const counts = metrics.get(key) ?? {
      aggregate,
      conditions,
      runs: 0,
      users: undefined,
      templates: new Set(),
    };
    metrics.set(key, counts);
    counts.runs += runs;
    counts.users = greatest(counts.users, users);
    counts.templates.add(id);
  }
}

function isFrequent({ runs, users, templates }: MetricCounts): boolean {
  const isShared = users === undefined || users >= leastUsers;
  return isShared && runs >= leastRuns && templates.size >= leastTemplates;
}

function metricUse({ aggregate, conditions, runs, users, templates }: MetricCounts): MetricUse {
  const { table, ...definition } = aggregate;
  return { ...definition, table: refOf(table), conditions, runs, users, templates: templates.size };
}

function tableUse([table, counts]: readonly [TableSchema, TableCounts]): TableUse {
  const { runs, users, columns, aggregated, filters } = counts;
  const common = [...filters].flatMap(([key, count]): CommonFilter[] => {
    const share = count / aggregated;
    if (aggregated < leastRuns || share < commonShare) return [];
    const [operator = '', ...column] = key.split(' ');
    return [{ column: column.join(' '), operator: operator as ConditionOperator, share }];
  });
  return {
    table: refOf(table),
    runs,
    users,
    columns: [...columns]
      .map(([column, count]) => ({ column, runs: count }))
      .sort((a, b) => (a.column < b.column ? -1 : 1)),
    filters: common.sort((a, b) => b.share - a.share || (a.column < b.column ? -1 : 1)),
    defaultTime: defaultTimeOf(counts),
  };
}

function defaultTimeOf({ times }: TableCounts): string | undefined {
  const total = [...times.values()].reduce((sum, count) => sum + count, 0);
  const [first] = [...times].sort(([, a], [, b]) => b - a);
  const isClear = first !== undefined && total >= leastRuns && first[1] / total >= defaultTimeShare;
  return isClear ? first[0] : undefined;
}

function refOf({ catalog, schema, table }: TableRef): TableRef {
  return { ...(catalog !== undefined && { catalog }), schema, table };
}

function byTableKey(a: TableUse, b: TableUse): number {
  return tableKey(a.table) < tableKey(b.table) ? -1 : 1;
}
