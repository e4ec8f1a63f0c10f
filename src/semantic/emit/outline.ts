import type { Dialect, Period } from '../../sql/dialect.ts';
import type { SemanticQuery } from '../query/query.ts';
import {
  type Expr,
  type FromItem,
  type JoinClause,
  replaceOutputColumns,
  type Select,
} from '../relational/query-tree.ts';
import { pieceText, type SqlPiece } from '../relational/sql-piece.ts';
import type { AggregateNode, SpineUse } from '../resolve/aggregate-node.ts';
import { formatFieldPath } from '../resolve/field-path.ts';
import { exprSql } from './emit.ts';
import type { FactQuery } from '../plan/fact-query.ts';
import type { Plan } from '../plan/plan.ts';

export type Outline = ReturnType<typeof outlinePlan>;

interface OutlineOptions {
  readonly query: SemanticQuery;
  readonly dialect: Dialect;
}

/** A plan for people and agents to read. Columns have the names of the SQL, dimensions are `d1`… */
export function outlinePlan(plan: Plan, { query, dialect }: OutlineOptions) {
  const describe = (expr: Expr) => describeExpr(expr, dialect);
  const nameOf = (expr: Expr) =>
    plan.columns.find((column) => column.expr === expr || describe(column.expr) === describe(expr))
      ?.name;
  return {
    blocks: plan.factQueries.map((factQuery) => outlineFactQuery(factQuery, dialect)),
    merge: describeMerge(plan.factQueries, query),
    columns: plan.columns.map(({ name, kind, meaning }) => ({ name, kind, is: describe(meaning) })),
    ...(plan.receipt.computed === undefined ? {} : { computed: plan.receipt.computed }),
    having: plan.having.map(describe),
    order: plan.order.map(({ expr, dir }) => `${nameOf(expr) ?? describe(expr)} ${dir}`),
    limit: plan.limit,
  };
}

function outlineFactQuery(factQuery: FactQuery, dialect: Dialect) {
  const { owner, aggregates, select, joins, conditions, dimensions, totalBy } = factQuery;
  const groups = dimensions.map((dimension, index) => ({
    column: `d${index + 1}`,
    is: formatFieldPath(dimension),
  }));
  return {
    rows_of: owner,
    joins: joins.map((join) => ({ path: join.alias, ...outlineJoin(join, dialect) })),
    filters: conditions.map(({ text }) => onOneLine(text)),
    semi_joins: findSemiJoins(select, dialect),
    group_by: groups.filter((_, index) => totalBy === undefined || totalBy.includes(index)),
    values: aggregates.map((aggregate) => ({
      column: aggregate.column,
      is: describeAggregate(aggregate, dialect),
    })),
    /** Rules by which its rows do not simply count once in their own group. */
    rules: [
      ...describeRules(aggregates[0]),
      ...describePeriodFilters(factQuery),
      ...factQuery.fanOutDimensions.map(
        (dimension) => `each row counts once in every ${dimension} that it has`,
      ),
    ],
  };
}

function outlineJoin({ relation, kind, on }: JoinClause, dialect: Dialect) {
  return { to: describeRelation(relation), kind, on: describeExpr(on, dialect) };
}

function describeRelation(relation: FromItem['relation']): string {
  switch (relation.kind) {
    case 'table':
      return relation.parts.join('.');
    case 'guarded': {
      const { select } = relation;
      const read = select.kind === 'select' ? select.from.relation : relation;
      return `${describeRelation(read)} by its row rules`;
    }
    case 'query':
      return 'a query';
    case 'common':
      return relation.name;
    case 'select':
      return 'rows that are computed first';
  }
  return relation satisfies never;
}

interface SemiJoin {
  readonly path: string;
  readonly to: string;
  readonly on: string;
  readonly where: string;
}

/**
 * Every EXISTS in the select, in conditions and in values, each once. Those of row rules are left
 * out.
 */
function findSemiJoins(select: Select, dialect: Dialect): readonly SemiJoin[] {
  const semiJoins = new Map<string, SemiJoin>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('kind' in value && value.kind === 'guarded') return;
    if (isExists(value)) {
      const [first] = value.joins;
      const path = value.joins.map(({ alias }) => alias).join(', ');
      const where = describeExpr(value.where, dialect);
      const on = first && describeExpr(first.on, dialect);
      if (first !== undefined && on !== undefined)
        semiJoins.set(`${path} ${where}`, {
          path,
          to: describeRelation(first.relation),
          on,
          where,
        });
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(select);
  return [...semiJoins.values()];
}

function isExists(value: object): value is Extract<Expr, { kind: 'exists' }> {
  return 'kind' in value && value.kind === 'exists';
}

function describeAggregate(aggregate: AggregateNode, dialect: Dialect): string {
  const { function: name, of, fraction, where, nested, conversion } = aggregate;
  if (conversion !== undefined)
    return `${describeAggregate(conversion.toAggregate, dialect)} of what followed`;
  if (nested !== undefined) {
    const inner = replaceOutputColumns(nested.of, ({ column }) =>
      innerAggregateExpr(nested.aggregates, column, dialect),
    );
    return `${name}(${describeExpr(inner, dialect)}) for each ${nested.per}`;
  }
  const share = fraction === undefined || name === 'median' ? '' : `, ${fraction}`;
  const argument = of === undefined ? '*' : describePiece(of);
  const conditions = where.map(describePiece).join(' and ');
  return `${name}(${argument}${share})${conditions === '' ? '' : ` where ${conditions}`}`;
}

/** The words of an inner aggregate as an expression; in parentheses if it has conditions. */
function innerAggregateExpr(
  aggregates: readonly AggregateNode[],
  column: string,
  dialect: Dialect,
): Expr {
  const inner = aggregates.find((aggregate) => aggregate.column === column);
  if (inner === undefined) return { kind: 'call', parts: [column] };
  const kind = inner.where.length === 0 ? 'call' : 'text';
  return { kind, parts: [describeAggregate(inner, dialect)] };
}

function describeRules(aggregate: AggregateNode | undefined): readonly string[] {
  if (aggregate === undefined) return [];
  const { owner, shift, running, spine, balance, total, conversion } = aggregate;
  const rules = shift.map(
    (period) => `rows are moved ${describePeriod(period)} forward, to be compared with later ones`,
  );
  if (running !== undefined) rules.push(`a row counts in every period ${describeRunning(running)}`);
  if (spine !== undefined) rules.push(...describeSpine(spine));
  if (balance !== undefined) {
    const entity = balance.per?.join(' and ') || owner;
    rules.push(
      `of each ${entity}, only the ${balance.take} value over ${balance.over} counts in each group`,
    );
  }
  if (total !== undefined)
    rules.push(
      `a total ${total.length === 0 ? 'over all groups' : `for each ${total.join(' and ')}`}`,
    );
  if (conversion !== undefined) rules.push(describeConversion(conversion));
  return rules;
}

function describeSpine({ offsets, running, fills }: SpineUse): readonly string[] {
  const read = offsets.map((offset) =>
    offset.kind === 'to'
      ? `the start of its ${offset.grain}`
      : `${describePeriod(offset.period)} earlier`,
  );
  return [
    ...(read.length === 0 ? [] : [`a period of the time spine reads ${read.join(', then ')}`]),
    ...(running === undefined
      ? []
      : [
          `a row counts in every ${running.grain} of the time spine ${describeRunning(running)}; a longer period shows the ${running.periodAgg}`,
        ]),
    ...(fills ? ['every period of the time spine is shown'] : []),
  ];
}

function describeRunning({ window, since }: NonNullable<AggregateNode['running']>): string {
  if (window !== undefined) return `that ends less than ${describePeriod(window.period)} after it`;
  return since === undefined ? 'from its own on' : `from its own on, within the same ${since}`;
}

function describeConversion({
  baseAggregate,
  toAggregate,
  on,
  window,
}: NonNullable<AggregateNode['conversion']>): string {
  const equal = on
    .map(({ base, to }) => `${baseAggregate.owner}.${base} = ${toAggregate.owner}.${to}`)
    .join(' and ');
  const limit = window === undefined ? '' : `, less than ${describePeriod(window.period)} earlier`;
  return `each row of ${toAggregate.owner} belongs to the last row of ${baseAggregate.owner} before it with ${equal}${limit}`;
}

/** The conditions of a running total that choose the periods to show, and not the rows. */
function describePeriodFilters({ aggregates, filters, conditions }: FactQuery): readonly string[] {
  const [first] = aggregates;
  if (first?.running === undefined && first?.spine === undefined) return [];
  const isOnRows = (text: string) => conditions.some((condition) => condition.text === text);
  return filters
    .filter((text) => !isOnRows(text) && !text.startsWith('segment '))
    .map((text) => `only periods with ${onOneLine(text)} are shown`);
}

function describePeriod({ count, unit }: Period): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function describeMerge(factQueries: readonly FactQuery[], query: SemanticQuery): readonly string[] {
  const facts = factQueries.filter(({ totalBy }) => totalBy === undefined);
  const lines: string[] = [];
  if (facts.length > 1)
    lines.push(
      'one row for each group that any block has; if a block lacks the group, its counts are 0 and its other values NULL',
    );
  if (facts.length < factQueries.length)
    lines.push('each group is joined to the totals that it is part of');
  if (query.include_empty) lines.push('also members of the dimensions that have no rows');
  if (query.fill_time) lines.push('also periods that have no rows');
  return lines;
}

/** SQL on one line, without the outermost parentheses. */
function describeExpr(expr: Expr, dialect: Dialect): string {
  const withColumns = replaceOutputColumns(expr, ({ column }) => ({
    kind: 'call',
    parts: [column],
  }));
  const outermost: Expr =
    withColumns.kind === 'text' ? { ...withColumns, kind: 'call' } : withColumns;
  return onOneLine(exprSql(outermost, dialect));
}

function describePiece(piece: SqlPiece): string {
  return onOneLine(pieceText(piece));
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
