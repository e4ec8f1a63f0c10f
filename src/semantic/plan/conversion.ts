import type { TruncateOptions } from '../../sql/dialect.ts';
import { queryError } from '../query/errors.ts';
import type { Expr, ExprPart, NamedColumn, JoinClause, Select } from '../relational/query-tree.ts';
import { type ModelDataset, readableRows } from '../model/model.ts';
import { finer, periodStartType } from '../model/grains.ts';
import { requireDataset, resolveQueryField, timeTypeOf } from '../resolve/field-path.ts';
import type { Conversion, AggregateNode } from '../resolve/aggregate-node.ts';
import { ownFieldExpr, toJoin, type JoinScope, type PlannedJoin } from '../resolve/join-scope.ts';
import { filterExpr, rowExpr } from '../resolve/row-expr.ts';

const [alias, baseAlias, nextAlias, rowsAlias] = [
  'ktx conversions',
  'ktx base',
  'ktx next',
  'ktx rows',
] as const;

/** What the metric of the later events aggregates, NULL for a row of the owner that none followed. */
export const converted: Expr = { kind: 'column', alias, name: 'v' };

type TimeType = TruncateOptions['type'];

/** Rows of the owner beside the later events that belong to them: each to the last row before it that fits. */
export function conversionJoin(scope: JoinScope, conversion: Conversion): readonly JoinClause[] {
  const { owner, model } = scope;
  const target = requireDataset(model, conversion.toAggregate.owner);
  const [keys, targetKeys] = [keyOf(owner), keyOf(target)];
  const times = [timeOf(scope, owner), timeOf(scope, target)] as const;
  const on = pairsOf(conversion, owner, target);
  const base = events(scope, owner, {
    leaf: conversion.baseAggregate,
    time: times[0].name,
    keys,
    fields: on.map((pair) => pair.base),
    value: [],
  });
  const value = valueOf(conversion.toAggregate);
  const next = events(scope, target, {
    leaf: conversion.toAggregate,
    time: times[1].name,
    keys: targetKeys,
    fields: on.map((pair) => pair.to),
    value,
  });
  const conditions = [
    ...on.map((_, index): Expr =>
      same(at(baseAlias, `e${index + 1}`), at(nextAlias, `e${index + 1}`)),
    ),
    ...inTime(conversion, [times[0].type, times[1].type]),
    ...(owner.name === target.name ? [otherThan(keys)] : []),
  ];
  const order = [at(baseAlias, 't'), ...keys.map((_, index) => at(baseAlias, `k${index + 1}`))];
  const partition = targetKeys.map((_, index) => at(nextAlias, `k${index + 1}`));
  const own = keys.map((_, index) => ({
    column: `k${index + 1}`,
    expr: at(baseAlias, `k${index + 1}`),
  }));
  const ranked: Select = {
    kind: 'select',
    columns: [
      ...own,
      { column: 'v', expr: at(nextAlias, 'v') },
      { column: 'r', expr: { kind: 'rank', partition, order, isDescending: true } },
    ],
    from: { alias: baseAlias, relation: { kind: 'select', select: base } },
    joins: [
      {
        alias: nextAlias,
        relation: { kind: 'select', select: next },
        on: all(conditions),
        kind: 'inner',
      },
    ],
    where: [],
  };
  const columns = [...own.map(({ column }) => column), 'v'].map((column) => ({
    column,
    expr: at(rowsAlias, column),
  }));
  const from = { alias: rowsAlias, relation: { kind: 'select', select: ranked } } as const;
  const last: Select = {
    kind: 'select',
    columns,
    from,
    joins: [],
    where: [{ kind: 'text', parts: [at(rowsAlias, 'r'), ' = 1'] }],
  };
  const belongs = keys.map((key, index) =>
    same(ownFieldExpr(scope, key), at(alias, `k${index + 1}`)),
  );
  scope.notes.add(
    `Each row of ${target.name} belongs to the last of ${owner.name} before it, and counts where that one is shown`,
  );
  return [{ alias, relation: { kind: 'select', select: last }, on: all(belongs), kind: 'left' }];
}

interface Events {
  readonly leaf: AggregateNode;
  readonly time: string;
  readonly keys: readonly string[];
  /** What has to be equal. */
  readonly fields: readonly string[];
  readonly value: readonly ((scope: JoinScope) => Expr)[];
}

/** The rows that a metric counts: keys `k1…`, what has to be equal `e1…`, the time `t`, and what is aggregated `v`. */
function events(
  { query, notes, rowMetricValues, model }: JoinScope,
  owner: ModelDataset,
  { leaf, time, keys, fields, value }: Events,
): Select {
  const joins = new Map<string, PlannedJoin>();
  const state = {
    joins,
    existsJoins: undefined,
    shift: [],
    usedFields: new Set<'time' | 'other'>(),
  };
  const scope: JoinScope = {
    model,
    owner,
    query,
    notes,
    rowMetricValues,
    reach: 'many',
    ...state,
  };
  const columns: readonly NamedColumn<Expr>[] = [
    ...keys.map((name, index) => ({ column: `k${index + 1}`, expr: ownFieldExpr(scope, name) })),
    ...fields.map((name, index) => ({ column: `e${index + 1}`, expr: ownFieldExpr(scope, name) })),
    { column: 't', expr: { kind: 'time', of: ownFieldExpr(scope, time) } },
    ...value.map((expr) => ({ column: 'v', expr: expr(scope) })),
  ];
  const where = leaf.where.map((row) => filterExpr(scope, row));
  const from = { alias: owner.name, relation: readableRows(owner) };
  return { kind: 'select', columns, from, joins: [...joins.values()].map(toJoin), where };
}

function valueOf({ of }: AggregateNode): Events['value'] {
  return [
    (scope) =>
      of === undefined ? { kind: 'text', parts: ['1'] } : rowExpr({ ...scope, reach: 'one' }, of),
  ];
}

/** At or after the base, and less than the window later, as dbt has it: the base is after what is a window before. */
function inTime({ window }: Conversion, types: readonly [TimeType, TimeType]): readonly Expr[] {
  const isSame = types[0] === types[1];
  const cut = (of: Expr, type: TimeType, grain: 'day' | 'second'): Expr => ({
    kind: 'truncate',
    grain,
    of,
    options: { type, weekStart: 'monday' },
  });
  const ends = [at(baseAlias, 't'), at(nextAlias, 't')] as const;
  const plain = isSame
    ? ends
    : ([cut(ends[0], types[0], 'day'), cut(ends[1], types[1], 'day')] as const);
  const isAfter: Expr = { kind: 'text', parts: [plain[0], ' <= ', plain[1]] };
  if (window === undefined) return [isAfter];
  const grain = isSame && types[0] !== 'date' ? 'second' : 'day';
  const clock = finer(window.grain, grain);
  const type = periodStartType(clock);
  const since: Expr = {
    kind: 'add',
    of: cut(ends[1], types[1], grain),
    period: { ...window.period, count: -window.period.count },
    type,
  };
  return [isAfter, { kind: 'text', parts: [cut(ends[0], types[0], grain), ' > ', since] }];
}

function otherThan(keys: readonly string[]): Expr {
  const equal = all(
    keys.map((_, index) => same(at(baseAlias, `k${index + 1}`), at(nextAlias, `k${index + 1}`))),
  );
  return { kind: 'text', parts: ['NOT ', equal] };
}

function timeOf(
  scope: JoinScope,
  owner: ModelDataset,
): { readonly name: string; readonly type: TimeType } {
  const place = resolveQueryField({ model: scope.model, owner, reach: 'one' }, ['metric_time']);
  const type = timeTypeOf(place);
  if (type !== undefined) return { name: place.name, type };
  const message = `A conversion needs to know what came first: ${owner.name}.${place.name} is no time`;
  throw queryError(
    'conversion',
    message,
    `Give it type: date, datetime or datetime_tz in ${owner.file}.`,
  );
}

function pairsOf({ on }: Conversion, owner: ModelDataset, target: ModelDataset): Conversion['on'] {
  for (const { base, to } of on) {
    for (const [dataset, name] of [
      [owner, base],
      [target, to],
    ] as const) {
      if (dataset.fields.has(name)) continue;
      throw queryError(
        'conversion',
        `A conversion is on ${base} and ${to}, but ${dataset.name} has no field ${name}`,
        'Write on: {own_field: field_of_the_other}.',
      );
    }
  }
  if (on.length > 0) return on;
  throw queryError(
    'conversion',
    'A conversion does not say whose events belong together',
    'Add on:, like {customer_id: customer_id}.',
  );
}

function keyOf({ name, file, primaryKey }: ModelDataset): readonly string[] {
  if (primaryKey !== undefined) return primaryKey;
  throw queryError(
    'no_key',
    `${name} has no key to count each conversion once`,
    `Declare primary_key in ${file}.`,
  );
}

function at(from: string, name: string): Expr {
  return { kind: 'column', alias: from, name };
}

function same(one: Expr, other: Expr): Expr {
  return { kind: 'text', parts: [one, ' = ', other] };
}

function all(conditions: readonly Expr[]): Expr {
  return {
    kind: 'text',
    parts: conditions.flatMap((one, index): readonly ExprPart[] =>
      index === 0 ? [one] : [' AND ', one],
    ),
  };
}
