import { UserError } from '../lib/error.ts';
import type { Period } from '../sql/dialect.ts';
import type { Conditions, RowCondition } from './conditions.ts';
import type { Fragment } from '../sql/expression.ts';
import { choicesOf, notSupported, refused, unknownDataset, unknownName } from './errors.ts';
import { converted, conversionJoin } from './conversion.ts';
import { type Expr, wholeOf, withResults } from './expr.ts';
import { isToOne } from './links.ts';
import { type Members, membersOf } from './members.ts';
import { type ModelDataset, type ModelField, rowsOf, type SemanticModel } from './model.ts';
import { datasetNamed, dottedPlace, type Place, placeInQuery } from './place.ts';
import type { SemanticQuery } from './query.ts';
import { blockKey, findMetric, type Leaf, type Nested, openResolver, resolveMetric } from './resolve.ts';
import { isAboutPeriods, runningRows } from './running.ts';
import {
  conditionExpr,
  isOwnTime,
  leafCondition,
  type Measured,
  ownExpr,
  placeExpr,
  plainJoin,
  rowExpr,
  testOf,
  type Scope,
  type ScopeJoin,
} from './scope.ts';
import type { Select } from './select.ts';
import { unknownMetric } from './unknown-metric.ts';
import { balanced, grouped, nested, staged, type Value } from './stages.ts';

/** The rows of one owner, joined, filtered and grouped, each row once a group. */
export interface Block {
  readonly owner: string;
  readonly leaves: readonly Leaf[];
  readonly select: Select;
  readonly places: readonly Place[];
  readonly joins: readonly ScopeJoin[];
  /** Conditions of the query on its rows; those on the time of a running total are not. */
  readonly tests: readonly Test[];
  /** Conditions of the query that it applies, as written. */
  readonly filters: readonly string[];
  /** Dimensions across one to many: its values do not add up over those. */
  readonly fanned: readonly string[];
  readonly members: readonly Members[];
  /** The dimensions that it has, where these are not all of the query. */
  readonly kept?: readonly number[];
}

interface Test {
  readonly text: string;
  readonly expr: Expr;
}

export interface Asked {
  readonly model: SemanticModel;
  readonly query: SemanticQuery;
  readonly conditions: Conditions;
  readonly notes: Set<string>;
  /** Addresses of the metrics behind the fields that are computed. */
  readonly used: Set<string>;
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

export function blockOf(asked: Asked, leaves: readonly Leaf[], at: At): Block {
  const { model, query, conditions, notes } = asked;
  const { owner, metric } = at;
  const [first] = leaves;
  if (first?.total !== undefined) return totalBlock(asked, leaves, { ...at, by: first.total });
  if (first?.nested !== undefined) return nestedBlock(asked, first, { ...at, nested: first.nested });
  const shift = first?.shift ?? at.shift ?? [];
  const measured: Scope['measured'] = (dataset, field) => fieldValues(asked, dataset, field);
  const state = { joins: new Map(), inner: undefined, visited: new Set<'time' | 'other'>() };
  const scope: Scope = { model, owner, query, reach: 'many', ...state, notes, shift, measured };
  const places = query.dimensions.map((name) =>
    attributed({ what: `dimension ${name}`, metric, scoped: [] }, () => placeInQuery(scope, name.split('.'))),
  );
  if (shift.length > 0) checkTime(scope, places);
  const running = first?.running && runningRows(scope, places, first.running);
  const dimensions = places.map((place, index) => ({
    column: `d${index + 1}`,
    expr: running?.dimension(place) ?? placeExpr(scope, place),
  }));
  const own = conditions.rows.filter(({ on }) => on === undefined || on === owner.name);
  const onRows = running === undefined ? own : own.filter((condition) => !isAboutPeriods(scope, condition));
  const tests = [
    ...onRows.map((condition) => ({ text: condition.text, expr: rowCondition(scope, condition, metric) })),
    ...segmentsOf(scope, query),
  ];
  const fanned = places.filter(({ path }) => !path.every(isToOne)).map(dottedPlace);
  const table = { alias: owner.name, relation: rowsOf(owner) };
  const base: Select = {
    kind: 'select',
    columns: dimensions,
    from: running?.from ?? table,
    joins: [],
    where: tests.map(({ expr }) => expr),
  };
  const conversion = first?.conversion && conversionJoin(scope, first.conversion);
  if (conversion !== undefined && fanned.length > 0) {
    throw notSupported('a conversion by a dimension to many', `${fanned.join(' and ')} has several values for one row`);
  }
  const select =
    first?.balance === undefined ? grouping(scope, base, { leaves, fanned }) : balanceOf(scope, base, { leaves, places, fanned });
  const joins = [...scope.joins.values()];
  const segments = query.segments.filter((name) => name.startsWith(`${owner.name}.`)).map((name) => `segment ${name}`);
  return {
    owner: owner.name,
    leaves,
    select: joinedTo(select, [...(running === undefined ? [] : [running.join]), ...joins.map(plainJoin), ...(conversion ?? [])]),
    places,
    joins,
    tests,
    filters: [...own.map(({ text }) => text), ...segments],
    fanned,
    members: membersFor(asked, { ...at, base: running === undefined ? base : undefined }, { places, joins }),
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
function checkTime(scope: Scope, places: readonly Place[]): void {
  const { owner } = scope;
  if (owner.defaultTime === undefined) placeInQuery(scope, ['metric_time']);
  if (!places.some((place) => isOwnTime(scope, place) && place.grain === undefined)) return;
  const message = `A metric of another time is asked for by ${owner.name}.${owner.defaultTime} without a period`;
  throw refused('no_period', message, {
    hint: 'It needs a period.',
    choices: ['metric_time.day', `${owner.name}.${owner.defaultTime}.day`],
  });
}

/** The joins belong to the innermost rows. */
function joinedTo(select: Select, joins: Select['joins']): Select {
  const { relation } = select.from;
  if (relation.kind !== 'select' || relation.select.kind !== 'select') return { ...select, joins };
  return { ...select, from: { ...select.from, relation: { kind: 'select', select: { ...relation.select, joins } } } };
}

function grouping(scope: Scope, base: Select, { leaves, fanned }: { leaves: readonly Leaf[]; fanned: readonly string[] }): Select {
  const values = leaves.map((leaf) => ({ leaf, expr: valueOf(scope, leaf) }));
  const isAsking = ({ expr }: Value) => expr?.kind === 'when' && expr.where.some(({ kind }) => kind === 'exists');
  if (fanned.length > 0) return staged(base, values, keyOf(scope, fanned));
  return values.some(isAsking) ? staged(base, values, []) : grouped(base, values);
}

function balanceOf(
  scope: Scope,
  base: Select,
  rest: { leaves: readonly Leaf[]; places: readonly Place[]; fanned: readonly string[] },
): Select {
  const { leaves, places, fanned } = rest;
  const [first] = leaves;
  const balance = first?.balance;
  if (balance === undefined || fanned.length > 0) {
    throw notSupported('a semi-additive metric by a dimension to many', `${fanned.join(' and ')} has several values for one row`);
  }
  const { over, take, per = [] } = balance;
  const values = leaves.map((leaf) => ({ leaf, expr: valueOf(scope, { ...leaf, where: [] }) ?? one }));
  const conditions = first?.where.map((row) => leafCondition(scope, row)) ?? [];
  const periods = base.columns
    .filter((_, index) => places[index]?.path.length === 0 && places[index]?.name === over)
    .map(({ expr }) => expr);
  scope.notes.add(
    `Of the values at each ${scope.owner.name}.${over}, the ${take} counts${per.length === 0 ? '' : ` for each ${per.join(' and ')}`}`,
  );
  const time = ownExpr(scope, over);
  const isTime = scope.owner.fields.get(over)?.type?.startsWith('date') === true;
  const at = {
    entity: per.map((name) => ownExpr(scope, name)),
    time: isTime ? { kind: 'time' as const, of: time } : time,
    periods,
    take,
    where: conditions,
  };
  return balanced(base, values, at);
}

function nestedBlock(asked: Asked, leaf: Leaf, { nested: inside, ...at }: At & { readonly nested: Nested }): Block {
  const { query } = asked;
  const dimensions = [...query.dimensions, inside.per];
  const inner = blockOf({ ...asked, query: { ...query, dimensions, include_empty: false } }, inside.leaves, at);
  const members = query.include_empty ? blockOf(asked, [], at).members : [];
  const places = inner.places.slice(0, query.dimensions.length);
  return { ...inner, leaves: [leaf], places, members, select: nested(inner.select, leaf, places.length) };
}

/** A metric for each key of the dataset that has it as a field; no condition of the query applies to it. */
function fieldValues(asked: Asked, dataset: ModelDataset, { name, measure }: ModelField): Measured {
  const { model, query, notes, used, measuring = [] } = asked;
  const { metric: address = '', via = '' } = measure ?? {};
  const field = `${dataset.name}.${name}`;
  if (measuring.includes(field))
    throw refused('circular', `Circular fields: ${[...measuring, field].join(' → ')}`, 'A field cannot be made of itself.');
  const metric = findMetric(model, address.split('.'), dataset.name);
  if (metric === undefined) throw unknownMetric({ model, named: new Map() }, address.split('.'));
  const resolver = openResolver(model, [], used);
  const expr = resolveMetric(resolver, metric);
  const leaves = [...resolver.leaves.values()];
  const [first] = leaves;
  const isPlain = leaves.every(({ running, total, shift }) => running === undefined && total === undefined && shift.length === 0);
  if (first === undefined || !isPlain || new Set(leaves.map(blockKey)).size > 1) {
    throw notSupported(`${address} for each row of ${dataset.name}`, 'It is no aggregate of the rows of one dataset');
  }
  const dimensions = (dataset.primaryKey ?? []).map((key) => `${via}.${key}`);
  const plain = { ...query, metrics: [], dimensions, where: [], having: [], segments: [], include_empty: false, fill_time: false };
  const inside = { model, query: plain, conditions: { rows: [], aggregates: [] }, notes, used, measuring: [...measuring, field] };
  const { select } = blockOf(inside, leaves, { owner: datasetNamed(model, first.owner), metric: address });
  notes.add(`${field} is ${address} over all rows of each, whatever the conditions of the query`);
  const counts = new Set(leaves.filter((leaf) => leaf.function.startsWith('count')).map(({ column }) => column));
  const valueIn = (alias: string, column: string): Expr => {
    const value: Expr = { kind: 'column', alias, name: column };
    return counts.has(column) ? { kind: 'call', parts: ['COALESCE(', value, ', 0)'] } : value;
  };
  return { select, value: (alias) => withResults(expr, ({ column }) => valueIn(alias, column)) };
}

/** As if the query had only some of its dimensions. */
function totalBlock(asked: Asked, leaves: readonly Leaf[], { by, ...at }: At & { readonly by: readonly string[] }): Block {
  const { model, query } = asked;
  const { places } = blockOf({ ...asked, query: { ...query, include_empty: false } }, [], at);
  const kept = by.map((name) => {
    const asking = placeInQuery({ model, owner: at.owner, reach: 'many' }, name.split('.'));
    const index = places.findIndex((place) => dottedPlace(place) === dottedPlace(asking));
    if (index !== -1) return index;
    throw refused('no_group', `${at.metric} is a total by ${name}, which the query does not group by`, {
      hint: 'Add it to the dimensions.',
      choices: [name],
    });
  });
  const plain = leaves.map((leaf) => ({ ...leaf, total: undefined }));
  if (leaves.some(({ running }) => running !== undefined)) throw notSupported('a total of a running total', `${at.metric} is one`);
  if (new Set(kept).size === places.length) return { ...blockOf(asked, plain, at), leaves };
  const indexes = [...new Set(kept)].toSorted((a, b) => a - b);
  const dimensions = indexes.flatMap((index) => query.dimensions[index] ?? []);
  const block = blockOf({ ...asked, query: { ...query, dimensions, include_empty: false } }, plain, at);
  const columns = block.select.columns.map((column, position) => {
    const index = indexes[position];
    return index === undefined ? column : { ...column, column: `d${index + 1}` };
  });
  return { ...block, leaves, places, select: { ...block.select, columns }, kept: indexes };
}

const one: Expr = { kind: 'text', parts: ['1'] };

/** What is aggregated; undefined for rows as such. Its own conditions ask about the owner's row, whatever the dimensions join. */
function valueOf(scope: Scope, leaf: Leaf): Expr | undefined {
  if (leaf.conversion !== undefined) return converted;
  const safe = new Map([...scope.joins].filter(([, { path }]) => path.every(isToOne)));
  const inside: Scope = { ...scope, joins: safe };
  const of = leaf.of && rowExpr({ ...inside, reach: 'one' }, leaf.of);
  const where = leaf.where.map((row) => leafCondition(inside, row));
  for (const [alias, join] of safe) scope.joins.set(alias, join);
  return where.length === 0 ? of : { kind: 'when', where, value: of ?? one };
}

function keyOf({ model, owner }: Scope, fanned: readonly string[]): readonly Expr[] {
  if (owner.primaryKey !== undefined) return owner.primaryKey.map((name) => ownExpr({ model, owner }, name));
  const message = `${fanned.join(' and ')} has many rows for one of ${owner.name}, which has no key to count each row once`;
  throw refused('no_key', message, `Declare primary_key in ${owner.file}, or leave the dimension out.`);
}

function rowCondition(scope: Scope, condition: RowCondition, metric: string): Expr {
  const { text } = condition;
  const run = () => conditionExpr(scope, condition);
  return attributed({ what: `condition ${JSON.stringify(text)}`, metric, scoped: scopedForms(scope, condition) }, run);
}

/** The condition as it would be about the metrics of a dataset that it names alone. */
function scopedForms({ model, owner }: Scope, { text, row }: RowCondition): readonly string[] {
  const named = row !== undefined ? [...text.matchAll(/\b([A-Za-z_]\w*)\s*\./g)].flatMap(([, name = '']) => name) : [];
  const others = [...new Set(named)].filter((name) => name !== owner.name && model.datasets.has(name));
  return others.map((on) => JSON.stringify({ on, where: text }));
}

interface Attribution {
  readonly what: string;
  readonly metric: string;
  /** What can be written in its place. */
  readonly scoped: readonly string[];
}

/** Says which metric cannot be asked so. */
function attributed<Result>({ what, metric, scoped }: Attribution, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof UserError) || !['no_path', 'no_default_time'].includes(error.code) || metric === '') throw error;
    const { code, message, hint = '' } = error;
    const about = scoped.length === 0 ? '' : ` Or ask it of the metrics that it is about: ${scoped.join(' or ')}.`;
    const details = { choices: [...choicesOf(error), ...scoped] };
    throw new UserError(code, `The ${what} cannot be applied to ${metric}: ${message}`, { hint: `${hint}${about}`, exitCode: 2, details });
  }
}

/** A segment restricts its own dataset's metrics only. */
function segmentsOf(scope: Scope, { segments }: SemanticQuery): readonly Test[] {
  const home = scope.owner.name;
  return segments.flatMap((asked) => {
    const fragment = asked.startsWith(`${home}.`) ? scope.owner.segments.get(asked.slice(home.length + 1)) : undefined;
    return fragment === undefined ? [] : [{ text: fragment.text, expr: conditionExpr(scope, testOf({ ...wholeOf(fragment), home })) }];
  });
}

/** With its dataset before each bare name, as a query writes it. */
function inFull({ text, references }: Fragment, home: string): string {
  const bare = references.filter(({ parts }) => parts.length === 1).toSorted((a, b) => b.start - a.start);
  return bare.reduce((done, { start }) => `${done.slice(0, start)}${home}.${done.slice(start)}`, text);
}

/** Which owner's rows a segment is of; refuses one that restricts nothing. */
export function checkSegments(model: SemanticModel, { segments }: SemanticQuery, owners: readonly string[]): void {
  for (const asked of segments) {
    const [home = '', ...rest] = asked.split('.');
    const name = rest.join('.');
    const known = model.datasets.get(home)?.segments;
    if (known === undefined)
      throw unknownDataset(model, home, { rest: name, fits: (dataset) => model.datasets.get(dataset)?.segments.has(name) === true });
    const fragment = known.get(name);
    const as = (candidate: string) => [`${home}.${candidate}`];
    if (fragment === undefined) throw unknownName({ what: `segment of ${home}`, name, candidates: known.keys(), as });
    if (owners.includes(home)) continue;
    const message = `The segment ${asked} restricts metrics of ${home} only, and the query has none`;
    throw refused('unused_segment', message, {
      hint: 'As a condition in where it restricts all metrics.',
      choices: fragment.parameters === undefined ? [inFull(fragment, home)] : [],
    });
  }
}
