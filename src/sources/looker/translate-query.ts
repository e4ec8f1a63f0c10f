import { z } from 'zod';
import { timeGrains } from '../../sql/dialect.ts';
import { parseJson } from '../../lib/json.ts';
import { toDatasetName } from '../../semantic/formats/imported-model.ts';
import {
  blocksWithKey,
  type LookmlBlock,
  textProperty,
} from '../../semantic/formats/lookml/parse.ts';
import { exploreFilters } from '../lookml/explore-filters.ts';
import type { LookmlModel } from '../../semantic/formats/lookml/read.ts';
import type { BoundView } from '../lookml/bind-view.ts';
import type { KnownDataset } from '../table-finder.ts';
import type { LookerQuery } from './api-schemas.ts';

/** What the explores say, with the tables behind their views. */
export interface KnownExplores {
  readonly explores: LookmlModel['project']['explores'];
  readonly joins: LookmlModel['joins'];
  /** By the name of the view. */
  readonly views: ReadonlyMap<string, BoundView>;
}

/** A saved query as ktx asks it. */
interface TranslatedQuery {
  readonly metrics: readonly string[];
  readonly dimensions: readonly string[];
  readonly where?: readonly {
    readonly field: string;
    readonly op: string;
    readonly value: unknown;
  }[];
  readonly order_by?: readonly { readonly field: string; readonly dir: 'asc' | 'desc' }[];
  readonly limit?: number;
}

/** A part of a query that means something else in ktx, or nothing. */
class Untranslatable extends Error {}

/**
 * The query in terms of datasets and metrics, or why it cannot be said so. Table calculations and
 * totals are left out: they compute with the answer. Custom fields are not: the answer has them.
 */
export function translateQuery(
  query: LookerQuery,
  known: KnownExplores,
): { readonly query: TranslatedQuery } | { readonly reason: string } {
  try {
    return { query: translate(query, known) };
  } catch (error) {
    if (error instanceof Untranslatable) return { reason: error.message };
    throw error;
  }
}

function translate(query: LookerQuery, known: KnownExplores): TranslatedQuery {
  const { fields, filters, sorts, limit, filter_expression: expression } = query;
  if (expression?.trim()) throw new Untranslatable('it has a filter expression');
  const calculations = calculatedFields(query);
  const asked = (fields ?? []).filter((field) => !calculations.has(field));
  const named = new Map(asked.map((field) => [field, findField(field, query.view, known)]));
  const names = (kind: FoundField['kind']) =>
    [...named.values()].flatMap((field) => (field.kind === kind ? [field.name] : []));
  requireOuterJoins(query, known);
  const where = [...Object.entries(filters ?? {}), ...defaultFilters(query, known)].flatMap(
    ([field, value]) =>
      value === null || value === '' ? [] : [filterOf(findField(field, query.view, known), value)],
  );
  const order = (sorts ?? []).flatMap((sort) => {
    const [field = '', direction] = sort.split(' ');
    const found = named.get(field);
    const dir = direction === 'desc' ? ('desc' as const) : ('asc' as const);
    return found === undefined ? [] : [{ field: found.name, dir }];
  });
  const [metrics, dimensions] = [names('metric'), names('dimension')];
  if (metrics.length + dimensions.length === 0) throw new Untranslatable('it has no field');
  const count = Number(limit);
  return {
    metrics,
    dimensions,
    ...(where.length > 0 && { where }),
    ...(order.length > 0 && { order_by: order }),
    // Looker writes 500 into every query of its editor.
    ...(Number.isInteger(count) && count > 0 && count !== 500 && { limit: count }),
  };
}

/** The filters that Looker adds to the query because of its explore. */
function defaultFilters({ view, filters }: LookerQuery, known: KnownExplores) {
  const explore = known.explores.find(({ name }) => name === view);
  const set = new Set(Object.keys(filters ?? {}));
  return (explore === undefined ? [] : exploreFilters(explore)).flatMap(({ key, defaults }) => {
    if (defaults === undefined)
      throw new Untranslatable(`Looker filters the explore ${view} by ${key}`);
    if (defaults.unless.some((field) => set.has(field))) return [];
    return [...defaults.values].filter(([field]) => !set.has(field));
  });
}

/**
 * An inner join takes rows away, and a condition of a join that ktx does not have as well. Looker
 * joins what the query uses, what those joins use, and what the explore always joins.
 */
function requireOuterJoins({ view, fields, filters }: LookerQuery, known: KnownExplores): void {
  const explore = known.explores.find(({ name }) => name === view);
  if (explore === undefined) return;
  const always = explore.value
    .filter(({ key }) => key === 'always_join')
    .flatMap(({ value }): readonly unknown[] => (Array.isArray(value) ? value : [value]));
  const names = [...(fields ?? []), ...Object.keys(filters ?? {})];
  const open = [
    ...names.map((name) => name.split('.')[0] ?? ''),
    ...always.filter((name) => typeof name === 'string'),
  ];
  const used = new Set<string>();
  for (let scope = open.pop(); scope !== undefined; scope = open.pop()) {
    if (used.has(scope)) continue;
    used.add(scope);
    const join = blocksWithKey(explore.value, 'join').find(({ name }) => name === scope);
    if (join === undefined) continue;
    const type = textProperty(join, 'type') ?? 'left_outer';
    if (type !== 'left_outer' || textProperty(join, 'sql_where') !== undefined)
      throw new Untranslatable(`its ${type} join of ${scope} takes rows away or adds some`);
    const on = textProperty(join, 'sql_on') ?? '';
    open.push(...[...on.matchAll(/\$\{\s*(\w+)\./g)].map(([, name = '']) => name));
  }
}

const dynamicFieldsSchema = z
  .array(z.looseObject({ table_calculation: z.string().optional() }))
  .catch([]);

/** Table calculations; a custom measure or dimension is an error. */
function calculatedFields({ dynamic_fields: text }: LookerQuery): ReadonlySet<string> {
  const entries = dynamicFieldsSchema.parse(text ? parseJson(text) : []);
  if (entries.some(({ table_calculation: calculation }) => calculation === undefined))
    throw new Untranslatable('it has a custom field');
  return new Set(entries.flatMap(({ table_calculation: calculation = '' }) => calculation));
}

/** A dimension of an explore as ktx writes it, like `orders.buyer.region`. */
export function findDimension(
  written: string,
  explore: string,
  known: KnownExplores,
): string | undefined {
  try {
    const { kind, name } = findField(written, explore, known);
    return kind === 'dimension' ? name : undefined;
  } catch (error) {
    if (error instanceof Untranslatable) return undefined;
    throw error;
  }
}

interface FoundField {
  readonly kind: 'metric' | 'dimension';
  /** As ktx writes it: `orders.paid_revenue`, `orders.placed_at.month`. */
  readonly name: string;
  readonly type: string;
}

function findField(written: string, explore: string, known: KnownExplores): FoundField {
  const [scope = '', name = ''] = written.split('.');
  const view = known.views.get(toDatasetName(viewOf(scope, explore, known)));
  if (view === undefined) throw new Untranslatable(`${written} leads to no table`);
  const { dataset } = view.table;
  if (view.metrics.has(name)) return { kind: 'metric', name: `${dataset}.${name}`, type: 'number' };
  const field = fieldOf(view, name);
  if (field === undefined) throw new Untranslatable(`ktx has no ${written}`);
  const path = pathOf(scope, explore, known) ?? dataset;
  return { kind: 'dimension', name: `${path}.${field.name}`, type: field.type };
}

/** The role that leads to a joined view: `orders.buyer`. Undefined for the base of the explore. */
function pathOf(scope: string, explore: string, known: KnownExplores): string | undefined {
  const join = known.joins.find(({ at }) => at === `explore ${explore}.${scope}`);
  const owner = join && known.views.get(toDatasetName(join.from));
  const target = join && known.views.get(join.relationship.to);
  if (join === undefined || owner === undefined || target === undefined) return undefined;
  return `${owner.table.dataset}.${join.relationship.role ?? target.table.dataset}`;
}

/** The view behind the name that an explore gives it. */
function viewOf(scope: string, explore: string, { explores }: KnownExplores): string {
  const block = explores.find(({ name }) => name === explore);
  if (block === undefined) throw new Untranslatable(`there is no explore ${explore}`);
  const from = (entry: LookmlBlock | undefined) => entry && textProperty(entry, 'from');
  if (scope === explore) return from(block) ?? scope;
  return from(blocksWithKey(block.value, 'join').find(({ name }) => name === scope)) ?? scope;
}

const periods: Readonly<Record<string, string | undefined>> = {
  raw: '',
  time: '',
  date: '.day',
  ...Object.fromEntries(timeGrains.map((grain) => [grain, `.${grain}`])),
};

function fieldOf(
  view: BoundView,
  name: string,
): { readonly name: string; readonly type: string } | undefined {
  const typeOf = (member: string) =>
    view.dataset.fields?.find((field) => field.name === member)?.type ?? 'unknown';
  const own = view.columns.get(name) ?? (view.computed.has(name) ? name : undefined);
  if (own !== undefined) return { name: own, type: typeOf(name) };
  const cut = name.lastIndexOf('_');
  const [group, timeframe] = [name.slice(0, cut), name.slice(cut + 1)];
  const period = Object.hasOwn(periods, timeframe) ? periods[timeframe] : undefined;
  const time = view.columns.get(group) ?? (view.computed.has(group) ? group : undefined);
  if (period === undefined || time === undefined) return undefined;
  return { name: `${time}${period}`, type: 'time' };
}

/** Of Looker's filter language only what means one thing: a value, or a list of values. */
function filterOf({ kind, name, type }: FoundField, value: string) {
  if (kind === 'metric') throw new Untranslatable(`it filters ${name} after adding up`);
  const field = name;
  if (type === 'boolean' && /^(?:yes|no)$/i.test(value))
    return { field, op: '=', value: value.toLowerCase() === 'yes' };
  const parts = value.split(',').map((part) => part.trim());
  const isNumber = type === 'integer' || type === 'decimal';
  const isPlain = isNumber
    ? parts.every((part) => /^-?\d+(?:\.\d+)?$/.test(part))
    : type === 'string' && parts.every((part) => /^[\p{L}\p{N}][\p{L}\p{N} _/&.]*$/u.test(part));
  const isWord = parts.some((part) => /^(?:NULL|EMPTY|NOT)\b/i.test(part));
  if (!isPlain || isWord)
    throw new Untranslatable(`ktx cannot tell what ${name}: “${value}” means`);
  const values = parts.map((part) => (isNumber ? Number(part) : part));
  return values.length === 1
    ? { field, op: '=', value: values[0] }
    : { field, op: 'in', value: values };
}

/** The tables of the fields of a query, and of its explore. */
export function tablesOfQuery({ fields, view }: LookerQuery, known: KnownExplores): KnownDataset[] {
  const scopes = new Set([view, ...(fields ?? []).map((field) => field.split('.')[0] ?? '')]);
  return [...scopes].flatMap((scope) => {
    const hasExplore = known.explores.some(({ name }) => name === view);
    const bound = hasExplore
      ? known.views.get(toDatasetName(viewOf(scope, view, known)))
      : undefined;
    return bound === undefined ? [] : [bound.table];
  });
}
