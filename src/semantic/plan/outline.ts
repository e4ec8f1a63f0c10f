import type { Dialect, Period } from '../../sql/dialect.ts';
import type { Block } from './fact-query.ts';
import { exprSql } from '../sql/emit-expr.ts';
import {
  type Expr,
  replaceResults,
  type FromItem,
  type JoinClause,
  type Select,
} from '../relational/query-tree.ts';
import type { SqlPiece } from '../relational/sql-piece.ts';
import { formatFieldPath } from '../resolve/field-path.ts';
import type { Plan } from './plan.ts';
import type { SemanticQuery } from '../query/query.ts';
import type { AggregateNode } from '../resolve/aggregate-node.ts';

export type Outline = ReturnType<typeof outlineOf>;

interface Asked {
  readonly query: SemanticQuery;
  readonly dialect: Dialect;
}

/** A plan as a person reads it. Its columns `d1…` and `m1…` are those of the SQL. */
export function outlineOf(plan: Plan, { query, dialect }: Asked) {
  const words = (expr: Expr) => wordsOf(expr, dialect);
  const nameOf = (expr: Expr) =>
    plan.columns.find((column) => column.expr === expr || words(column.expr) === words(expr))?.name;
  return {
    blocks: plan.blocks.map((block) => blockOutline(block, dialect)),
    merge: mergeWords(plan.blocks, query),
    columns: plan.columns.map(({ name, kind, expr }) => ({ name, kind, is: words(expr) })),
    having: plan.having.map(words),
    order: plan.order.map(({ expr, dir }) => `${nameOf(expr) ?? words(expr)} ${dir}`),
    limit: plan.limit,
  };
}

function blockOutline(
  { owner, leaves, select, joins, tests, filters, places, kept, fanned }: Block,
  dialect: Dialect,
) {
  const groups = places.map((place, index) => ({
    column: `d${index + 1}`,
    is: formatFieldPath(place),
  }));
  const shown = filters.filter(
    (text) => leaves[0]?.running !== undefined && !tests.some((test) => test.text === text),
  );
  return {
    rows_of: owner,
    joins: joins.map((join) => ({ path: join.alias, ...joinWords(join, dialect) })),
    filters: tests.map(({ text }) => oneLine(text)),
    semi_joins: semiJoins(select, dialect),
    group_by: groups.filter((_, index) => kept === undefined || kept.includes(index)),
    values: leaves.map((leaf) => ({ column: leaf.column, is: leafWords(leaf, dialect) })),
    /** How its rows count otherwise than each once in its own group. */
    rules: [
      ...ruleWords(leaves[0]),
      ...shown
        .filter((text) => !text.startsWith('segment '))
        .map((text) => `shown are the periods with ${oneLine(text)}`),
      ...fanned.map((dimension) => `each row counts once in every ${dimension} that it has`),
    ],
  };
}

function joinWords({ relation, kind, on }: JoinClause, dialect: Dialect) {
  return { to: relationWords(relation), kind, on: wordsOf(on, dialect) };
}

function relationWords(relation: FromItem['relation']): string {
  switch (relation.kind) {
    case 'table':
      return relation.parts.join('.');
    case 'guarded':
      return `${relationWords(relation.select.kind === 'select' ? relation.select.from.relation : relation)} by its row rules`;
    case 'query':
      return 'a query';
    case 'common':
      return relation.name;
    case 'select':
      return 'rows that are computed first';
  }
  return relation satisfies never;
}

/** Wherever they are asked: by a condition, or for a value alone. */
function semiJoins(select: Select, dialect: Dialect) {
  const found = new Map<string, { path: string; to: string; on: string; where: string }>();
  const visit = (value: unknown): void => {
    if (
      typeof value !== 'object' ||
      value === null ||
      ('kind' in value && value.kind === 'guarded')
    )
      return;
    if (isExists(value)) {
      const [first] = value.joins;
      const path = value.joins.map(({ alias }) => alias).join(', ');
      const where = wordsOf(value.where, dialect);
      if (first !== undefined)
        found.set(`${path} ${where}`, {
          path,
          to: relationWords(first.relation),
          on: wordsOf(first.on, dialect),
          where,
        });
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(select);
  return [...found.values()];
}

function isExists(value: object): value is Extract<Expr, { kind: 'exists' }> {
  return 'kind' in value && value.kind === 'exists';
}

function leafWords(leaf: AggregateNode, dialect: Dialect): string {
  const { function: name, of, fraction, where, nested, conversion } = leaf;
  if (conversion !== undefined)
    return `${leafWords(conversion.toAggregate, dialect)} of what followed`;
  if (nested !== undefined) {
    const inner = replaceResults(nested.of, ({ column }) => {
      const one = nested.aggregates.find((it) => it.column === column);
      const parts = [one === undefined ? column : leafWords(one, dialect)];
      return { kind: one === undefined || one.where.length === 0 ? 'call' : 'text', parts };
    });
    return `${name}(${wordsOf(inner, dialect)}) for each ${nested.per}`;
  }
  const share = fraction === undefined || name === 'median' ? '' : `, ${fraction}`;
  const argument = of === undefined ? '*' : pieceWords(of);
  const conditions = where.map(pieceWords).join(' and ');
  return `${name}(${argument}${share})${conditions === '' ? '' : ` where ${conditions}`}`;
}

function ruleWords(leaf: AggregateNode | undefined): readonly string[] {
  if (leaf === undefined) return [];
  const { owner, shift, running, balance, total, conversion } = leaf;
  return [
    ...shift.map((period) => `moved on by ${periodWords(period)}, so that rows meet later ones`),
    ...(running === undefined ? [] : [`counts in every period ${runningWords(running)}`]),
    ...(balance === undefined
      ? []
      : [
          `of each ${balance.per?.join(' and ') || owner}, the ${balance.take} value over ${balance.over} in each group`,
        ]),
    ...(total === undefined
      ? []
      : [`a total ${total.length === 0 ? 'over all groups' : `for each ${total.join(' and ')}`}`]),
    ...(conversion === undefined ? [] : [conversionWords(conversion)]),
  ];
}

function runningWords({ window, since }: NonNullable<AggregateNode['running']>): string {
  if (window !== undefined) return `that ends less than ${periodWords(window.period)} later`;
  return since === undefined ? 'from its own on' : `from its own on, within its ${since}`;
}

function conversionWords({
  baseAggregate: from,
  toAggregate: next,
  on,
  window,
}: NonNullable<AggregateNode['conversion']>): string {
  const equal = on
    .map(({ base, to }) => `${from.owner}.${base} = ${next.owner}.${to}`)
    .join(' and ');
  const limit = window === undefined ? '' : `, less than ${periodWords(window.period)} earlier`;
  return `each of ${next.owner} belongs to the last of ${from.owner} before it with ${equal}${limit}`;
}

function periodWords({ count, unit }: Period): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

function mergeWords(blocks: readonly Block[], query: SemanticQuery): readonly string[] {
  const facts = blocks.filter(({ kept }) => kept === undefined);
  return [
    ...(facts.length > 1
      ? [
          'a row for each group that any block has; where a block has none, its counts are 0 and the rest is NULL',
        ]
      : []),
    ...(facts.length < blocks.length ? ['beside each group, the totals that it is part of'] : []),
    ...(query.include_empty ? ['also members of the dimensions that have no rows'] : []),
    ...(query.fill_time ? ['also periods that have no rows'] : []),
  ];
}

/** SQL, without the parentheses that only an operand needs, on one line. */
function wordsOf(expr: Expr, dialect: Dialect): string {
  const plain = replaceResults(expr, ({ column }) => ({ kind: 'call', parts: [column] }));
  const inner: Expr = plain.kind === 'text' ? { ...plain, kind: 'call' } : plain;
  return oneLine(exprSql(inner, dialect));
}

function pieceWords({ fragment, span }: SqlPiece): string {
  return oneLine(fragment.text.slice(span.start, span.end));
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
