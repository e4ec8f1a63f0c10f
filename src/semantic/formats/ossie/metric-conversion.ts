import { z } from 'zod';
import type { Dialect } from '../../../sql/dialect.ts';
import type { AggregateCall, Fragment } from '../../../sql/fragment.ts';
import {
  type Dataset,
  datasetSchema,
  type ExpressionText,
  type MetricDefinition,
} from '../../model/dataset.ts';
import { isWithin } from '../../../sql/analyzer.ts';
import { toKtxName } from '../imported-model.ts';
import { dialectTags, type OssieMetric } from './schema.ts';
import { expressionIn, synonymsIn, synonymsOut, textIn, usedText } from './dataset-conversion.ts';
import { type Entry, without } from '../patch.ts';
import { fragmentIn, onlyAggregate, qualified, rewritten, unqualified } from '../sql-fragment.ts';

/** The datasets that are written or read together. */
export interface Together {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, Dataset>;
}

/** A metric with its dataset, and what computes it as a list of one, which patches take as a whole: a part of a formula means nothing alone. */
export const placedSchema = z.looseObject({
  name: z.string(),
  dataset: z.string(),
  definition: z.tuple([z.record(z.string(), z.unknown())]),
});
export type PlacedMetric = z.infer<typeof placedSchema>;

const metricSchema = datasetSchema.shape.metrics.unwrap().element;
const descriptive = ['name', 'unit', 'description', 'hidden', 'synonyms', 'extensions'];

export function placed(metric: MetricDefinition, dataset: string): PlacedMetric {
  const others = Object.fromEntries(
    descriptive.map((key) => [key, metric[key as keyof MetricDefinition]]),
  );
  return {
    name: metric.name,
    dataset,
    definition: [without(metric, ...descriptive)],
    ...without(others, 'name'),
  };
}

/** Undefined where it is no metric of ktx: a patch from outside may make anything. */
export function unplaced(metric: PlacedMetric): MetricDefinition | undefined {
  return metricSchema.safeParse({
    ...without(metric, 'dataset', 'definition'),
    ...metric.definition[0],
  }).data;
}

/** Undefined where Ossie would compute another number: running totals, offsets, balances, paths of roles. */
export function metricOut(metric: MetricDefinition, name: string, at: At): OssieMetric | undefined {
  const dialects = tagsOf(metric).flatMap(([key, dialect]) => {
    const expression = formula(metric, { ...at, key, where: [], stack: [] });
    return expression === undefined ? [] : [{ dialect, expression }];
  });
  if (dialects.length === 0) return undefined;
  const { description, synonyms } = metric;
  return {
    name,
    expression: { dialects },
    ...without({ description, ai_context: synonymsOut(synonyms) }),
  };

  function tagsOf({ of, expr, where }: MetricDefinition): readonly [string, string][] {
    const maps = [of, expr, where].flatMap((text) =>
      typeof text === 'object' ? Object.keys(text) : [],
    );
    const own = at.dialect.name in dialectTags ? at.dialect.name : 'default';
    const keys = maps.length === 0 ? [own] : [...new Set(maps)];
    return keys.flatMap((key): [string, string][] =>
      dialectTags[key] === undefined ? [] : [[key, dialectTags[key]]],
    );
  }
}

export interface At extends Together {
  readonly home: Dataset;
}

interface Writing extends At {
  /** Of the expression maps. */
  readonly key: string;
  /** Row filters of the metrics around. */
  readonly where: readonly string[];
  readonly stack: readonly string[];
}

function textFor(text: ExpressionText | undefined, { key }: Writing): string | undefined {
  return typeof text === 'object' ? (text[key] ?? text['default']) : text;
}

function formula(metric: MetricDefinition, at: Writing): string | undefined {
  const { agg, of, fraction, expr, where, ratio, ...others } = metric;
  if (Object.keys(without(others, ...descriptive)).length > 0 || at.stack.includes(metric.name))
    return undefined;
  const condition = where === undefined ? undefined : rowText(textFor(where, at), at, 'condition');
  if (where !== undefined && condition === undefined) return undefined;
  const inner = {
    ...at,
    where: condition === undefined ? at.where : [...at.where, condition],
    stack: [...at.stack, metric.name],
  };
  if (ratio !== undefined) {
    const [above, below] = [named(ratio.numerator, inner), named(ratio.denominator, inner)];
    return above === undefined || below === undefined
      ? undefined
      : `${above} / NULLIF(${below}, 0)`;
  }
  if (agg !== undefined) {
    const argument = of === undefined ? undefined : rowText(textFor(of, at), at);
    if (of !== undefined && argument === undefined) return undefined;
    return aggregate({ function: agg, argument, fraction }, inner);
  }
  const text = textFor(expr, at);
  const fragment = text === undefined ? undefined : fragmentIn(text, at.dialect);
  return fragment === undefined ? undefined : algebra(fragment, inner);
}

/** Aggregates with their names in full, other metrics written out. */
function algebra(fragment: Fragment, at: Writing): string | undefined {
  const outside = fragment.references.filter(
    (it) => !fragment.aggregates.some((call) => isWithin(it, call)),
  );
  const pieces = [
    ...fragment.aggregates.map((call) => [call, aggregateIn(fragment, call, at)] as const),
    ...outside.map((it) => [it, named(it.parts.join('.'), at)] as const),
  ];
  const known = pieces.flatMap(([span, sql]) => (sql === undefined ? [] : [[span, sql] as const]));
  return known.length < pieces.length ? undefined : rewritten(fragment.text, known);
}

function aggregateIn({ text }: Fragment, call: AggregateCall, at: Writing): string | undefined {
  const { argument: span, fraction } = call;
  const argument = span === undefined ? undefined : rowText(text.slice(span.start, span.end), at);
  return span !== undefined && argument === undefined
    ? undefined
    : aggregate({ function: call.function, argument, fraction }, at);
}

interface Aggregated {
  readonly function: AggregateCall['function'];
  readonly argument: string | undefined;
  readonly fraction: number | undefined;
}

function aggregate(
  { function: name, argument, fraction = 0.5 }: Aggregated,
  { where, home }: Writing,
): string | undefined {
  // Without a name of its dataset, count(*) would say nothing: a key is never NULL.
  const [key, ...more] = home.primary_key ?? [];
  const counted =
    argument ?? (key === undefined || more.length > 0 ? undefined : `${home.dataset}.${key}`);
  if (counted === undefined) return undefined;
  const value =
    where.length === 0
      ? counted
      : `CASE WHEN ${where.map((one) => `(${one})`).join(' AND ')} THEN ${counted} END`;
  if (name === 'count_distinct') return `COUNT(DISTINCT ${value})`;
  if (name === 'median' || name === 'percentile')
    return `PERCENTILE_CONT(${fraction}) WITHIN GROUP (ORDER BY ${value})`;
  return `${name.toUpperCase()}(${value})`;
}

/** Undefined also where it asks of many rows whether any fits: there, others would count a row once for each. */
function rowText(
  text: string | undefined,
  { dialect, datasets, home }: Writing,
  role?: 'condition',
): string | undefined {
  const fragment = text === undefined ? undefined : fragmentIn(text, dialect);
  if (fragment === undefined) return undefined;
  const names = fragment.references.map(({ parts }) =>
    parts.length === 1 ? home.dataset : (parts[0] ?? ''),
  );
  const owners = new Set(role === undefined ? names : [home.dataset, ...names]);
  const safe = toOneFrom(home, datasets);
  if (owners.size > 1 && (!owners.has(home.dataset) || !owners.isSubsetOf(safe))) return undefined;
  return qualified(fragment, home.dataset, datasets);
}

/** The datasets of which a row of this one has at most one, with itself. */
function toOneFrom(
  { dataset: start }: Dataset,
  datasets: Together['datasets'],
): ReadonlySet<string> {
  const hops = [...datasets.values()].flatMap(({ dataset: from, relationships = [] }) =>
    relationships.flatMap(({ to, cardinality, within: range }) => {
      if (cardinality === 'many_to_many' || range !== undefined) return [];
      return cardinality === 'one_to_one'
        ? [
            { from, to },
            { from: to, to: from },
          ]
        : [{ from, to }];
    }),
  );
  const reached = new Set([start]);
  for (const at of reached) for (const { from, to } of hops) if (from === at) reached.add(to);
  return reached;
}

/** Another metric, in parentheses. */
function named(name: string, at: Writing): string | undefined {
  const parts = name.split('.');
  const home = parts.length === 1 ? at.home : at.datasets.get(parts[0] ?? '');
  const metric = home?.metrics?.find((one) => one.name === parts.at(-1));
  if (home === undefined || metric === undefined || parts.length > 2) return undefined;
  const sql = formula(metric, { ...at, home });
  return sql && `(${sql})`;
}

/** In the dataset that it names first; undefined where ktx cannot use the expression, or it names none. */
export function metricIn(
  { name, expression, ...metric }: OssieMetric,
  { dialect, datasets }: Together,
): PlacedMetric | undefined {
  const expr = expressionIn(expression, dialect);
  const text = usedText(expr, dialect);
  const ranked =
    text === undefined
      ? undefined
      : /^PERCENTILE_CONT\(([\d.]+)\) WITHIN GROUP \(ORDER BY ([^]+)\)$/.exec(text);
  const fragment = ranked
    ? fragmentIn(`max(${ranked[2]})`, dialect)
    : text === undefined
      ? undefined
      : fragmentIn(text, dialect);
  if (fragment === undefined || fragment.aggregates.length === 0) return undefined;
  const owners = fragment.references.flatMap(({ parts: [first = '', ...rest] }) =>
    rest.length === 1 && datasets.has(first) ? [first] : [],
  );
  const [dataset = datasets.size === 1 ? [...datasets.keys()][0] : undefined] = owners;
  const isPath = fragment.references.some(
    ({ parts }) => parts.length > 1 && !datasets.has(parts[0] ?? ''),
  );
  if (dataset === undefined || isPath) return undefined;
  const others = without({
    description: textIn(metric['description']),
    synonyms: synonymsIn(metric['ai_context']),
  });
  const definition =
    typeof expr === 'string'
      ? definitionOf(fragment, { dialect, dataset, fraction: ranked?.[1] })
      : { expr };
  return { name: toKtxName(name), dataset, definition: [definition], ...others };
}

function definitionOf(
  fragment: Fragment,
  at: { dialect: Dialect; dataset: string; fraction: string | undefined },
): Entry {
  const call = onlyAggregate(fragment);
  const span = call?.argument;
  const argument = span && fragmentIn(fragment.text.slice(span.start, span.end), at.dialect);
  if (call === undefined || argument === undefined) return { expr: fragment.text };
  const of = unqualified(argument, at.dataset);
  if (at.fraction !== undefined) return { agg: 'percentile', of, fraction: Number(at.fraction) };
  return without({ agg: call.function, of, fraction: call.fraction });
}
