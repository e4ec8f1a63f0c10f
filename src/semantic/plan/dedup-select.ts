import type { AggregateExpr, Expr, NamedColumn, Select } from '../relational/query-tree.ts';
import type { Balance } from '../model/model.ts';
import type { AggregateNode } from '../resolve/aggregate-node.ts';

/** A leaf with what it aggregates; undefined for rows as such. */
export interface Value {
  readonly leaf: AggregateNode;
  readonly expr: Expr | undefined;
}

/** `base` is the rows with their dimensions as columns. */
export function grouped(base: Select, values: readonly Value[]): Select {
  const aggregates = values.map(({ leaf, expr }) => ({
    column: leaf.column,
    expr: aggregateOf(leaf, expr),
  }));
  return { ...base, columns: [...base.columns, ...aggregates], groups: base.columns.length };
}

/** As `grouped`, after the rows have been made: each once a group by its key, whatever its joins repeat. */
export function staged(base: Select, values: readonly Value[], key: readonly Expr[]): Select {
  const keys = key.map((expr, index) => ({ column: `k${index + 1}`, expr }));
  const rows: Select = {
    ...base,
    distinct: keys.length > 0,
    columns: [...base.columns, ...keys, ...argumentsOf(values)],
  };
  return outer(rows, { values, dimensions: base.columns, where: [] });
}

interface Balances {
  readonly take: Balance['take'];
  readonly entity: readonly Expr[];
  readonly time: Expr;
  /** The dimensions that cut the time. */
  readonly periods: readonly Expr[];
  /** Rows for which these do not hold have no value; their groups are kept. */
  readonly where: readonly Expr[];
}

/** Of each entity in each of the periods, the one value that counts. */
export function balanced(
  base: Select,
  values: readonly Value[],
  { entity, time, periods, take, where }: Balances,
): Select {
  const counts: Expr = {
    kind: 'when',
    where: [...where, { kind: 'text', parts: [time, ' IS NOT NULL'] }],
    value: { kind: 'text', parts: ['1'] },
  };
  if (take === 'first' || take === 'last') {
    const rank: Expr = {
      kind: 'rank',
      partition: [counts, ...entity, ...periods],
      order: [time],
      isDescending: take === 'last',
    };
    const columns = [
      ...base.columns,
      ...argumentsOf(values),
      { column: 'o', expr: counts },
      { column: 'r', expr: rank },
    ];
    return outer(
      { ...base, columns },
      { values, dimensions: base.columns, where: [isOne(named('o')), isOne(named('r'))] },
    );
  }
  const keys = entity.map((expr, index) => ({ column: `k${index + 1}`, expr }));
  const taken = argumentsOf(values).map(({ column, expr }): NamedColumn<Expr> => {
    const of: Expr = { kind: 'when', where: [isOne(counts)], value: expr };
    return { column, expr: { kind: 'aggregate', function: take, of, fraction: undefined } };
  });
  const rows: Select = {
    ...base,
    columns: [...base.columns, ...keys, ...taken],
    groups: base.columns.length + keys.length,
  };
  return outer(rows, { values, dimensions: base.columns, where: [] });
}

function isOne(expr: Expr): Expr {
  return { kind: 'text', parts: [expr, ' = 1'] };
}

/** The aggregate of what `inner` has for each value of its last dimension; what belongs to none does not count. */
export function nested(inner: Select, leaf: AggregateNode, dimensions: number): Select {
  const alias = 'ktx';
  const column = (name: string): Expr => ({ kind: 'column', alias, name });
  const given = inner.columns
    .slice(0, dimensions)
    .map((one) => ({ column: one.column, expr: column(one.column) }));
  const from = { alias, relation: { kind: 'select' as const, select: inner } };
  const where: readonly Expr[] = [
    { kind: 'text', parts: [column(`d${dimensions + 1}`), ' IS NOT NULL'] },
  ];
  const of: Expr | undefined = leaf.nested && { kind: 'when', where, value: leaf.nested.of };
  const columns = [...given, { column: leaf.column, expr: aggregateOf(leaf, of) }];
  return { kind: 'select', columns, from, joins: [], where: [], groups: dimensions };
}

const rowsAlias = 'ktx rows';

function named(column: string): Expr {
  return { kind: 'column', alias: rowsAlias, name: column };
}

function argumentsOf(values: readonly Value[]): readonly NamedColumn<Expr>[] {
  return values.flatMap(({ expr }, index) =>
    expr === undefined ? [] : [{ column: `v${index + 1}`, expr }],
  );
}

function outer(
  rows: Select,
  rest: { values: readonly Value[]; dimensions: Select['columns']; where: readonly Expr[] },
): Select {
  const { values, dimensions, where } = rest;
  const columns = [
    ...dimensions.map(({ column }) => ({ column, expr: named(column) })),
    ...values.map(({ leaf, expr }, index) => {
      const value = expr && named(`v${index + 1}`);
      return {
        column: leaf.column,
        expr: aggregateOf(leaf, value && where.length > 0 ? { kind: 'when', where, value } : value),
      };
    }),
  ];
  return {
    kind: 'select',
    columns,
    from: { alias: rowsAlias, relation: { kind: 'select', select: rows } },
    joins: [],
    where: [],
    groups: dimensions.length,
  };
}

function aggregateOf(
  { function: name, fraction }: AggregateNode,
  of: Expr | undefined,
): AggregateExpr {
  return { kind: 'aggregate', function: name, of, fraction };
}
