import type { Period } from '../../sql/dialect.ts';
import {
  withErrorContext,
  rowConditionExpr,
  segmentConditions,
  type AppliedCondition,
} from './row-conditions.ts';
import type { QueryConditions } from '../resolve/conditions.ts';
import { conversionJoin } from './conversion.ts';
import { notSupportedError, queryError } from '../query/errors.ts';
import { type Expr, replaceResults, type Select } from '../relational/query-tree.ts';
import { isToOne } from '../model/join-graph.ts';
import { type Members, membersOf } from './empty-groups.ts';
import {
  type ModelDataset,
  type ModelField,
  readableRows,
  type SemanticModel,
} from '../model/model.ts';
import {
  requireDataset,
  formatFieldPath,
  type ResolvedField,
  resolveQueryField,
} from '../resolve/field-path.ts';
import type { SemanticQuery } from '../query/query.ts';
import {
  factQueryKey,
  type AggregateNode,
  type NestedAggregate,
} from '../resolve/aggregate-node.ts';
import { resolveMetric } from '../resolve/metrics.ts';
import { findMetric, createResolver } from '../resolve/metric-resolver.ts';
import { isAboutPeriods, runningRows } from './running.ts';
import {
  type RowMetricValues,
  toJoin,
  type JoinScope,
  type PlannedJoin,
} from '../resolve/join-scope.ts';
import { isDefaultTime, fieldExpr } from '../resolve/row-expr.ts';
import { nested } from './dedup-select.ts';
import { unknownMetricError } from '../resolve/unknown-metric.ts';
import { balanceOf, grouping } from './aggregate-inputs.ts';

/** The rows of one owner, joined, filtered and grouped, each row once a group. */
export interface Block {
  readonly owner: string;
  readonly leaves: readonly AggregateNode[];
  readonly select: Select;
  readonly places: readonly ResolvedField[];
  readonly joins: readonly PlannedJoin[];
  /** Conditions of the query on its rows; those on the time of a running total are not. */
  readonly tests: readonly AppliedCondition[];
  /** Conditions of the query that it applies, as written. */
  readonly filters: readonly string[];
  /** Dimensions across one to many: its values do not add up over those. */
  readonly fanned: readonly string[];
  readonly members: readonly Members[];
  /** The dimensions that it has, where these are not all of the query. */
  readonly kept?: readonly number[];
}

export interface Asked {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly conditions: QueryConditions;
  readonly notes: Set<string>;
  /** Addresses of the metrics behind the fields that are computed. */
  readonly used: Set<string>;
  /** The datasets that have metrics in the query. */
  readonly owners?: readonly string[];
  /** The fields that are being computed. */
  readonly measuring?: readonly string[];
}

interface At {
  readonly owner: ModelDataset;
  /** What to call the block in an error. */
  readonly metric: string;
  /** Of rows without aggregates, how far they are moved on in time. */
  readonly shift?: readonly Period[];
}

export function blockOf(asked: Asked, leaves: readonly AggregateNode[], at: At): Block {
  const { model, query, conditions, notes, owners = [] } = asked;
  const { owner, metric } = at;
  const [first] = leaves;
  if (first?.total !== undefined) return totalBlock(asked, leaves, { ...at, by: first.total });
  if (first?.nested !== undefined)
    return nestedBlock(asked, first, { ...at, nested: first.nested });
  const shift = first?.shift ?? at.shift ?? [];
  const measured: JoinScope['rowMetricValues'] = (dataset, field) =>
    fieldValues(asked, dataset, field);
  const state = {
    joins: new Map(),
    existsJoins: undefined,
    usedFields: new Set<'time' | 'other'>(),
  };
  const scope: JoinScope = {
    model,
    owner,
    query,
    reach: 'many',
    ...state,
    notes,
    shift,
    rowMetricValues: measured,
  };
  const places = query.dimensions.map((name) =>
    withErrorContext({ what: `dimension ${name}`, metric, scoped: [] }, () =>
      resolveQueryField(scope, name.split('.')),
    ),
  );
  if (shift.length > 0) checkTime(scope, places);
  const running = first?.running && runningRows(scope, places, first.running);
  const dimensions = places.map((place, index) => ({
    column: `d${index + 1}`,
    expr: running?.dimension(place) ?? fieldExpr(scope, place),
  }));
  const own = conditions.rows.filter(({ on }) => on === undefined || on === owner.name);
  const onRows =
    running === undefined ? own : own.filter((condition) => !isAboutPeriods(scope, condition));
  const tests = [
    ...onRows.map((condition) => ({
      text: condition.text,
      expr: rowConditionExpr(scope, condition, { metric, owners }),
    })),
    ...segmentConditions(scope, query),
  ];
  const fanned = places.filter(({ path }) => !path.every(isToOne)).map(formatFieldPath);
  const table = { alias: owner.name, relation: readableRows(owner) };
  const base: Select = {
    kind: 'select',
    columns: dimensions,
    from: running?.from ?? table,
    joins: [],
    where: tests.map(({ expr }) => expr),
  };
  const conversion = first?.conversion && conversionJoin(scope, first.conversion);
  if (conversion !== undefined && fanned.length > 0) {
    throw notSupportedError(
      'a conversion by a dimension to many',
      `${fanned.join(' and ')} has several values for one row`,
    );
  }
  const select =
    first?.balance === undefined
      ? grouping(scope, base, { leaves, fanned })
      : balanceOf(scope, base, { leaves, places, fanned });
  const joins = [...scope.joins.values()];
  const segments = query.segments
    .filter((name) => name.startsWith(`${owner.name}.`))
    .map((name) => `segment ${name}`);
  return {
    owner: owner.name,
    leaves,
    select: joinedTo(select, [
      ...(running === undefined ? [] : [running.join]),
      ...joins.map(toJoin),
      ...(conversion ?? []),
    ]),
    places,
    joins,
    tests,
    filters: [...own.map(({ text }) => text), ...segments],
    fanned,
    members: membersFor(
      asked,
      { ...at, base: running === undefined ? base : undefined },
      { places, joins },
    ),
  };
}

function membersFor(
  asked: Asked,
  { base, ...at }: At & { readonly base: Select | undefined },
  found: Pick<Block, 'places' | 'joins'>,
): Block['members'] {
  if (!asked.query.include_empty) return [];
  return base === undefined ? blockOf(asked, [], at).members : membersOf(base, found);
}

/** What is moved in time needs a time to move, in whole periods. */
function checkTime(scope: JoinScope, places: readonly ResolvedField[]): void {
  const { owner } = scope;
  if (owner.defaultTime === undefined) resolveQueryField(scope, ['metric_time']);
  if (!places.some((place) => isDefaultTime(scope, place) && place.grain === undefined)) return;
  const message = `A metric of another time is asked for by ${owner.name}.${owner.defaultTime} without a period`;
  throw queryError('no_period', message, {
    hint: 'It needs a period.',
    choices: ['metric_time.day', `${owner.name}.${owner.defaultTime}.day`],
  });
}

/** The joins belong to the innermost rows. */
function joinedTo(select: Select, joins: Select['joins']): Select {
  const { relation } = select.from;
  if (relation.kind !== 'select' || relation.select.kind !== 'select') return { ...select, joins };
  return {
    ...select,
    from: { ...select.from, relation: { kind: 'select', select: { ...relation.select, joins } } },
  };
}

function nestedBlock(
  asked: Asked,
  leaf: AggregateNode,
  { nested: inside, ...at }: At & { readonly nested: NestedAggregate },
): Block {
  const { query } = asked;
  const dimensions = [...query.dimensions, inside.per];
  const inner = blockOf(
    { ...asked, query: { ...query, dimensions, include_empty: false } },
    inside.aggregates,
    at,
  );
  const members = query.include_empty ? blockOf(asked, [], at).members : [];
  const places = inner.places.slice(0, query.dimensions.length);
  return {
    ...inner,
    leaves: [leaf],
    places,
    members,
    select: nested(inner.select, leaf, places.length),
  };
}

/** A metric for each key of the dataset that has it as a field; no condition of the query applies to it. */
function fieldValues(
  asked: Asked,
  dataset: ModelDataset,
  { name, measure }: ModelField,
): RowMetricValues {
  const { model, query, notes, used, measuring = [] } = asked;
  const { metric: address = '', via = '' } = measure ?? {};
  const field = `${dataset.name}.${name}`;
  if (measuring.includes(field))
    throw queryError(
      'circular',
      `Circular fields: ${[...measuring, field].join(' → ')}`,
      'A field cannot be made of itself.',
    );
  const metric = findMetric(model, address.split('.'), dataset.name);
  if (metric === undefined)
    throw unknownMetricError({ model, queryMetrics: new Map() }, address.split('.'));
  const resolver = createResolver(model, [], used);
  const expr = resolveMetric(resolver, metric);
  const leaves = [...resolver.aggregates.values()];
  const [first] = leaves;
  const isPlain = leaves.every(
    ({ running, total, shift }) =>
      running === undefined && total === undefined && shift.length === 0,
  );
  if (first === undefined || !isPlain || new Set(leaves.map(factQueryKey)).size > 1) {
    throw notSupportedError(
      `${address} for each row of ${dataset.name}`,
      'It is no aggregate of the rows of one dataset',
    );
  }
  const dimensions = (dataset.primaryKey ?? []).map((key) => `${via}.${key}`);
  const plain = {
    ...query,
    metrics: [],
    dimensions,
    where: [],
    having: [],
    segments: [],
    include_empty: false,
    fill_time: false,
  };
  const inside = {
    model,
    query: plain,
    conditions: { rows: [], aggregates: [] },
    notes,
    used,
    measuring: [...measuring, field],
  };
  const { select } = blockOf(inside, leaves, {
    owner: requireDataset(model, first.owner),
    metric: address,
  });
  notes.add(`${field} is ${address} over all rows of each, whatever the conditions of the query`);
  const counts = new Set(
    leaves.filter((leaf) => leaf.function.startsWith('count')).map(({ column }) => column),
  );
  const valueIn = (alias: string, column: string): Expr => {
    const value: Expr = { kind: 'column', alias, name: column };
    return counts.has(column) ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
  };
  return { select, value: (alias) => replaceResults(expr, ({ column }) => valueIn(alias, column)) };
}

/** As if the query had only some of its dimensions. */
function totalBlock(
  asked: Asked,
  leaves: readonly AggregateNode[],
  { by, ...at }: At & { readonly by: readonly string[] },
): Block {
  const { model, query } = asked;
  const { places } = blockOf({ ...asked, query: { ...query, include_empty: false } }, [], at);
  const kept = by.map((name) => {
    const asking = resolveQueryField({ model, owner: at.owner, reach: 'many' }, name.split('.'));
    const index = places.findIndex((place) => formatFieldPath(place) === formatFieldPath(asking));
    if (index !== -1) return index;
    throw queryError(
      'no_group',
      `${at.metric} is a total by ${name}, which the query does not group by`,
      {
        hint: 'Add it to the dimensions.',
        choices: [name],
      },
    );
  });
  const plain = leaves.map((leaf) => ({ ...leaf, total: undefined }));
  if (leaves.some(({ running }) => running !== undefined))
    throw notSupportedError('a total of a running total', `${at.metric} is one`);
  if (new Set(kept).size === places.length) return { ...blockOf(asked, plain, at), leaves };
  const indexes = [...new Set(kept)].toSorted((a, b) => a - b);
  const dimensions = indexes.flatMap((index) => query.dimensions[index] ?? []);
  const block = blockOf(
    { ...asked, query: { ...query, dimensions, include_empty: false } },
    plain,
    at,
  );
  const columns = block.select.columns.map((column, position) => {
    const index = indexes[position];
    return index === undefined ? column : { ...column, column: `d${index + 1}` };
  });
  return { ...block, leaves, places, select: { ...block.select, columns }, kept: indexes };
}
