import type { Dialect } from '../../sql/dialect.ts';
import { allowedName, type ForeignMetric } from './foreign-model.ts';
import type { FlowDataset, FlowMetric, FlowModel, MetricInput } from './metricflow-schema.ts';
import { without } from './patch.ts';
import { fragmentIn, rewritten } from './written-sql.ts';

interface Flow {
  readonly models: readonly FlowDataset[];
  readonly dialect: Dialect;
  readonly note: (at: string, message: string) => void;
}

interface Reading extends Flow {
  /** The metrics of dbt by name. */
  readonly metrics: ReadonlyMap<string, FlowMetric>;
  /** What is made, by dataset and name; helpers are hidden. */
  readonly made: Map<string, Map<string, ForeignMetric>>;
}

type Measure = FlowModel['measures'][number];
type Rule = Omit<ForeignMetric, 'name'>;
type Filter = FlowMetric['filter'];

/** A metric cannot be read as what it is: it is left out, never read as something else. */
class Unreadable extends Error {}

/** Metrics by dataset, measures that only they use as hidden ones. */
export function readFlowMetrics(metrics: readonly FlowMetric[], flow: Flow): ReadonlyMap<string, readonly ForeignMetric[]> {
  const created = flow.models.flatMap(({ model }) => model.measures.filter((measure) => measure.create_metric === true)).map(simpleOf);
  const all = [...metrics, ...created.filter(({ name }) => !metrics.some((metric) => metric.name === name))];
  const reading: Reading = { ...flow, metrics: new Map(all.map((metric) => [metric.name, metric])), made: new Map() };
  for (const metric of all) attempt(reading, `metrics.${metric.name}`, () => place(reading, metric.name));
  const used = new Set(all.flatMap(({ type_params }) => [type_params.measure].flatMap((it) => (it ? [nameOf(it)] : []))));
  for (const { model } of flow.models) {
    for (const { name } of model.measures) {
      if (!used.has(name) && !all.some((metric) => metric.name === name))
        attempt(reading, `measures.${name}`, () => measureMetric(reading, name));
    }
  }
  return new Map([...reading.made].map(([dataset, named]) => [dataset, [...named.values()]]));
}

function simpleOf(measure: Measure): FlowMetric {
  return { name: measure.name, type: 'simple', description: measure.description, type_params: { measure: measure.name } };
}

function attempt(reading: Reading, at: string, run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    reading.note(at, `left out: ${error.message}`);
  }
}

/** Makes a metric of dbt, with those that it needs, and gives its address. */
function place(reading: Reading, name: string, stack: readonly string[] = []): string {
  const metric = reading.metrics.get(name);
  if (metric === undefined) throw new Unreadable(`there is no metric ${name}`);
  if (stack.includes(name)) throw new Unreadable(`it is made of itself: ${[...stack, name].join(' → ')}`);
  const { home, rule } = ruleOf(reading, metric, [...stack, name]);
  if (metric.label !== undefined && metric.label !== name) reading.note(`metrics.${name}`, 'label is not read');
  return make(reading, home, { name: allowedName(name), ...rule, ...without({ description: metric.description }) });
}

function make({ made }: Reading, home: FlowDataset, metric: ForeignMetric): string {
  const { dataset } = home.dataset;
  const own = made.get(dataset) ?? new Map<string, ForeignMetric>();
  made.set(dataset, own.set(metric.name, metric));
  return `${dataset}.${metric.name}`;
}

interface Placed {
  readonly home: FlowDataset;
  readonly rule: Rule;
}

function ruleOf(reading: Reading, metric: FlowMetric, stack: readonly string[]): Placed {
  const { type, type_params: params } = metric;
  const [measure] = [params.measure].flatMap((it) => it ?? []);
  if (type === 'simple' && measure !== undefined) {
    const { home, rule } = measureRule(reading, nameOf(measure));
    return { home, rule: { ...rule, ...whereOf(reading, home, [metric.filter, filterOf(measure)]) } };
  }
  if (type === 'cumulative' && measure !== undefined) {
    const { home, of } = helperFor(reading, measure, metric.filter);
    const { window, grain_to_date } = { ...params, ...params.cumulative_type_params };
    const period = typeof window === 'object' && window !== null ? `${window.count} ${window.granularity}` : (window ?? undefined);
    return {
      home,
      rule: { cumulative: without({ of, window: period, grain_to_date: grain_to_date ?? undefined }) as ForeignMetric['cumulative'] },
    };
  }
  if (type === 'ratio' && params.numerator && params.denominator) {
    const [numerator, denominator] = [params.numerator, params.denominator].map((it) => inputAddress(reading, it, { metric, stack }));
    const home = homeOf(reading, numerator ?? '');
    return {
      home,
      rule: { ratio: { numerator: numerator ?? '', denominator: denominator ?? '' }, ...whereOf(reading, home, [metric.filter]) },
    };
  }
  if (type === 'derived' && params.expr !== undefined && params.expr !== null) return derivedRule(reading, metric, stack);
  throw new Unreadable(`ktx has no ${type} metrics like this`);
}

function derivedRule(reading: Reading, metric: FlowMetric, stack: readonly string[]): Placed {
  const { expr, metrics } = metric.type_params;
  const addresses = new Map((metrics ?? []).map((it) => [aliasOf(it), inputAddress(reading, it, { metric, stack })]));
  const fragment = fragmentIn(String(expr), reading.dialect);
  if (fragment === undefined) throw new Unreadable(`ktx cannot use the expression ${String(expr)}`);
  const unknown = fragment.references.find(({ parts }) => !addresses.has(parts.join('.')));
  if (unknown !== undefined) throw new Unreadable(`${unknown.parts.join('.')} is none of its metrics`);
  const [first] = addresses.values();
  if (first === undefined) throw new Unreadable('it names no metrics');
  const home = homeOf(reading, first);
  const text = rewritten(fragment.text, fragment.references.map((it) => [it, addresses.get(it.parts.join('.')) ?? ''])); // prettier-ignore
  return { home, rule: { expr: text, ...whereOf(reading, home, [metric.filter]) } };
}

/** Of an input of a ratio or a formula; a hidden metric where it has a filter or an offset of its own. */
function inputAddress(reading: Reading, input: MetricInput, { metric, stack }: { metric: FlowMetric; stack: readonly string[] }): string {
  const name = nameOf(input);
  const base = reading.metrics.has(name) ? place(reading, name, stack) : measureMetric(reading, name);
  if (typeof input === 'string') return base;
  if (input.offset_to_grain !== undefined) throw new Unreadable('ktx has no offset to the start of a period');
  const home = homeOf(reading, base);
  const helper = allowedName(`${metric.name}_${aliasOf(input)}`);
  const filtered = input.filter
    ? make(reading, home, { name: helper, expr: base, hidden: true, ...whereOf(reading, home, [input.filter]) })
    : base;
  if (input.offset_window === undefined) return filtered;
  return make(reading, home, { name: `${helper}_before`, offset: { of: filtered, by: input.offset_window }, hidden: true });
}

function helperFor(reading: Reading, measure: MetricInput, filter: Filter): { readonly home: FlowDataset; readonly of: string } {
  const { home, rule } = measureRule(reading, nameOf(measure));
  const where = whereOf(reading, home, [filter, filterOf(measure)]);
  if (where.where === undefined) return { home, of: measureMetric(reading, nameOf(measure)) };
  const name = allowedName(`${nameOf(measure)}_${[...(reading.made.get(home.dataset.dataset)?.keys() ?? [])].length + 1}`);
  return { home, of: make(reading, home, { name, ...rule, ...where, hidden: true }) };
}

/** A measure as a hidden metric; a metric of dbt that has its name means it, or else stays apart. */
function measureMetric(reading: Reading, name: string): string {
  const { home, rule } = measureRule(reading, name);
  const taken = reading.metrics.has(name);
  return make(reading, home, { name: allowedName(taken ? `${name}_measure` : name), ...rule, hidden: true });
}

function homeOf(reading: Reading, address: string): FlowDataset {
  const home = reading.models.find(({ dataset }) => dataset.dataset === address.split('.')[0]);
  if (home === undefined) throw new Unreadable(`${address} belongs to no semantic model`);
  return home;
}

const aggregates: Readonly<Record<string, NonNullable<ForeignMetric['agg']>>> = {
  sum: 'sum', min: 'min', max: 'max', average: 'avg', avg: 'avg', count: 'count', count_distinct: 'count_distinct', median: 'median',
  percentile: 'percentile', sum_boolean: 'sum',
}; // prettier-ignore

function measureRule({ models, note }: Reading, name: string): Placed {
  const [home] = models.filter(({ model }) => model.measures.some((measure) => measure.name === name));
  const measure = home?.model.measures.find((one) => one.name === name);
  if (home === undefined || measure === undefined) throw new Unreadable(`there is no measure ${name}`);
  const agg = aggregates[measure.agg];
  if (agg === undefined) throw new Unreadable(`ktx has no aggregate ${measure.agg}`);
  const expr = measure.expr === undefined || measure.expr === null ? name : String(measure.expr);
  const of = measure.agg === 'sum_boolean' ? `case when ${expr} then 1 else 0 end` : expr;
  const { non_additive_dimension: balance, agg_time_dimension: time } = measure;
  if (time !== undefined && home.fieldOf.get(time) !== home.dataset.default_time) {
    note(`measures.${name}`, `metric_time means ${home.dataset.default_time ?? 'nothing'} for all of ${home.dataset.dataset}, not ${time}`);
  }
  // Whose values they are, one of each at a time, dbt leaves to the query; ktx has to know.
  if (balance) throw new Unreadable('a balance (non_additive_dimension): write it with semi_additive');
  const rule = without({
    agg,
    of: agg === 'count' && of === '1' ? undefined : of,
    fraction: agg === 'percentile' ? measure.agg_params?.percentile : undefined,
  });
  return { home, rule };
}

/** dbt's filters name dimensions by entities, in Jinja; one that cannot be read must not be dropped. */
function whereOf(reading: Reading, home: FlowDataset, filters: readonly Filter[]): Pick<Rule, 'where'> {
  const texts = filters.flatMap((one) => one ?? []).map((text) => filterText(reading, home, text));
  if (texts.length === 0) return {};
  return { where: texts.length === 1 ? `${texts[0]}` : texts.map((text) => `(${text})`).join(' and ') };
}

function filterText(reading: Reading, home: FlowDataset, filter: string): string {
  const text = filter.replaceAll(/\{\{\s*(?:Dimension|TimeDimension|Entity)\(\s*['"]([^'"]+)['"]\s*\)\s*\}\}/g, (_, name: string) =>
    pathOf(reading, home, name),
  );
  if (/[{}]/.test(text) || fragmentIn(text, reading.dialect) === undefined) throw new Unreadable(`ktx cannot use the filter ${filter}`);
  return text.trim();
}

/** `order__status` of the own entity is `status`; `customer__segment` of a foreign one is `orders.customer.segment`. */
function pathOf(reading: Reading, home: FlowDataset, name: string): string {
  const names = name.split('__');
  const field = names.at(-1) ?? '';
  const path: string[] = [];
  let at = home;
  for (const entity of names.slice(0, -1)) {
    const isOwn = at.model.primary_entity === entity || at.model.entities.some((one) => one.name === entity && one.type === 'primary');
    if (isOwn) continue;
    const step = at.dataset.relationships?.find(({ role }) => role === entity.toLowerCase());
    const next = reading.models.find(({ dataset }) => dataset.dataset === step?.to);
    if (step === undefined || next === undefined) throw new Unreadable(`${name} leads nowhere from ${home.dataset.dataset}`);
    path.push(step.role ?? step.to);
    at = next;
  }
  const found = at.fieldOf.get(field);
  if (found === undefined) throw new Unreadable(`${at.dataset.dataset} has no ${field}`);
  return path.length === 0 ? found : [home.dataset.dataset, ...path, found].join('.');
}

function nameOf(input: MetricInput): string {
  return typeof input === 'string' ? input : input.name;
}

function aliasOf(input: MetricInput): string {
  return typeof input === 'string' ? input : (input.alias ?? input.name);
}

function filterOf(input: MetricInput): Filter {
  return typeof input === 'string' ? undefined : input.filter;
}
