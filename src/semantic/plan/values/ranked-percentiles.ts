import type { Dialect } from '../../../sql/dialect.ts';
import { isRanked } from '../../../sql/percentiles.ts';
import {
  type AggregateExpr,
  type Expr,
  isBoolean,
  type NamedColumn,
  type Select,
  wholeFrame,
} from '../../relational/query-tree.ts';

const alias = 'ktx ranked';

/**
 * The same groups for an engine without percentiles of groups: a subquery numbers the values of
 * each group by their order, NULLs last, and the group takes those in the middle. Returns a select
 * without such percentiles unchanged. The columns behind the dimensions must be aggregates.
 */
export function rankPercentiles(select: Select, dialect: Dialect): Select {
  const count = select.groups ?? 0;
  const dimensions = select.columns.slice(0, count).flatMap(plainColumn);
  const aggregates = select.columns.slice(count).flatMap(aggregateColumn);
  if (!aggregates.some(({ expr }) => isRanked(expr, dialect))) return select;
  const values = aggregates.flatMap(({ expr: { of } }, index) =>
    of === undefined ? [] : [{ column: `v${index + 1}`, expr: of }],
  );
  const ranks = aggregates.flatMap(({ expr }, index) =>
    expr.of === undefined || !isRanked(expr, dialect)
      ? []
      : rankColumns(expr.of, { index, partition: dimensions.map((dimension) => dimension.expr) }),
  );
  const { groups: _, ...rows } = select;
  const inner: Select = { ...rows, columns: [...dimensions, ...values, ...ranks] };
  return {
    kind: 'select',
    columns: [
      ...dimensions.map(({ column }) => ({ column, expr: ofRanked(column) })),
      ...aggregates.map(({ column, expr }, index) => ({
        column,
        expr: ofRanks(expr, { index, dialect }),
      })),
    ],
    from: { alias, relation: { kind: 'select', select: inner } },
    joins: [],
    where: [],
    groups: count,
  };
}

function plainColumn({ column, expr }: Select['columns'][number]): readonly NamedColumn<Expr>[] {
  return expr.kind === 'aggregate' ? [] : [{ column, expr }];
}

function aggregateColumn({
  column,
  expr,
}: Select['columns'][number]): readonly NamedColumn<AggregateExpr>[] {
  return expr.kind === 'aggregate' ? [{ column, expr }] : [];
}

function ofRanked(name: string): Expr {
  return { kind: 'column', alias, name };
}

/** The number of a value in its group, from 1, and how many values the group has. */
function rankColumns(
  value: Expr,
  { index, partition }: { readonly index: number; readonly partition: readonly Expr[] },
): readonly NamedColumn<Expr>[] {
  const order: Expr = { kind: 'ordering', of: value, dir: 'asc' };
  const by = partition.flatMap((expr, position) => (position === 0 ? [expr] : [', ', expr]));
  const within = by.length === 0 ? [] : ['PARTITION BY ', ...by, ' '];
  // The order makes both one window, which the engine sorts once.
  const over = [' OVER (', ...within, 'ORDER BY ', order, wholeFrame, ')'];
  return [
    { column: `r${index + 1}`, expr: { kind: 'row_number', partition, order: [order] } },
    { column: `n${index + 1}`, expr: { kind: 'call', parts: ['count(', value, ')', ...over] } },
  ];
}

/** The aggregate over the numbered rows. */
function ofRanks(
  aggregate: AggregateExpr,
  { index, dialect }: { readonly index: number; readonly dialect: Dialect },
): AggregateExpr {
  const { function: name, of, fraction = 0.5 } = aggregate;
  if (of === undefined) return aggregate;
  const [value, rank, count] = ['v', 'r', 'n'].map((letter) =>
    ofRanked(`${letter}${index + 1}`),
  ) as [Expr, Expr, Expr];
  if (!isRanked(aggregate, dialect))
    return {
      ...aggregate,
      of: isBoolean(of) ? { kind: 'boolean', of: value, isCondition: false } : value,
    };
  const take = (where: Expr): Expr => ({ kind: 'conditional', where: [where], value });
  const text = (...parts: readonly (string | Expr)[]): Expr => ({ kind: 'text', parts });
  if (name === 'percentile_disc') {
    const isReached = text(rank, ` >= ${fraction} * `, count);
    return { kind: 'aggregate', function: 'min', of: take(isReached), fraction: undefined };
  }
  if (fraction === 0.5) {
    const isMiddle = text('2 * ', rank, ' BETWEEN ', count, ' AND ', count, ' + 2');
    return { kind: 'aggregate', function: 'avg', of: take(isMiddle), fraction: undefined };
  }
  // Between the two nearest values, by how near the position is to each.
  const position = text(`(${fraction} * (`, count, ' - 1) + 1)');
  const distance = text('ABS(', position, ' - ', rank, ')');
  const share = text('CASE WHEN ', distance, ' < 1 THEN (1 - ', distance, ') * ', value, ' END');
  return { kind: 'aggregate', function: 'sum', of: share, fraction: undefined };
}
