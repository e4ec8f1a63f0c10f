import { canonicalJson, isRecord } from '../../../../lib/json.ts';
import type { Fragment } from '../../../../sql/fragment.ts';
import type { AggregateCall } from '../../../../sql/aggregate-calls.ts';
import type { Dataset } from '../../../model/dataset.ts';
import type { MetricDefinition } from '../../../model/metric-definition.ts';
import { isWithin } from '../../../../sql/analyzer.ts';
import { omitKeys, type PlainObject } from '../../patch.ts';
import {
  type DatasetExport,
  filterTemplate,
  findExportFault,
  parseForDialect,
  replaceReferences,
} from './dbt-sql.ts';
import { NotInDbt } from './not-in-dbt.ts';
import { type DbtMeasures, writeSimple } from './write-simple.ts';

/** The measures and metrics written so far. */
export interface DbtOutput {
  readonly measures: DbtMeasures;
  readonly metrics: Map<string, PlainObject>;
}

interface MetricWriteContext extends DatasetExport {
  readonly output: DbtOutput;
  /**
   * Names of the metrics that are being written because they need this one; the last is the metric
   * itself.
   */
  readonly stack: readonly string[];
}

/** Writes a metric and the metrics that it uses. Returns its name in dbt. Throws `NotInDbt`. */
export function writeMetric(metric: MetricDefinition, context: MetricWriteContext): string {
  const { names, output, stack } = context;
  const name = names.metrics.get(metric) ?? metric.name;
  if (output.metrics.has(name)) return name;
  if (stack.includes(name))
    throw new NotInDbt(`it is made of itself: ${[...stack, name].join(' → ')}`);
  const computation = writeComputation(metric, { ...context, stack: [...stack, name] });
  output.metrics.set(name, {
    name,
    ...omitKeys({ description: metric.description }),
    ...computation,
    ...(metric.hidden === true && { config: { meta: { ktx: { hidden: true } } } }),
  });
  return name;
}

function ownName({ stack }: MetricWriteContext): string {
  return stack.at(-1) ?? '';
}

/** The keys `type`, `type_params` and `filter` of a dbt metric. */
function writeComputation(metric: MetricDefinition, context: MetricWriteContext): PlainObject {
  const { ratio, offset, cumulative, conversion, expr, of, where } = metric;
  for (const text of [expr, of, where]) {
    const fault = findExportFault(text, context);
    if (fault !== undefined) throw new NotInDbt(fault);
  }
  if (metric.agg !== undefined)
    return writeSimple(metric, ownName(context), { ...context, measures: context.output.measures });
  if (ratio !== undefined) return writeRatio(ratio, where, context);
  if (offset !== undefined)
    return { ...writeOffset(offset, context), ...writeFilter(where, context) };
  if (cumulative !== undefined)
    return {
      ...writeCumulative(cumulative, context),
      ...omitKeys({ time_granularity: metric.time_granularity }),
      ...writeFilter(where, context),
    };
  if (conversion !== undefined) return writeConversion(conversion, context);
  const fragment = expr === undefined ? undefined : parseForDialect(expr, context);
  if (fragment !== undefined)
    return { ...writeDerived(fragment, context), ...writeFilter(where, context) };
  throw new NotInDbt(
    metric.total === undefined
      ? 'dbt has no equivalent for this metric'
      : 'dbt has no totals over all groups',
  );
}

function writeFilter(where: MetricDefinition['where'], context: MetricWriteContext): PlainObject {
  if (where === undefined) return {};
  const filter = filterTemplate(where, context);
  if (filter === undefined) throw new NotInDbt('dbt cannot express its filter');
  return { filter };
}

function writeRatio(
  ratio: NonNullable<MetricDefinition['ratio']>,
  where: MetricDefinition['where'],
  context: MetricWriteContext,
): PlainObject {
  const numerator = writeInput(ratio.numerator, context);
  const denominator = writeInput(ratio.denominator, context);
  const filter = writeFilter(where, context);
  return { type: 'ratio', ...filter, type_params: { numerator, denominator } };
}

function writeOffset(
  { of, by, to_grain: grain, over_time_spine }: NonNullable<MetricDefinition['offset']>,
  context: MetricWriteContext,
): PlainObject {
  checkTimeSpine(over_time_spine === true, context);
  const name = writeInput(of, context);
  return {
    type: 'derived',
    type_params: {
      expr: name,
      metrics: [{ name, ...omitKeys({ offset_window: by, offset_to_grain: grain }) }],
    },
  };
}

function writeCumulative(
  { of, over_time_spine, ...window }: NonNullable<MetricDefinition['cumulative']>,
  context: MetricWriteContext,
): PlainObject {
  checkTimeSpine(over_time_spine === true, context);
  if (window.grain_to_date?.startsWith('fiscal_') === true)
    throw new NotInDbt('dbt has no fiscal periods of its own');
  return {
    type: 'cumulative',
    type_params: { measure: writeMeasureInput(of, context), cumulative_type_params: window },
  };
}

/** Throws if dbt would show other periods: beside a time spine, it always reads the spine. */
function checkTimeSpine(isOverSpine: boolean, { datasets }: MetricWriteContext): void {
  const hasSpine = [...datasets.values()].some(({ time_spine }) => time_spine !== undefined);
  if (hasSpine === isOverSpine) return;
  throw new NotInDbt(
    hasSpine
      ? 'dbt would read the time spine, and it does not: add over_time_spine: true'
      : 'no exported dataset is a time spine',
  );
}

function writeConversion(
  { base, to, on, window, calculation }: NonNullable<MetricDefinition['conversion']>,
  context: MetricWriteContext,
): PlainObject {
  const { entities } = context.names;
  const baseEntities = entities.get(requireMetric(base, context).dataset.dataset) ?? [];
  const targetEntities = entities.get(requireMetric(to, context).dataset.dataset) ?? [];
  const [pair, ...more] = Object.entries(on);
  const shared = baseEntities.find(
    ({ name, field }) =>
      field === pair?.[0] &&
      targetEntities.some((entity) => entity.name === name && entity.field === pair[1]),
  );
  if (shared === undefined || more.length > 0)
    throw new NotInDbt('dbt matches the two events by one entity that both have');
  const params = {
    entity: shared.name,
    calculation,
    base_measure: writeMeasureInput(base, context),
    conversion_measure: writeMeasureInput(to, context),
    window,
  };
  return { type: 'conversion', type_params: { conversion_type_params: omitKeys(params) } };
}

/** A formula over metrics. An aggregate in it becomes a metric of its own. */
function writeDerived(fragment: Fragment, context: MetricWriteContext): PlainObject {
  const calls = fragment.aggregates.map((call, index) => ({
    call,
    name: writeAggregateCall(fragment, call, {
      ...context,
      stack: [...context.stack, `${ownName(context)}_${index + 1}`],
    }),
  }));
  const isOutsideCalls = (span: { start: number; end: number }) =>
    !calls.some(({ call }) => isWithin(span, call));
  const metricReferences = fragment.references.filter(isOutsideCalls);
  const nameAt = new Map<number, string>();
  for (const reference of metricReferences)
    nameAt.set(reference.start, writeInput(reference.parts.join('.'), context));
  for (const { call, name } of calls) nameAt.set(call.start, name);
  const callReferences = calls.map(({ call: { start, end } }) => ({
    start,
    end,
    parts: [],
    written: '',
  }));
  const formula = {
    ...fragment,
    references: [...metricReferences, ...callReferences],
    divisions: fragment.divisions.filter(isOutsideCalls),
  };
  const expr = replaceReferences(formula, ({ start }) => nameAt.get(start));
  const metrics = [...new Set(nameAt.values())].map((name) => ({ name }));
  return { type: 'derived', type_params: { expr, metrics } };
}

/**
 * Writes the aggregate as a simple metric and returns its name: an existing one that computes the
 * same, or a new one.
 */
function writeAggregateCall(
  { text }: Fragment,
  call: AggregateCall,
  context: MetricWriteContext,
): string {
  const name = ownName(context);
  const of = call.argument && text.slice(call.argument.start, call.argument.end);
  const simple = writeSimple({ name, agg: call.function, of, fraction: call.fraction }, name, {
    ...context,
    measures: context.output.measures,
  });
  const { metrics } = context.output;
  const existing = [...metrics].find(
    ([, metric]) =>
      canonicalJson(omitKeys(metric, 'name', 'description')) === canonicalJson(simple),
  );
  if (existing !== undefined) return existing[0];
  metrics.set(name, { name, ...simple });
  return name;
}

/** Writes the metric at this address (`revenue`, `orders.revenue`) and returns its name in dbt. */
function writeInput(address: string, context: MetricWriteContext): string {
  const { dataset, metric } = requireMetric(address, context);
  return writeMetric(metric, { ...context, home: dataset });
}

function requireMetric(
  address: string,
  { home, datasets }: MetricWriteContext,
): { readonly dataset: Dataset; readonly metric: MetricDefinition } {
  const [first = '', ...rest] = address.split('.');
  const dataset = rest.length === 0 ? home : datasets.get(first);
  const metric = dataset?.metrics?.find(({ name }) => name === (rest[0] ?? first));
  if (dataset === undefined || metric === undefined || rest.length > 1)
    throw new NotInDbt(`${address} is not exported`);
  return { dataset, metric };
}

/** The measure of the simple metric at this address, with its filter. */
function writeMeasureInput(address: string, context: MetricWriteContext): PlainObject {
  const metric = context.output.metrics.get(writeInput(address, context));
  const params = metric?.['type_params'] as PlainObject | undefined;
  const measure = metric?.['type'] === 'simple' ? params?.['measure'] : undefined;
  if (measure === undefined)
    throw new NotInDbt(`dbt does this to simple metrics only, not to ${address}`);
  const input = isRecord(measure) ? measure : { name: measure };
  return { ...input, ...omitKeys({ filter: metric?.['filter'] }) };
}
