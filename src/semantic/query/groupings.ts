import { UserError } from '../../lib/error.ts';
import { type ModelDataset, type SemanticModel, type Step } from '../model/model.ts';
import { visibleMetrics } from '../model/visible-metrics.ts';
import { querySchema, type SemanticQuery } from './query.ts';

/** A field that metrics can be grouped by. */
interface Grouping {
  /** The shortest name that a query takes: `dataset.field`, or with the roles on the way. */
  readonly dimension: string;
  readonly type: string | undefined;
  readonly description: string | undefined;
  /** True if a row of the metric has several values and counts in the group of each. */
  readonly isToMany: boolean;
}

/** Plans a query; throws a `UserError` if it has no answer. */
type PlanQuery = (query: SemanticQuery) => {
  readonly receipt: { readonly metrics: readonly { readonly owners: readonly string[] }[] };
};

export interface TrialPlans {
  readonly tried: PlanQuery;
  /** Takes longer if it fails: its error names what would do. */
  readonly explained: PlanQuery;
}

interface FoundGroupings {
  readonly groupings: readonly Grouping[];
  /** A period that has to be among the dimensions too: of a running total, for example. */
  readonly needs: readonly string[];
  /** False if there are more fields than are tried. */
  readonly isComplete: boolean;
}

/** Further away than this, a field says little about the rows. */
const maxSteps = 4;
/** Fields that are tried at most. A hub of a large model reaches more than a person reads. */
const maxTriedFields = 2000;

interface GroupingSearch {
  readonly plans: TrialPlans;
  /** How many fields to find; all that are tried if undefined. */
  readonly most?: number;
}

/**
 * The fields that all of the metrics can be grouped by together, near ones first: those for which
 * the query can be planned. Throws what the metrics alone throw.
 */
export function findGroupings(
  model: SemanticModel,
  metrics: readonly string[],
  { plans, most = Infinity }: GroupingSearch,
): FoundGroupings {
  const { owner, needs } = findOwner(metrics, plans);
  const works = (dimension: string): boolean =>
    canPlan(plans.tried, {
      metrics: [...metrics],
      dimensions: [...new Set([...needs, dimension])],
    });
  const found = new Map<string, Grouping>();
  const start = model.datasets.get(owner ?? '');
  if (works('metric_time')) found.set('metric_time', metricTime(start));
  const reached = start === undefined ? [] : reachedBy(model, start);
  let left = maxTriedFields;
  for (const { names, ...candidate } of candidatesIn(model, reached)) {
    if (left === 0 || found.size >= most)
      return { groupings: [...found.values()], needs, isComplete: false };
    left -= 1;
    const dimension = names.find((name) => found.has(name) || works(name));
    if (dimension === undefined || found.has(dimension)) continue;
    found.set(dimension, { dimension, ...candidate });
  }
  return { groupings: [...found.values()], needs, isComplete: true };
}

/** The visible fields, and then the declared conformed dimensions, with how a query writes them. */
function* candidatesIn(
  model: SemanticModel,
  reached: readonly Reached[],
): Generator<Omit<Grouping, 'dimension'> & { readonly names: readonly string[] }> {
  for (const place of reached) {
    for (const [name, { type, description, hidden }] of place.dataset.fields) {
      if (hidden === true) continue;
      yield { names: spellingsOf(place, name), type, description, isToMany: place.isToMany };
    }
  }
  const byWay = new Map(reached.map((place) => [[place.start, ...place.roles].join('.'), place]));
  for (const { name: home, conformed } of model.datasets.values()) {
    for (const { name, fields, description } of conformed.values()) {
      const field = fields.find((path) => byWay.has(wayOf(path))) ?? '';
      const place = byWay.get(wayOf(field));
      if (place === undefined) continue;
      const type = place.dataset.fields.get(field.split('.').at(-1) ?? '')?.type;
      yield { names: [`${home}.${name}`], type, description, isToMany: place.isToMany };
    }
  }
}

/** `orders.buyer` of `orders.buyer.segment`. */
const wayOf = (field: string): string => field.split('.').slice(0, -1).join('.');

function metricTime(owner: ModelDataset | undefined): Grouping {
  const description = 'the default time of each metric';
  const type = owner?.fields.get(owner.defaultTime ?? '')?.type ?? 'date';
  return { dimension: 'metric_time', type, description, isToMany: false };
}

/** The dataset whose rows the first metric aggregates. */
function findOwner(metrics: readonly string[], { tried, explained }: TrialPlans) {
  const needs = [[], [period]].find((dimensions) =>
    canPlan(tried, { metrics: [...metrics], dimensions }),
  );
  const plan = needs === undefined ? explained : tried;
  const { receipt } = plan(querySchema.parse({ metrics, dimensions: needs }));
  return { owner: receipt.metrics.flatMap(({ owners }) => owners)[0], needs: needs ?? [] };
}

/** A running total needs a period among its dimensions. */
const period = 'metric_time.month';

/** The short name first; a row of the own table has only the long one. */
function spellingsOf({ dataset, start, roles }: Reached, field: string): readonly string[] {
  const long = [start, ...roles, field].join('.');
  return dataset.name === start && roles.length > 0 ? [long] : [`${dataset.name}.${field}`, long];
}

/**
 * The addresses of the metrics that can be grouped by all of the dimensions, where necessary with a
 * period; all metrics without dimensions. Throws what the dimensions alone throw if there is no
 * such metric.
 */
export function findMetricsBy(
  model: SemanticModel,
  dimensions: readonly string[],
  { tried, explained }: TrialPlans,
): readonly string[] {
  const { addresses } = visibleMetrics(model);
  if (dimensions.length === 0) return addresses;
  const names = addresses.filter((metric) =>
    [dimensions, [period, ...dimensions]].some((tries) =>
      canPlan(tried, { metrics: [metric], dimensions: [...tries] }),
    ),
  );
  if (names.length === 0) explained(querySchema.parse({ dimensions }));
  return names;
}

function canPlan(plan: PlanQuery, query: Partial<SemanticQuery>): boolean {
  try {
    plan(querySchema.parse(query));
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}

interface Reached {
  readonly dataset: ModelDataset;
  /** The name of the dataset that the way begins at, and the roles on it. */
  readonly start: string;
  readonly roles: readonly string[];
  /** True if one of the joins leads to several rows. */
  readonly isToMany: boolean;
}

/**
 * The dataset, and those that joins lead to, breadth first; of equal length, joins to one row
 * first. No dataset is twice on a way, except for a row of its own table (`employees.manager`).
 */
function reachedBy(model: SemanticModel, { name: start }: ModelDataset): readonly Reached[] {
  const reached: (Reached & { readonly passed: readonly string[] })[] = [];
  const first = model.datasets.get(start);
  if (first) reached.push({ dataset: first, start, roles: [], passed: [start], isToMany: false });
  for (const { dataset, roles, passed, isToMany } of reached) {
    if (roles.length === maxSteps || reached.length > maxTriedFields) continue;
    const isNew = ({ to }: Step): boolean =>
      !passed.includes(to) || (to === dataset.name && passed.at(-2) !== to);
    const add = ({ name, to }: Step, leadsToMany: boolean): void => {
      const next = model.datasets.get(to);
      const way = { start, roles: [...roles, name], passed: [...passed, to] };
      if (next) reached.push({ ...way, dataset: next, isToMany: isToMany || leadsToMany });
    };
    for (const step of dataset.toOne.filter(isNew)) add(step, false);
    for (const step of dataset.toMany.filter(isNew)) add(step, true);
  }
  return reached;
}
