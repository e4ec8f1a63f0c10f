import type { Dialect } from '../../sql/dialect.ts';
import {
  type CommonTable,
  type Expr,
  isBoolean,
  type JoinClause,
  type NamedColumn,
  type Query,
  type Select,
} from '../relational/query-tree.ts';
import { type FilledPeriods, fromCommon } from './calendar.ts';
import { isCount } from '../resolve/aggregate-node.ts';
import type { DimensionMembers } from './dimension-members.ts';
import type { FactQuery } from './fact-query.ts';

// The names contain a space, so that they are unlikely to hide a table of the warehouse.
const factsTable = 'ktx facts';
const unionAlias = 'ktx all';

/**
 * Merges the fact queries into one row for each group that any of them has, or that members or
 * filled periods add. Totals are joined to the groups that they belong to. The last table is the
 * result.
 */
export function mergeFactQueries(
  factQueries: readonly FactQuery[],
  filledPeriods: FilledPeriods | undefined,
  dialect: Dialect,
): readonly CommonTable[] {
  const totals = factQueries.filter(({ totalBy }) => totalBy !== undefined);
  const groups = groupTables(
    factQueries.filter(({ totalBy }) => totalBy === undefined),
    filledPeriods,
  );
  return totals.length === 0 ? groups : [...groups, ...totalTables(groups.at(-1), totals, dialect)];
}

/**
 * A union of the facts and of the rows to add, grouped by all dimensions. A single fact needs no
 * union.
 */
function groupTables(
  factQueries: readonly FactQuery[],
  filledPeriods: FilledPeriods | undefined,
): readonly CommonTable[] {
  const facts = factQueries.map(({ select }, index) => ({
    name: factQueries.length === 1 ? factsTable : `${factsTable} ${index + 1}`,
    query: select,
  }));
  const dimensions = (factQueries[0]?.dimensions ?? []).map((_, index) => `d${index + 1}`);
  const addedRows = [
    ...memberCombinations(factQueries, facts),
    ...(filledPeriods === undefined ? [] : [periodRows(filledPeriods, dimensions, facts)]),
  ];
  if (facts.length === 1 && addedRows.length === 0) return facts;
  const aggregates = factQueries.flatMap((factQuery, index) =>
    factQuery.aggregates.map((aggregate) => ({
      column: aggregate.column,
      isCount: isCount(aggregate),
      isBoolean: hasBooleans(factQuery.select, aggregate.column),
      table: facts[index]?.name ?? '',
    })),
  );
  const parts = [...facts.map(({ name }) => [{ name, columns: dimensions }]), ...addedRows].map(
    (tables) => unionPart(tables, { dimensions, aggregates }),
  );
  const merged: Select = {
    kind: 'select',
    columns: [
      ...dimensions.map((column) => ({ column, expr: columnOf(unionAlias, column) })),
      ...aggregates.map((aggregate) => ({
        column: aggregate.column,
        expr: mergedValue(aggregate),
      })),
    ],
    from: {
      alias: unionAlias,
      relation: { kind: 'select', select: { kind: 'union', all: true, parts } },
    },
    joins: [],
    where: [],
    groups: dimensions.length,
  };
  const memberTables = new Map(
    addedRows.flat().flatMap((table) => ('query' in table ? [[table.name, table]] : [])),
  );
  return [...facts, ...memberTables.values(), { name: 'ktx result', query: merged }];
}

/** A table that has values for some of the dimensions. */
interface DimensionTable {
  readonly name: string;
  readonly columns: readonly string[];
}

type MemberTable = DimensionTable & CommonTable;

interface AggregateColumn {
  readonly column: string;
  readonly isCount: boolean;
  readonly isBoolean: boolean;
  /** The table of its fact query. */
  readonly table: string;
}

/**
 * One part of the union: the cross join of the tables, with all columns. Aggregates of other facts
 * are NULL.
 */
function unionPart(
  tables: readonly DimensionTable[],
  {
    dimensions,
    aggregates,
  }: { dimensions: readonly string[]; aggregates: readonly AggregateColumn[] },
): Select {
  const [first, ...others] = tables.map(({ name }) => fromCommon(name));
  const tableWith = (column: string) =>
    tables.find(({ columns }) => columns.includes(column))?.name ?? '';
  const values = aggregates.map(({ column, table }): NamedColumn<Expr> => {
    const isOwn = first?.alias === table;
    return {
      column,
      expr: isOwn ? columnOf(table, column) : { kind: 'typed_null', table, column },
    };
  });
  return {
    kind: 'select',
    columns: [
      ...dimensions.map((column) => ({ column, expr: columnOf(tableWith(column), column) })),
      ...values,
    ],
    from: first ?? fromCommon(factsTable),
    joins: others.map((other): JoinClause => ({
      ...other,
      kind: 'cross',
      on: { kind: 'text', parts: [] },
    })),
    where: [],
  };
}

/** Each fact has at most one row per group, so max() takes its value. */
function mergedValue(aggregate: AggregateColumn): Expr {
  const { column, isCount: isCountColumn } = aggregate;
  const of = columnOf(unionAlias, column);
  if (aggregate.isBoolean) {
    const boolean: Expr = { kind: 'boolean', of, isCondition: false };
    return { kind: 'aggregate', function: 'max', of: boolean, fraction: undefined };
  }
  const value: Expr = { kind: 'call', parts: ['max(', of, ')'] };
  return isCountColumn ? zeroForNull(value) : value;
}

/** True if the column is the smallest or greatest of booleans. */
function hasBooleans({ columns }: Select, column: string): boolean {
  const expr = columns.find((candidate) => candidate.column === column)?.expr;
  return (
    expr?.kind === 'aggregate' &&
    (expr.function === 'min' || expr.function === 'max') &&
    expr.of !== undefined &&
    isBoolean(expr.of)
  );
}

/** Joins to each group the totals that it belongs to. */
function totalTables(
  groups: CommonTable | undefined,
  totals: readonly FactQuery[],
  dialect: Dialect,
): readonly CommonTable[] {
  const groupsName = groups?.name ?? factsTable;
  const groupColumns = groups?.query.kind === 'select' ? groups.query.columns : [];
  const tables = totals.map(({ select }, index) => ({
    name: `ktx totals ${index + 1}`,
    query: select,
  }));
  const joins = totals.map(({ totalBy = [] }, index): JoinClause => {
    const total = fromCommon(tables[index]?.name ?? '');
    const isSame = totalBy.map((position) => {
      const column = `d${position + 1}`;
      return isSameOrBothNull(columnOf(groupsName, column), columnOf(total.alias, column), dialect);
    });
    const parts = isSame.flatMap((condition, position) =>
      position === 0 ? [condition] : [' AND ', condition],
    );
    const on: Expr = { kind: 'text', parts: parts.length === 0 ? ['1 = 1'] : parts };
    return { ...total, on, kind: 'left' };
  });
  const totalColumns = totals.flatMap(({ aggregates }, index) =>
    aggregates.map((aggregate) => {
      const value = columnOf(tables[index]?.name ?? '', aggregate.column);
      return { column: aggregate.column, expr: isCount(aggregate) ? zeroForNull(value) : value };
    }),
  );
  const columns = [
    ...groupColumns.map(({ column }) => ({ column, expr: columnOf(groupsName, column) })),
    ...totalColumns,
  ];
  const query: Select = {
    kind: 'select',
    columns,
    from: fromCommon(groupsName),
    joins,
    where: [],
  };
  return [...tables, { name: 'ktx groups', query }];
}

/**
 * Every filled period, combined with the values of the other dimensions that occur in the result.
 */
function periodRows(
  { column, table, coarser }: FilledPeriods,
  dimensions: readonly string[],
  facts: readonly CommonTable[],
): readonly (DimensionTable | MemberTable)[] {
  const columns = [{ column, expr: columnOf(table, column) }, ...coarser];
  const names = columns.map((period) => period.column);
  const query: Select = { kind: 'select', columns, from: fromCommon(table), joins: [], where: [] };
  const periods =
    coarser.length === 0
      ? { name: table, columns: names }
      : { name: 'ktx all periods', query, columns: names };
  const others = dimensions.filter((dimension) => !names.includes(dimension));
  if (others.length === 0) return [periods];
  return [periods, { name: 'ktx others', columns: others, query: factValues(others, facts) }];
}

/**
 * For each fact query, the tables with its members; their rows are combined. Equal combinations
 * occur once.
 */
function memberCombinations(
  factQueries: readonly FactQuery[],
  facts: readonly CommonTable[],
): readonly (readonly MemberTable[])[] {
  const byContent = new Map<string, MemberTable>();
  const combinations = factQueries.map(({ members }) =>
    members.map((memberSet) => {
      const { columns, query, key } = memberQuery(memberSet, facts);
      const name = `ktx members ${byContent.size + 1}`;
      const table = byContent.get(key) ?? { name, query, columns };
      byContent.set(key, table);
      return table;
    }),
  );
  const keys = combinations.map((tables) => tables.map(({ name }) => name).join());
  return combinations.filter(
    (tables, index) => tables.length > 0 && keys.indexOf(keys[index] ?? '') === index,
  );
}

/** `key` is equal for queries that differ only in the alias of their root. */
function memberQuery(
  members: DimensionMembers,
  facts: readonly CommonTable[],
): { query: Query; columns: readonly string[]; key: string } {
  if (members.kind === 'fact')
    return {
      query: factValues(members.columns, facts),
      columns: members.columns,
      key: members.columns.join(),
    };
  const { columns, from } = members.select;
  // The aliases of joins begin with that of the root.
  const aliasStart = JSON.stringify(from.alias).slice(0, -1);
  const key = JSON.stringify(members.select).replaceAll(aliasStart, '"@');
  return { query: members.select, columns: columns.map(({ column }) => column), key };
}

/** The combinations of values that occur in any fact. */
function factValues(columnNames: readonly string[], facts: readonly CommonTable[]): Query {
  const parts = facts.map(({ name }): Select => {
    const columns = columnNames.map((column) => ({ column, expr: columnOf(name, column) }));
    return {
      kind: 'select',
      distinct: true,
      columns,
      from: fromCommon(name),
      joins: [],
      where: [],
    };
  });
  return { kind: 'union', all: false, parts };
}

function isSameOrBothNull(left: Expr, right: Expr, { sameOrBothNull }: Dialect): Expr {
  if (sameOrBothNull !== undefined)
    return { kind: 'text', parts: [left, ` ${sameOrBothNull} `, right] };
  return {
    kind: 'text',
    parts: [left, ' = ', right, ' OR (', left, ' IS NULL AND ', right, ' IS NULL)'],
  };
}

function zeroForNull(value: Expr): Expr {
  return { kind: 'call', parts: ['COALESCE(', value, ', 0)'] };
}

function columnOf(alias: string, name: string): Expr {
  return { kind: 'column', alias, name };
}
