import type { AggregateCall, Fragment } from '../../../sql/fragment.ts';
import type { Dataset, MetricDefinition } from '../../model/dataset.ts';
import type { Aggregate } from '../../../sql/aggregates.ts';
import { canonicalJson } from '../../../lib/json.ts';
import { isWithin } from '../../../sql/analyzer.ts';
import { type Entry, without } from '../patch.ts';
import {
  columnSql,
  faultOf,
  filterTemplate,
  type Flow,
  fragmentOf,
  replaced,
} from './write-sql.ts';

/** dbt has no words for it: it is left out, never written as something else. */
export class Unsayable extends Error {}

/** What is written so far. */
export interface FlowOut {
  /** By dataset and what they compute. */
  readonly measures: Map<string, Map<string, Entry>>;
  readonly metrics: Map<string, Entry>;
}

interface At extends Flow {
  readonly out: FlowOut;
  readonly home: Dataset;
}

/** Writes a metric with those that it needs, and gives its name there. Throws `Unsayable`. */
export function writeMetric(
  metric: MetricDefinition,
  at: At,
  stack: readonly string[] = [],
): string {
  const name = at.names.metrics.get(metric) ?? metric.name;
  if (at.out.metrics.has(name)) return name;
  if (stack.includes(name))
    throw new Unsayable(`it is made of itself: ${[...stack, name].join(' → ')}`);
  const entry = entryOf(metric, at, { name, stack: [...stack, name] });
  const meta = metric.hidden === true ? { config: { meta: { ktx: { hidden: true } } } } : {};
  at.out.metrics.set(name, {
    name,
    ...without({ description: metric.description }),
    ...entry,
    ...meta,
  });
  return name;
}

interface Self {
  readonly name: string;
  readonly stack: readonly string[];
}

function entryOf(metric: MetricDefinition, at: At, self: Self): Entry {
  const { ratio, offset, cumulative, conversion, where, expr } = metric;
  const fault = [expr, metric.of, where]
    .map((text) => faultOf(text, at))
    .find((one) => one !== undefined);
  if (fault !== undefined) throw new Unsayable(fault);
  const filter = () => (where === undefined ? {} : { filter: templated(where, at) });
  if (metric.agg !== undefined) return simple(metric, at, self.name);
  if (ratio !== undefined) {
    const [numerator, denominator] = [ratio.numerator, ratio.denominator].map((it) =>
      inputName(it, at, self),
    );
    return { type: 'ratio', ...filter(), type_params: { numerator, denominator } };
  }
  if (offset !== undefined) {
    const name = inputName(offset.of, at, self);
    return {
      type: 'derived',
      type_params: { expr: name, metrics: [{ name, offset_window: offset.by }] },
      ...filter(),
    };
  }
  if (cumulative !== undefined) {
    const { of: measured, ...window } = cumulative;
    if (window.grain_to_date?.startsWith('fiscal_') === true)
      throw new Unsayable('dbt has no fiscal periods of its own');
    return {
      type: 'cumulative',
      type_params: { measure: measureOf(measured, at, self), cumulative_type_params: window },
      ...filter(),
    };
  }
  if (conversion !== undefined) return conversionEntry(conversion, at, self);
  const fragment = expr === undefined ? undefined : fragmentOf(expr, at);
  if (fragment === undefined)
    throw new Unsayable(
      metric.total === undefined ? 'dbt has no such metric' : 'dbt has no totals over all groups',
    );
  return { ...derived(fragment, at, self), ...filter() };
}

function templated(where: NonNullable<MetricDefinition['where']>, at: At): string {
  const text = filterTemplate(where, at);
  if (text === undefined) throw new Unsayable('dbt cannot say its filter');
  return text;
}

function simple(
  { agg, of, fraction, where, semi_additive, per }: MetricDefinition,
  at: At,
  name: string,
): Entry {
  if (per !== undefined) throw new Unsayable('dbt has no aggregates of aggregates');
  const filter = where === undefined ? undefined : filterTemplate(where, at);
  // What no filter of dbt says, a measure can.
  const condition = where === undefined || filter !== undefined ? undefined : columnSql(where, at);
  if (where !== undefined && (filter ?? condition) === undefined)
    throw new Unsayable('dbt cannot say its filter');
  if (where !== undefined && semi_additive !== undefined)
    throw new Unsayable('dbt filters a balance in another order');
  const value = of === undefined ? '1' : columnSql(of, at);
  if (value === undefined || agg === undefined)
    throw new Unsayable('it aggregates what is not in its own table');
  const expr = condition === undefined ? value : `case when ${condition} then ${value} end`;
  const balance = semi_additive && { non_additive_dimension: nonAdditive(semi_additive, at) };
  const measure = measureNamed({ agg, expr, fraction, ...balance }, name, at);
  return { type: 'simple', type_params: { measure }, ...without({ filter }) };
}

const aggregates: Partial<Record<Aggregate, string>> = { avg: 'average' };

/** The measure that computes it: one that is there, or a new one. */
function measureNamed(
  body: { agg: Aggregate; expr: string; fraction: number | undefined } & Entry,
  name: string,
  at: At,
): string {
  const { agg, fraction, ...rest } = body;
  const params = {
    percentile: fraction,
    use_discrete_percentile: false,
    use_approximate_percentile: false,
  };
  const measure = {
    agg: aggregates[agg] ?? agg,
    ...rest,
    ...(agg === 'percentile' ? { agg_params: params } : {}),
  };
  const own = at.out.measures.get(at.home.dataset) ?? new Map<string, Entry>();
  const key = canonicalJson(measure);
  const known = own.get(key)?.['name'];
  if (typeof known === 'string') return known;
  const { entities, dimensions } = at.names;
  const others = [
    ...(entities.get(at.home.dataset) ?? []).map((it) => it.name),
    ...(dimensions.get(at.home.dataset)?.values() ?? []),
  ];
  const free = others.includes(name) ? `${name}_measure` : name;
  at.out.measures.set(at.home.dataset, own.set(key, { name: free, ...measure }));
  return free;
}

function nonAdditive(
  balance: NonNullable<MetricDefinition['semi_additive']>,
  { home, names }: At,
): Entry {
  const { over, take } = balance;
  const { primary_key: key = [] } = home;
  const per = balance.per ?? (key.includes(over) ? key.filter((one) => one !== over) : undefined);
  const field = home.fields?.find(({ name }) => name === over);
  const dimension = field && names.dimensions.get(home.dataset)?.get(field);
  const groups = per?.flatMap(
    (name) => names.entities.get(home.dataset)?.find((one) => one.field === name)?.name ?? [],
  );
  if (take !== 'first' && take !== 'last') throw new Unsayable(`dbt takes no ${take} of a balance`);
  if (dimension === undefined || groups === undefined || groups.length < (per?.length ?? 0))
    throw new Unsayable('whose balance it is, dbt says by entities');
  const choice = { name: dimension, window_choice: take === 'last' ? 'max' : 'min' };
  return { ...choice, ...(groups.length > 0 && { window_groupings: groups }) };
}

function derived(fragment: Fragment, at: At, self: Self): Entry {
  const calls = fragment.aggregates.map(
    (call, index) =>
      [call, aggregateName(fragment, call, { at, name: `${self.name}_${index + 1}` })] as const,
  );
  const inside = (span: { start: number; end: number }) =>
    calls.find(([call]) => isWithin(span, call));
  const outside = fragment.references.filter((it) => inside(it) === undefined);
  const inputs = outside.map((it) => inputName(it.parts.join('.'), at, self));
  const rest = {
    ...fragment,
    references: [
      ...outside,
      ...calls.map(([call]) => ({ start: call.start, end: call.end, parts: [], written: '' })),
    ],
    divisions: fragment.divisions.filter((it) => inside(it) === undefined),
  };
  const nameOf = new Map([
    ...outside.map((it, index) => [it.start, inputs[index]] as const),
    ...calls.map(([{ start }, name]) => [start, name] as const),
  ]);
  const expr = replaced(rest, ({ start }) => nameOf.get(start));
  return {
    type: 'derived',
    type_params: { expr, metrics: [...new Set(nameOf.values())].map((name) => ({ name })) },
  };
}

/** A metric of dbt for an aggregate that stands in a formula. */
function aggregateName(
  { text }: Fragment,
  call: AggregateCall,
  { at, name }: { readonly at: At; readonly name: string },
): string {
  const of = call.argument && text.slice(call.argument.start, call.argument.end);
  const entry = simple({ name, agg: call.function, of, fraction: call.fraction }, at, name);
  const same = [...at.out.metrics].find(
    ([, one]) => canonicalJson(without(one, 'name', 'description')) === canonicalJson(entry),
  );
  if (same !== undefined) return same[0];
  at.out.metrics.set(name, { name, ...entry });
  return name;
}

function found(
  address: string,
  { home, datasets }: At,
): { readonly dataset: Dataset; readonly metric: MetricDefinition } {
  const [first = '', ...rest] = address.split('.');
  const dataset = rest.length === 0 ? home : datasets.get(first);
  const metric = dataset?.metrics?.find(({ name }) => name === (rest[0] ?? first));
  if (dataset === undefined || metric === undefined || rest.length > 1)
    throw new Unsayable(`${address} is not there`);
  return { dataset, metric };
}

function inputName(address: string, at: At, { stack }: Self): string {
  const { dataset, metric } = found(address, at);
  return writeMetric(metric, { ...at, home: dataset }, stack);
}

/** The measure of a simple metric, with its filter. */
function measureOf(address: string, at: At, self: Self): Entry {
  const entry = at.out.metrics.get(inputName(address, at, self));
  const params = entry?.['type_params'] as Entry | undefined;
  const measure = entry?.['type'] === 'simple' ? params?.['measure'] : undefined;
  if (measure === undefined)
    throw new Unsayable(`dbt does this to simple metrics only, not to ${address}`);
  return { name: measure, ...without({ filter: entry?.['filter'] }) };
}

function conversionEntry(
  conversion: NonNullable<MetricDefinition['conversion']>,
  at: At,
  self: Self,
): Entry {
  const { base, to, on, window, calculation } = conversion;
  const [from, target] = [found(base, at).dataset.dataset, found(to, at).dataset.dataset];
  const [pair, ...more] = Object.entries(on);
  const isPair = ({ name, field }: { name: string; field: string }) =>
    field === pair?.[0] &&
    at.names.entities.get(target)?.some((one) => one.name === name && one.field === pair[1]) ===
      true;
  const entity = at.names.entities.get(from)?.find(isPair)?.name;
  if (entity === undefined || more.length > 0)
    throw new Unsayable('dbt matches the two events by one entity that both have');
  const params = {
    entity,
    calculation,
    base_measure: measureOf(base, at, self),
    conversion_measure: measureOf(to, at, self),
    window,
  };
  return { type: 'conversion', type_params: { conversion_type_params: without(params) } };
}
