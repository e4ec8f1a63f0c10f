import { UserError } from '../../../lib/error.ts';
import { reservedWords } from '../../../sql/scalar-functions.ts';
import { tokenize } from '../../../sql/tokens.ts';
import type { MetricDefinition } from '../../model/dataset.ts';
import type { Aggregate } from '../../../sql/aggregates.ts';
import {
  UnreadableMetric,
  type MetricInput,
  metricOfMeasure,
  type MetricShape,
  type MetricSpec,
} from './read-metric.ts';
import { dimensionField, entityField, filterSql, type BoundModel, written } from './bound-model.ts';
import { plainColumn, type Measure } from './semantic-model-schema.ts';

type Body = Omit<MetricDefinition, 'name'>;

/** A metric of MetricFlow as one of a dataset. */
interface MappedMetric {
  readonly dataset: string;
  readonly name: string;
  readonly body: Body;
  /** The metric that it is, or is made for. */
  readonly of: string;
  readonly isHelper: boolean;
}

interface MappedMetrics {
  readonly metrics: readonly MappedMetric[];
  /** What does not fit, by the name of the metric. */
  readonly misfits: readonly { readonly name: string; readonly reason: string }[];
}

/** Why SQL cannot be used that has these names; undefined where it can. */
export type FaultOf = (sql: string, isKnown: (name: string) => boolean) => string | undefined;

interface Mapping {
  readonly models: readonly BoundModel[];
  readonly faultOf: FaultOf;
  readonly specs: ReadonlyMap<string, MetricSpec>;
  readonly done: Map<string, MappedMetric>;
  readonly helpers: MappedMetric[];
}

function checked(
  { faultOf }: Mapping,
  sql: string,
  isKnown: (name: string) => boolean = () => true,
): string {
  const fault = faultOf(sql, isKnown);
  if (fault !== undefined) throw new UnreadableMetric(fault);
  return sql;
}

/** Where a metric is written, and what it is called there. */
type Target = Pick<MappedMetric, 'dataset' | 'name'>;

/**
 * Every metric that the datasets can hold, in the order of `specs`, each in the dataset whose rows it counts (the first that
 * it names). A metric input with a filter or an offset becomes a hidden metric of its own. What does not fit is named.
 */
export function mapMetrics(
  models: readonly BoundModel[],
  specs: readonly MetricSpec[],
  faultOf: FaultOf = () => undefined,
): MappedMetrics {
  const all = [...specs, ...ownMetrics(models, specs)];
  const mapping: Mapping = {
    models,
    faultOf,
    specs: new Map(all.map((spec) => [spec.name, spec])),
    done: new Map(),
    helpers: [],
  };
  const misfits = all.flatMap(({ name }) => {
    try {
      mapNamed(mapping, name, []);
      return [];
    } catch (fault) {
      if (fault instanceof UnreadableMetric || fault instanceof UserError)
        return [{ name, reason: fault.message }];
      throw fault;
    }
  });
  const needed = new Set(mapping.done.keys());
  return {
    metrics: [...mapping.done.values(), ...mapping.helpers.filter(({ of }) => needed.has(of))],
    misfits,
  };
}

/** Measures that say of themselves that they are metrics. */
function ownMetrics(models: readonly BoundModel[], specs: readonly MetricSpec[]): MetricSpec[] {
  const known = new Set(specs.map(({ name }) => name));
  const measures = models
    .flatMap(({ spec }) => spec.measures)
    .filter((one) => one.create_metric === true && !known.has(one.name));
  return measures.map(({ name, label, description }) => {
    return { ...metricOfMeasure(name), label, description };
  });
}

function mapNamed(mapping: Mapping, name: string, stack: readonly string[]): MappedMetric {
  const known = mapping.done.get(name);
  if (known !== undefined) return known;
  const spec = mapping.specs.get(name);
  if (spec === undefined) throw new UnreadableMetric(`there is no metric ${name}`);
  if (stack.includes(name))
    throw new UnreadableMetric(`it is made of itself: ${[...stack, name].join(' → ')}`);
  const { model, body } = shapeBody(mapping, spec, [...stack, name]);
  const where = spec.shape.kind === 'simple' ? body.where : filterOf(mapping, model, spec.filters);
  const rest = {
    ...(where === undefined ? {} : { where }),
    ...(spec.isPrivate ? { hidden: true } : {}),
  };
  const mapped = {
    dataset: model.dataset,
    name: freeName(model, spec, body),
    body: { ...body, ...rest },
    of: name,
    isHelper: false,
  };
  mapping.done.set(name, mapped);
  return mapped;
}

/** A field of the same name has it; the metric then says what it does with it. */
function freeName(model: BoundModel, { name, shape }: MetricSpec, { agg }: Body): string {
  const isTaken =
    model.own === undefined
      ? model.field(name) !== undefined
      : [...model.own.fields.values()].includes(name);
  return isTaken ? [agg ?? shape.kind, name].join('_') : name;
}

interface Shaped {
  readonly model: BoundModel;
  readonly body: Body;
}

function shapeBody(mapping: Mapping, spec: MetricSpec, stack: readonly string[]): Shaped {
  const { shape } = spec;
  switch (shape.kind) {
    case 'simple':
      return simple(mapping, shape.measure, spec.filters);
    case 'ratio': {
      const numerator = inputTarget(mapping, shape.numerator, stack);
      const denominator = inputTarget(mapping, shape.denominator, stack);
      return {
        model: modelOf(mapping, numerator),
        body: {
          ratio: { numerator: numerator.name, denominator: nameFrom(numerator, denominator) },
        },
      };
    }
    case 'derived':
      return derived(mapping, shape, stack);
    case 'cumulative': {
      if (shape.periodAgg !== 'first')
        throw new UnreadableMetric(`ktx has no period_agg: ${shape.periodAgg}`);
      const of = inputTarget(mapping, shape.of, stack);
      const window = shape.window === undefined ? {} : { window: period(shape.window) };
      const grain =
        shape.grainToDate === undefined ? {} : { grain_to_date: grainOf(shape.grainToDate) };
      return {
        model: modelOf(mapping, of),
        body: { cumulative: { of: of.name, ...window, ...grain } },
      };
    }
    case 'conversion':
      return conversion(mapping, shape, stack);
  }
  return shape satisfies never;
}

function simple(
  mapping: Mapping,
  named: MetricInput | (Measure & { model: string }),
  filters: readonly string[],
): Shaped {
  const { model, measure } =
    'agg' in named
      ? { model: modelNamed(mapping, named.model), measure: named }
      : measureNamed(mapping, named.name);
  const own = 'agg' in named ? [] : named.filters;
  const where = filterOf(mapping, model, [...own, ...filters]);
  return {
    model,
    body: { ...aggregateOf(mapping, model, measure), ...(where === undefined ? {} : { where }) },
  };
}

const aggregates: Readonly<Record<string, Aggregate>> = {
  sum: 'sum',
  sum_boolean: 'sum',
  count: 'count',
  count_distinct: 'count_distinct',
  average: 'avg',
  avg: 'avg',
  min: 'min',
  max: 'max',
  median: 'median',
  percentile: 'percentile',
};

function aggregateOf(mapping: Mapping, model: BoundModel, measure: Measure): Body {
  const agg = Object.hasOwn(aggregates, measure.agg) ? aggregates[measure.agg] : undefined;
  if (agg === undefined) throw new UnreadableMetric(`ktx has no aggregate ${measure.agg}`);
  const expr = measure.expr?.trim() ?? measure.name;
  const isOne = /^(1|\*|true)$/i.test(expr);
  if (isOne && (agg === 'count' || (agg === 'sum' && expr === '1')))
    return { agg: 'count', ...semiAdditive(model, measure) };
  const column = plainColumn({ name: measure.name, expr });
  const field = column === undefined ? undefined : model.field(column);
  if (column !== undefined && field === undefined && !/^\d/.test(expr))
    throw new UnreadableMetric(`${model.dataset} has no column ${column}`);
  const text =
    field === undefined
      ? checked(mapping, expr, (name) => model.field(name) !== undefined)
      : written(field);
  const of = measure.agg === 'sum_boolean' ? `case when ${text} then 1 else 0 end` : text;
  return { agg, of, ...fractionOf(measure, agg), ...semiAdditive(model, measure) };
}

function fractionOf({ agg_params }: Measure, agg: Aggregate): Pick<Body, 'fraction'> {
  if (agg !== 'percentile') return {};
  const { percentile, use_discrete_percentile } = agg_params ?? {};
  if (typeof percentile !== 'number') throw new UnreadableMetric('its percentile is missing');
  if (use_discrete_percentile === true)
    throw new UnreadableMetric('ktx has no discrete percentile');
  return { fraction: percentile > 1 ? percentile / 100 : percentile };
}

function semiAdditive(
  model: BoundModel,
  { non_additive_dimension: rule }: Measure,
): Pick<Body, 'semi_additive'> {
  if (!rule) return {};
  const per = (rule.window_groupings ?? []).map((name) => memberField(model, name));
  const dimension = model.spec.dimensions.find(({ name }) => name === rule.name);
  const field = dimension && dimensionField(model, dimension);
  if (field === undefined)
    throw new UnreadableMetric(
      `it is not additive over ${rule.name}, which is no field of ${model.dataset}`,
    );
  return {
    semi_additive: { over: field.name, take: rule.window_choice === 'max' ? 'last' : 'first', per },
  };
}

function derived(
  mapping: Mapping,
  { expr, inputs }: Extract<MetricShape, { kind: 'derived' }>,
  stack: readonly string[],
): Shaped {
  const [only, ...others] = inputs;
  if (only === undefined) throw new UnreadableMetric('it names no metric that it is made of');
  if (
    only.offsetWindow !== undefined &&
    others.length === 0 &&
    expr.trim() === (only.alias ?? only.name)
  ) {
    const of = inputTarget(mapping, { ...only, offsetWindow: undefined }, stack);
    return {
      model: modelOf(mapping, of),
      body: { offset: { of: of.name, by: period(only.offsetWindow) } },
    };
  }
  const [home, ...rest] = [
    inputTarget(mapping, only, stack),
    ...others.map((input) => inputTarget(mapping, input, stack)),
  ] as const;
  const targets = [home, ...rest].map(
    (target, index) => [inputs[index]?.alias ?? inputs[index]?.name ?? '', target] as const,
  );
  // A word of SQL is a name only after that of its dataset.
  const nameOf = (target: Target) =>
    reservedWords.has(target.name.toLowerCase())
      ? `${target.dataset}.${target.name}`
      : nameFrom(home, target);
  const names = new Map(targets.map(([alias, target]) => [alias.toLowerCase(), nameOf(target)]));
  let text = checked(mapping, expr.trim(), (name) => names.has(name.toLowerCase()));
  for (const token of tokenize(text).toReversed()) {
    const name = token.kind === 'word' ? names.get(token.text) : undefined;
    if (name !== undefined) text = text.slice(0, token.start) + name + text.slice(token.end);
  }
  return { model: modelOf(mapping, home), body: { expr: text } };
}

function conversion(
  mapping: Mapping,
  shape: Extract<MetricShape, { kind: 'conversion' }>,
  stack: readonly string[],
): Shaped {
  const base = inputTarget(mapping, shape.base, stack);
  const target = inputTarget(mapping, shape.conversion, stack);
  const [from, to] = [modelOf(mapping, base), modelOf(mapping, target)];
  const pairs = [[shape.entity, shape.entity] as const, ...shape.constants];
  const on = Object.fromEntries(
    pairs.map(([own, other]) => [memberField(from, own), memberField(to, other)]),
  );
  const { calculation } = shape;
  if (calculation !== 'conversion_rate' && calculation !== 'conversions')
    throw new UnreadableMetric(`ktx has no calculation ${calculation}`);
  const window = shape.window === undefined ? {} : { window: period(shape.window) };
  return {
    model: from,
    body: {
      conversion: { base: base.name, to: nameFrom(base, target), on, ...window, calculation },
    },
  };
}

/** The field of an entity or a dimension. */
function memberField(model: BoundModel, name: string): string {
  const bare = name.split('__').at(-1) ?? name;
  const entity = model.spec.entities.find((one) => one.name === bare);
  const dimension = model.spec.dimensions.find((one) => one.name === bare);
  const field =
    (entity && entityField(model, entity)) ?? (dimension && dimensionField(model, dimension)?.name);
  if (field === undefined) throw new UnreadableMetric(`${bare} is no field of ${model.dataset}`);
  return field;
}

/** The metric that an input stands for; with a filter or an offset, a hidden one that is made for it. */
function inputTarget(mapping: Mapping, input: MetricInput, stack: readonly string[]): Target {
  const { name, filters, offsetWindow, offsetToGrain } = input;
  const metric = stack.at(-1) ?? name;
  const isMeasure =
    input.isMeasure || (!mapping.specs.has(name) && hasMeasure(mapping.models, name));
  if (offsetToGrain !== undefined)
    throw new UnreadableMetric(`ktx has no offset_to_grain: ${offsetToGrain} of ${name}`);
  let target: Target = isMeasure
    ? measureTarget(mapping, input, metric)
    : mapNamed(mapping, name, stack);
  const own = `${metric}__${input.alias ?? name}`;
  const add = (suffix: string, body: Body): Target => {
    const helper = {
      dataset: target.dataset,
      name: `${own}${suffix}`,
      body: { ...body, hidden: true },
      of: metric,
      isHelper: true,
    };
    mapping.helpers.push(helper);
    return helper;
  };
  const where = isMeasure ? undefined : filterOf(mapping, modelOf(mapping, target), filters);
  if (where !== undefined)
    target = add(offsetWindow === undefined ? '' : '__filtered', { expr: target.name, where });
  return offsetWindow === undefined
    ? target
    : add('', { offset: { of: target.name, by: period(offsetWindow) } });
}

/** The simple metric that is the measure, or a hidden one. */
function measureTarget(mapping: Mapping, input: MetricInput, metric: string): Target {
  const isIt = ({ shape, filters }: MetricSpec) =>
    shape.kind === 'simple' &&
    !('agg' in shape.measure) &&
    shape.measure.name === input.name &&
    [...shape.measure.filters, ...filters].join('\n') === input.filters.join('\n');
  const same = [...mapping.specs.values()].find(isIt);
  if (same !== undefined) return mapNamed(mapping, same.name, []);
  const { model, body } = simple(mapping, input, []);
  const helper = {
    dataset: model.dataset,
    name: `${metric}__${input.name}`,
    body: { ...body, hidden: true },
    of: metric,
    isHelper: true,
  };
  mapping.helpers.push(helper);
  return helper;
}

function filterOf(
  mapping: Mapping,
  model: BoundModel,
  filters: readonly string[],
): string | undefined {
  const texts = filters.map((one) => checked(mapping, filterSql(one, model, mapping.models)));
  return texts.length > 1 ? texts.map((one) => `(${one})`).join(' and ') : texts[0];
}

function nameFrom(home: Target, { dataset, name }: Target): string {
  return dataset === home.dataset ? name : `${dataset}.${name}`;
}

function measureNamed({ models }: Mapping, name: string): { model: BoundModel; measure: Measure } {
  for (const model of models) {
    const measure = model.spec.measures.find((one) => one.name === name);
    if (measure !== undefined) return { model, measure };
  }
  throw new UnreadableMetric(
    `no semantic model with a table in the warehouse has the measure ${name}`,
  );
}

function hasMeasure(models: readonly BoundModel[], name: string): boolean {
  return models.some(({ spec }) => spec.measures.some((one) => one.name === name));
}

function modelNamed({ models }: Mapping, name: string): BoundModel {
  const model = models.find(({ spec }) => spec.name === name);
  if (model === undefined)
    throw new UnreadableMetric(`the semantic model ${name} has no table in the warehouse`);
  return model;
}

function modelOf({ models }: Mapping, { dataset }: Target): BoundModel {
  const model = models.find((one) => one.dataset === dataset);
  if (model === undefined) throw new Error(`${dataset} has no semantic model`);
  return model;
}

function period(text: string): string {
  const [, count, unit] =
    /^(\d+) ?(second|minute|hour|day|week|month|quarter|year)s?$/.exec(text) ?? [];
  if (count === undefined) throw new UnreadableMetric(`ktx cannot count in ${text}`);
  return `${count} ${unit}${count === '1' ? '' : 's'}`;
}

const grains = ['day', 'week', 'month', 'quarter', 'year'] as const;

function grainOf(text: string): (typeof grains)[number] {
  const grain = grains.find((one) => one === text);
  if (grain === undefined) throw new UnreadableMetric(`ktx cannot start anew each ${text}`);
  return grain;
}
