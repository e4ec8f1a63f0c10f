import type { TruncateOptions } from '../../sql/dialect.ts';
import { assumeKey } from '../keys/key-assumption.ts';
import { finer, periodStartType } from '../model/grains.ts';
import { type ModelDataset, requireReadableRows } from '../model/model.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import type {
  Expr,
  ExprPart,
  FromItem,
  JoinClause,
  NamedColumn,
  Select,
} from '../relational/query-tree.ts';
import type { AggregateNode, Conversion } from '../resolve/aggregate-node.ts';
import { requireDataset, resolveQueryField, timeTypeOf } from '../resolve/field-path.ts';
import { type JoinScope, ownFieldExpr, type PlannedJoin, toJoin } from '../resolve/join-scope.ts';
import { filterExpr, rowExpr } from '../resolve/row-expr.ts';

const conversionsAlias = 'ktx conversions';
const baseAlias = 'ktx base';
const toAlias = 'ktx next';
const rankedAlias = 'ktx rows';
/** Of base events without a key: 1 for the row that stands for those of equal fields and time. */
const firstColumn = 'ktx first';

/**
 * The aggregate's input: the value of the event that followed; NULL for a base event that none
 * followed.
 */
export const convertedValue: Expr = columnOf(conversionsAlias, 'v');

const one: Expr = { kind: 'text', parts: ['1'] };

type TimeType = TruncateOptions['type'];

/** Base events belong to the owner; `to` events follow them. */
interface EventSide {
  readonly dataset: ModelDataset;
  readonly aggregate: AggregateNode;
  readonly key: readonly string[];
  readonly time: { readonly name: string; readonly type: TimeType };
  /** The fields that must be equal on both sides. */
  readonly on: readonly string[];
}

/**
 * Joins to each base event the later events that belong to it. Each later event belongs to one base
 * event: the last one before it with equal fields, within the window.
 */
export function joinConversions(scope: JoinScope, conversion: Conversion): readonly JoinClause[] {
  const { owner, model } = scope;
  const toDataset = requireDataset(model, conversion.toAggregate.owner);
  const baseTime = eventTime(scope, owner, conversion.baseAggregate.time);
  const toTime = eventTime(scope, toDataset, conversion.toAggregate.time);
  checkEqualFields(conversion, owner, toDataset);
  const isSameDataset = owner.name === toDataset.name;
  const baseKey = isSameDataset ? requireKey(scope, owner) : keyOf(scope, owner);
  const toKey = isSameDataset ? baseKey : keyOf(scope, toDataset);
  const base: EventSide = {
    dataset: owner,
    aggregate: conversion.baseAggregate,
    key: baseKey,
    time: baseTime,
    on: conversion.on.map((pair) => pair.base),
  };
  const to: EventSide = {
    dataset: toDataset,
    aggregate: conversion.toAggregate,
    key: toKey,
    time: toTime,
    on: conversion.on.map((pair) => pair.to),
  };
  const ranked = rankBaseEvents(scope, conversion, { base, to });
  const isLastBase: Expr = { kind: 'text', parts: [columnOf(rankedAlias, 'r'), ' = 1'] };
  const conversions: Select = {
    kind: 'select',
    columns: [...identityOf(base), 'v'].map((column) => ({
      column,
      expr: columnOf(rankedAlias, column),
    })),
    from: { alias: rankedAlias, relation: { kind: 'select', select: ranked } },
    joins: [],
    where: [isLastBase],
  };
  const isSameBase = baseKey.map((name, index) =>
    isEqual(ownFieldExpr(scope, name), columnOf(conversionsAlias, `k${index + 1}`)),
  );
  const isFirstOfSame = [
    ...base.on.map((name, index) =>
      isEqual(ownFieldExpr(scope, name), columnOf(conversionsAlias, `e${index + 1}`)),
    ),
    isEqual(timeOf(scope, base), columnOf(conversionsAlias, 't')),
    isEqual(columnOf(owner.name, firstColumn), one),
  ];
  scope.notes.add(
    `Each row of ${toDataset.name} belongs to the last row of ${owner.name} before it, and counts where that row is shown`,
  );
  return [
    {
      alias: conversionsAlias,
      relation: { kind: 'select', select: conversions },
      on: allOf(baseKey.length === 0 ? isFirstOfSame : isSameBase),
      kind: 'left',
    },
  ];
}

/**
 * Every pair of a base event and a later event that may belong to it, ranked per later event: the
 * last base event is 1.
 */
function rankBaseEvents(
  scope: JoinScope,
  conversion: Conversion,
  { base, to }: { readonly base: EventSide; readonly to: EventSide },
): Select {
  const baseEvents = selectEvents(scope, base, undefined);
  const toEvents = selectEvents(scope, to, to.aggregate);
  const isSameField = to.on.map((_, index) =>
    isEqual(columnOf(baseAlias, `e${index + 1}`), columnOf(toAlias, `e${index + 1}`)),
  );
  const isOtherEvent = base.dataset.name === to.dataset.name ? [isOtherRow(base.key)] : [];
  const rank: Expr = {
    kind: 'rank',
    partition: (to.key.length === 0 ? ['n'] : keyNames(to.key)).map((column) =>
      columnOf(toAlias, column),
    ),
    order: ['t', ...keyNames(base.key)].map((column) => columnOf(baseAlias, column)),
    isDescending: true,
  };
  return {
    kind: 'select',
    columns: [
      ...identityOf(base).map((column) => ({ column, expr: columnOf(baseAlias, column) })),
      { column: 'v', expr: columnOf(toAlias, 'v') },
      { column: 'r', expr: rank },
    ],
    from: { alias: baseAlias, relation: { kind: 'select', select: baseEvents } },
    joins: [
      {
        alias: toAlias,
        relation: { kind: 'select', select: toEvents },
        on: allOf([
          ...isSameField,
          ...timeConditions(conversion, base.time.type, to.time.type),
          ...isOtherEvent,
        ]),
        kind: 'inner',
      },
    ],
    where: [],
  };
}

/**
 * The rows that the aggregate counts: key `k1`…, equal fields `e1`…, time `t`, and the value `v` if
 * asked for.
 */
function selectEvents(
  { query, notes, keys, compared, rowMetricValues, groupValues, model }: JoinScope,
  { dataset, aggregate, key, time, on }: EventSide,
  value: AggregateNode | undefined,
): Select {
  const joins = new Map<string, PlannedJoin>();
  const scope: JoinScope = {
    model,
    owner: dataset,
    query,
    notes,
    keys,
    compared,
    rowMetricValues,
    groupValues,
    reach: 'many',
    joins,
    existsJoins: undefined,
    shift: [],
    usedFields: new Set(),
  };
  const isNumbered = key.length === 0 && value !== undefined;
  const order = [ownFieldExpr(scope, time.name)];
  const columns: readonly NamedColumn<Expr>[] = [
    ...(isNumbered
      ? [{ column: 'n', expr: { kind: 'row_number', partition: [], order } as const }]
      : []),
    ...key.map((name, index) => ({ column: `k${index + 1}`, expr: ownFieldExpr(scope, name) })),
    ...on.map((name, index) => ({ column: `e${index + 1}`, expr: ownFieldExpr(scope, name) })),
    { column: 't', expr: timeOf(scope, { time }) },
    ...(value === undefined ? [] : [{ column: 'v', expr: eventValue(scope, value) }]),
  ];
  const where = aggregate.where.map((filter) => filterExpr(scope, filter));
  const from = { alias: dataset.name, relation: requireReadableRows(dataset) };
  // Without a key, base events of one time are one: `firstOfSame` says which row it is.
  const distinct = key.length === 0 && value === undefined;
  return { kind: 'select', distinct, columns, from, joins: [...joins.values()].map(toJoin), where };
}

/** The rows of base events without a key, numbered among those with equal fields and times. */
export function numberBaseEvents(
  scope: JoinScope,
  conversion: Conversion | undefined,
  from: FromItem,
): FromItem {
  const { owner } = scope;
  if (conversion === undefined || owner.primaryKey !== undefined) return from;
  const time = eventTime(scope, owner, conversion.baseAggregate.time);
  const joins = new Map<string, PlannedJoin>();
  const inner: JoinScope = { ...scope, joins, usedFields: new Set() };
  const filters = conversion.baseAggregate.where.map((filter) => filterExpr(inner, filter));
  if (joins.size > 0)
    throw notSupportedError(
      `a conversion of ${owner.name} without a key, with a filter on other datasets`,
      `Declare primary_key in ${owner.file}`,
    );
  const fields = [...owner.fields.values()].filter(({ rowMetric }) => rowMetric === undefined);
  const number: Expr = {
    kind: 'row_number',
    partition: [
      ...conversion.on.map((pair) => ownFieldExpr(scope, pair.base)),
      timeOf(scope, { time }),
      ...(filters.length === 0
        ? []
        : [{ kind: 'conditional', where: filters, value: one } as const]),
    ],
    order: fields.map(({ name }) => ownFieldExpr(scope, name)),
  };
  const first: Expr =
    filters.length === 0 ? number : { kind: 'conditional', where: filters, value: number };
  const select: Select = {
    kind: 'select',
    hasAllColumns: true,
    columns: [{ column: firstColumn, expr: first }],
    from,
    joins: [],
    where: [],
  };
  return { alias: from.alias, relation: { kind: 'select', select } };
}

function timeOf(scope: JoinScope, { time }: Pick<EventSide, 'time'>): Expr {
  return { kind: 'time', of: ownFieldExpr(scope, time.name) };
}

/** The columns that tell base events apart. */
function identityOf({ key, on }: EventSide): readonly string[] {
  return key.length > 0 ? keyNames(key) : [...on.map((_, index) => `e${index + 1}`), 't'];
}

function eventValue(scope: JoinScope, { of }: AggregateNode): Expr {
  if (of === undefined) return { kind: 'text', parts: ['1'] };
  return rowExpr({ ...scope, reach: 'one' }, of);
}

/**
 * The later event is at or after the base event, and less than the window after it. As in dbt, the
 * window is subtracted from the time of the later event. A date and a datetime are compared by day.
 */
function timeConditions(
  { window }: Conversion,
  baseType: TimeType,
  toType: TimeType,
): readonly Expr[] {
  const baseTime = columnOf(baseAlias, 't');
  const toTime = columnOf(toAlias, 't');
  const truncate = (of: Expr, type: TimeType, grain: 'day' | 'second'): Expr => ({
    kind: 'truncate',
    grain,
    of,
    options: { type, weekStart: 'monday' },
  });
  const isSameType = baseType === toType;
  const [baseInstant, toInstant] = isSameType
    ? [baseTime, toTime]
    : [truncate(baseTime, baseType, 'day'), truncate(toTime, toType, 'day')];
  const isAfter: Expr = { kind: 'text', parts: [baseInstant, ' <= ', toInstant] };
  if (window === undefined) return [isAfter];
  const grain = isSameType && baseType !== 'date' ? 'second' : 'day';
  const windowStart: Expr = {
    kind: 'add',
    of: truncate(toTime, toType, grain),
    period: { ...window.period, count: -window.period.count },
    type: periodStartType(finer(window.grain, grain)),
  };
  const isInWindow: Expr = {
    kind: 'text',
    parts: [truncate(baseTime, baseType, grain), ' > ', windowStart],
  };
  return [isAfter, isInWindow];
}

/** Within one dataset, an event does not follow itself. */
function isOtherRow(key: readonly string[]): Expr {
  const isSameRow = keyNames(key).map((column) =>
    isEqual(columnOf(baseAlias, column), columnOf(toAlias, column)),
  );
  return { kind: 'text', parts: ['NOT ', allOf(isSameRow)] };
}

function eventTime(
  scope: JoinScope,
  dataset: ModelDataset,
  time: string | undefined,
): EventSide['time'] {
  const start = { model: scope.model, owner: dataset, reach: 'one', time } as const;
  const field = resolveQueryField(start, ['metric_time']);
  const type = timeTypeOf(field);
  if (type !== undefined) return { name: field.name, type };
  throw queryError(
    'conversion',
    `A conversion compares times, but ${dataset.name}.${field.name} is not a time`,
    `Give it type: date, datetime or datetime_tz in ${dataset.file}.`,
  );
}

function checkEqualFields({ on }: Conversion, base: ModelDataset, to: ModelDataset): void {
  for (const pair of on) {
    if (!base.fields.has(pair.base)) throw missingEqualField(pair, base.name, pair.base);
    if (!to.fields.has(pair.to)) throw missingEqualField(pair, to.name, pair.to);
  }
  if (on.length > 0) return;
  throw queryError(
    'conversion',
    'The conversion has no on:, so it does not say which events belong together',
    'Add on:, for example {customer_id: customer_id}.',
  );
}

function missingEqualField(
  { base, to }: Conversion['on'][number],
  dataset: string,
  field: string,
): Error {
  return queryError(
    'conversion',
    `The conversion is on ${base} and ${to}, but ${dataset} has no field ${field}`,
    'Write on: {field_of_base: field_of_to}.',
  );
}

function requireKey(
  { keys }: JoinScope,
  { name, file, primaryKey }: ModelDataset,
): readonly string[] {
  if (primaryKey !== undefined) {
    assumeKey(keys, { dataset: name, columns: primaryKey, range: undefined, use: 'count' });
    return primaryKey;
  }
  throw queryError(
    'no_key',
    `${name} has no key to count each conversion once`,
    `Declare primary_key in ${file}.`,
  );
}

/** Empty if the dataset declares no key. */
function keyOf(scope: JoinScope, dataset: ModelDataset): readonly string[] {
  return dataset.primaryKey === undefined ? [] : requireKey(scope, dataset);
}

/** `k1`, `k2`…: one column per field of the key. */
function keyNames(key: readonly string[]): readonly string[] {
  return key.map((_, index) => `k${index + 1}`);
}

function columnOf(alias: string, name: string): Expr {
  return { kind: 'column', alias, name };
}

function isEqual(left: Expr, right: Expr): Expr {
  return { kind: 'text', parts: [left, ' = ', right] };
}

function allOf(conditions: readonly Expr[]): Expr {
  const parts = conditions.flatMap((condition, index): readonly ExprPart[] =>
    index === 0 ? [condition] : [' AND ', condition],
  );
  return { kind: 'text', parts };
}
