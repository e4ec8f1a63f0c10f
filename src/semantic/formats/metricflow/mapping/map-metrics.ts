import { UserError } from '../../../../lib/error.ts';
import { reservedWords } from '../../../../sql/scalar-functions.ts';
import { tokenize } from '../../../../sql/tokens.ts';
import type { BoundModel } from './bound-model.ts';
import {
  checkTimeFilters,
  cumulativeOverSpine,
  joinToTimeSpine,
  notesWithoutSpine,
  offsetBody,
} from './map-time-spine.ts';
import { parsePeriod } from './parse-period.ts';
import { mapSimple } from './map-simple.ts';
import {
  combineFilters,
  findMeasure,
  type MappedMetric,
  type MetricBody,
  type MetricMapping,
  type ModelBody,
  requireField,
  requireUsableSql,
} from './metric-mapping.ts';
import {
  type MetricInput,
  metricOfMeasure,
  type MetricShape,
  type MetricSpec,
  UnreadableMetric,
} from '../spec/metric-spec.ts';

interface MappedMetrics {
  readonly metrics: readonly MappedMetric[];
  /** Metrics that cannot be mapped, by name, with the reason. */
  readonly misfits: readonly { readonly name: string; readonly reason: string }[];
  /** Mapped metrics that can differ from MetricFlow, by name. */
  readonly notes: readonly { readonly name: string; readonly note: string }[];
}

/**
 * Maps the metrics that the datasets can hold, in the order of `specs`. Each goes into the dataset
 * whose rows it aggregates: the dataset of the first metric or measure that it names. A metric
 * input with a filter or an offset becomes a hidden helper metric.
 */
export function mapMetrics(
  models: readonly BoundModel[],
  specs: readonly MetricSpec[],
  {
    findSqlFault = () => undefined,
    hasTimeSpine = false,
  }: Partial<Pick<MetricMapping, 'findSqlFault' | 'hasTimeSpine'>> = {},
): MappedMetrics {
  const all = [...specs, ...metricsCreatedByMeasures(models, specs)];
  const mapping: MetricMapping = {
    models,
    findSqlFault,
    hasTimeSpine,
    specs: new Map(all.map((spec) => [spec.name, spec])),
    mapped: new Map(),
    helpers: [],
  };
  const misfits = all.flatMap(({ name }) => {
    try {
      mapByName(mapping, name, []);
      return [];
    } catch (error) {
      if (error instanceof UnreadableMetric || error instanceof UserError)
        return [{ name, reason: error.message }];
      throw error;
    }
  });
  const usedHelpers = mapping.helpers.filter(({ of }) => mapping.mapped.has(of));
  const notes = hasTimeSpine
    ? []
    : all.filter(({ name }) => mapping.mapped.has(name)).flatMap(notesWithoutSpine);
  return { metrics: [...mapping.mapped.values(), ...usedHelpers], misfits, notes };
}

/** Metrics for the measures with `create_metric: true`. */
function metricsCreatedByMeasures(
  models: readonly BoundModel[],
  specs: readonly MetricSpec[],
): readonly MetricSpec[] {
  const declared = new Set(specs.map(({ name }) => name));
  return models
    .flatMap(({ spec }) => spec.measures)
    .filter(({ name, create_metric }) => create_metric === true && !declared.has(name))
    .map(({ name, label, description }) => ({ ...metricOfMeasure(name), label, description }));
}

/** `stack`: names of the metrics that are being mapped because they need this one. */
function mapByName(mapping: MetricMapping, name: string, stack: readonly string[]): MappedMetric {
  const existing = mapping.mapped.get(name);
  if (existing !== undefined) return existing;
  const spec = mapping.specs.get(name);
  if (spec === undefined) throw new UnreadableMetric(`there is no metric ${name}`);
  if (stack.includes(name))
    throw new UnreadableMetric(`it is made of itself: ${[...stack, name].join(' → ')}`);
  checkTimeFilters(mapping, spec);
  const { model, body } = mapShape(mapping, spec, [...stack, name]);
  const where =
    spec.shape.kind === 'simple' ? body.where : combineFilters(mapping, model, spec.filters);
  const metric = {
    dataset: model.dataset,
    name,
    body: {
      ...body,
      ...(where === undefined ? {} : { where }),
      ...(spec.shape.kind === 'simple' && spec.fillNullsWith !== undefined
        ? { default: spec.fillNullsWith }
        : {}),
      ...(spec.shape.kind === 'simple' ? joinToTimeSpine(mapping, spec) : {}),
      ...(spec.isPrivate ? { hidden: true } : {}),
    },
    of: name,
    isHelper: false,
  };
  mapping.mapped.set(name, metric);
  return metric;
}

function mapShape(mapping: MetricMapping, spec: MetricSpec, stack: readonly string[]): ModelBody {
  const { shape } = spec;
  switch (shape.kind) {
    case 'simple':
      return mapSimple(mapping, shape.measure, spec.filters);
    case 'ratio':
      return mapRatio(mapping, shape, stack);
    case 'derived':
      return mapDerived(mapping, shape, stack);
    case 'cumulative':
      return mapCumulative(mapping, { ...shape, grain: spec.timeGranularity }, stack);
    case 'conversion':
      return mapConversion(mapping, shape, stack);
  }
  return shape satisfies never;
}

function mapRatio(
  mapping: MetricMapping,
  shape: Extract<MetricShape, { kind: 'ratio' }>,
  stack: readonly string[],
): ModelBody {
  const numerator = mapInput(mapping, shape.numerator, stack);
  const denominator = mapInput(mapping, shape.denominator, stack);
  return {
    model: modelOf(mapping, numerator),
    body: {
      ratio: { numerator: numerator.name, denominator: addressFrom(numerator, denominator) },
    },
  };
}

function mapDerived(
  mapping: MetricMapping,
  { expr, inputs }: Extract<MetricShape, { kind: 'derived' }>,
  stack: readonly string[],
): ModelBody {
  const [first, ...others] = inputs;
  if (first === undefined) throw new UnreadableMetric('it names no metric that it is made of');
  const isOnlyInput = others.length === 0 && expr.trim() === (first.alias ?? first.name);
  if ((first.offsetWindow ?? first.offsetToGrain) !== undefined && isOnlyInput) {
    const unshifted = { ...first, offsetWindow: undefined, offsetToGrain: undefined };
    const of = mapInput(mapping, unshifted, stack);
    return {
      model: modelOf(mapping, of),
      body: { offset: { of: of.name, ...offsetBody(mapping, first) } },
    };
  }
  const home = mapInput(mapping, first, stack);
  const targets = [home, ...others.map((input) => mapInput(mapping, input, stack))];
  const addresses = new Map(
    targets.map((target, index) => {
      const alias = inputs[index]?.alias ?? inputs[index]?.name ?? '';
      return [alias.toLowerCase(), derivedAddress(home, target)];
    }),
  );
  const sql = requireUsableSql(mapping, expr.trim(), (name) => addresses.has(name.toLowerCase()));
  return { model: modelOf(mapping, home), body: { expr: replaceNames(sql, addresses) } };
}

/** A reserved word is a name only after the name of its dataset. */
function derivedAddress(home: MetricAddress, target: MetricAddress): string {
  return reservedWords.has(target.name.toLowerCase())
    ? `${target.dataset}.${target.name}`
    : addressFrom(home, target);
}

function replaceNames(sql: string, replacements: ReadonlyMap<string, string>): string {
  let result = sql;
  // From the end, so that the positions of earlier tokens stay valid.
  for (const token of tokenize(sql).toReversed()) {
    const name = token.kind === 'word' ? replacements.get(token.text) : undefined;
    if (name !== undefined) result = result.slice(0, token.start) + name + result.slice(token.end);
  }
  return result;
}

function mapCumulative(
  mapping: MetricMapping,
  shape: Extract<MetricShape, { kind: 'cumulative' }> & { readonly grain: string | undefined },
  stack: readonly string[],
): ModelBody {
  const overSpine = cumulativeOverSpine(mapping, shape);
  const of = mapInput(mapping, shape.of, stack);
  const { window, grainToDate } = shape;
  return {
    model: modelOf(mapping, of),
    body: {
      cumulative: {
        of: of.name,
        ...(window !== undefined && { window: parsePeriod(window) }),
        ...(grainToDate !== undefined && { grain_to_date: parseGrainToDate(grainToDate) }),
        ...overSpine.cumulative,
      },
      ...overSpine.body,
    },
  };
}

function mapConversion(
  mapping: MetricMapping,
  shape: Extract<MetricShape, { kind: 'conversion' }>,
  stack: readonly string[],
): ModelBody {
  const { entity, constants, calculation, window } = shape;
  const base = mapInput(mapping, shape.base, stack);
  const conversion = mapInput(mapping, shape.conversion, stack);
  const joining = [...mapping.mapped.values(), ...mapping.helpers].find(
    ({ dataset, name, body }) =>
      body.join_to_timespine === true &&
      [base, conversion].some((used) => used.dataset === dataset && used.name === name),
  );
  if (joining !== undefined)
    throw new UnreadableMetric('ktx has no conversion of metrics with join_to_timespine');
  const [baseModel, conversionModel] = [modelOf(mapping, base), modelOf(mapping, conversion)];
  const matched = [[entity, entity] as const, ...constants];
  const on = Object.fromEntries(
    matched.map(([baseMember, conversionMember]) => [
      requireField(baseModel, baseMember),
      requireField(conversionModel, conversionMember),
    ]),
  );
  if (calculation !== 'conversion_rate' && calculation !== 'conversions')
    throw new UnreadableMetric(`ktx has no equivalent for calculation: ${calculation}`);
  return {
    model: baseModel,
    body: {
      conversion: {
        base: base.name,
        to: addressFrom(base, conversion),
        on,
        ...(window !== undefined && { window: parsePeriod(window) }),
        calculation,
      },
    },
  };
}

/** The dataset of a mapped metric, and its name there. */
type MetricAddress = Pick<MappedMetric, 'dataset' | 'name'>;

/**
 * Maps the metric that an input names. An input with a filter or an offset becomes a hidden helper
 * metric.
 */
function mapInput(
  mapping: MetricMapping,
  input: MetricInput,
  stack: readonly string[],
): MetricAddress {
  const { name, alias, filters, offsetWindow, offsetToGrain } = input;
  const metric = stack.at(-1) ?? name;
  const isOffset = (offsetWindow ?? offsetToGrain) !== undefined;
  const isMeasure =
    input.isMeasure ||
    (!mapping.specs.has(name) && findMeasure(mapping.models, name) !== undefined);
  let target: MetricAddress = isMeasure
    ? mapMeasureInput(mapping, input, metric)
    : mapByName(mapping, name, stack);
  const addHelper = (suffix: string, body: MetricBody): MetricAddress =>
    addHelperMetric(mapping, metric, {
      dataset: target.dataset,
      name: `${metric}__${alias ?? name}${suffix}`,
      body,
    });
  const where = isMeasure ? undefined : combineFilters(mapping, modelOf(mapping, target), filters);
  if (where !== undefined)
    target = addHelper(isOffset ? '__filtered' : '', {
      expr: target.name,
      where,
    });
  return isOffset
    ? addHelper('', { offset: { of: target.name, ...offsetBody(mapping, input) } })
    : target;
}

/**
 * The declared simple metric over this measure with the same filters, else a hidden helper metric.
 */
function mapMeasureInput(
  mapping: MetricMapping,
  input: MetricInput,
  metric: string,
): MetricAddress {
  const isSameMetric = ({ shape, filters, fillNullsWith, joinsTimeSpine }: MetricSpec) =>
    shape.kind === 'simple' &&
    !('agg' in shape.measure) &&
    shape.measure.name === input.name &&
    fillNullsWith === input.fillNullsWith &&
    joinsTimeSpine === input.joinsTimeSpine &&
    [...shape.measure.filters, ...filters].join('\n') === input.filters.join('\n');
  const declared = [...mapping.specs.values()].find(isSameMetric);
  if (declared !== undefined) return mapByName(mapping, declared.name, []);
  const { model, body } = mapSimple(mapping, input, []);
  return addHelperMetric(mapping, metric, {
    dataset: model.dataset,
    name: `${metric}__${input.name}`,
    body: {
      ...body,
      ...(input.fillNullsWith === undefined ? {} : { default: input.fillNullsWith }),
      ...joinToTimeSpine(mapping, input),
    },
  });
}

function addHelperMetric(
  mapping: MetricMapping,
  metric: string,
  helper: Pick<MappedMetric, 'dataset' | 'name' | 'body'>,
): MetricAddress {
  const body = { ...helper.body, hidden: true };
  mapping.helpers.push({ ...helper, body, of: metric, isHelper: true });
  return helper;
}

/** How a metric of the dataset of `home` refers to `target`. */
function addressFrom(home: MetricAddress, { dataset, name }: MetricAddress): string {
  return dataset === home.dataset ? name : `${dataset}.${name}`;
}

function modelOf({ models }: MetricMapping, { dataset }: MetricAddress): BoundModel {
  const model = models.find((candidate) => candidate.dataset === dataset);
  if (model === undefined) throw new Error(`${dataset} has no semantic model`);
  return model;
}

const grainsToDate = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

function parseGrainToDate(text: string): (typeof grainsToDate)[number] {
  const grain = grainsToDate.find((candidate) => candidate === text);
  if (grain === undefined)
    throw new UnreadableMetric(`ktx has no equivalent for grain_to_date: ${text}`);
  return grain;
}
