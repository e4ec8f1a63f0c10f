import type { MetricDefinition } from '../../../model/metric-definition.ts';
import { type BoundModel, dimensionField, entityField } from './bound-model.ts';
import { filterTemplateSql } from './filter-template.ts';
import { type MetricSpec, UnreadableMetric } from '../spec/metric-spec.ts';
import type { Measure } from '../spec/semantic-model-schema.ts';

export type MetricBody = Omit<MetricDefinition, 'name'>;

/** A MetricFlow metric as a metric of a dataset. */
export interface MappedMetric {
  readonly dataset: string;
  readonly name: string;
  readonly body: MetricBody;
  /** The MetricFlow metric that it is, or that it helps to compute. */
  readonly of: string;
  /** True for a hidden metric that another one needs. */
  readonly isHelper: boolean;
}

/** Why the SQL cannot be used; undefined if it can. `isKnown` tells which names it may use. */
export type FindSqlFault = (sql: string, isKnown: (name: string) => boolean) => string | undefined;

/** The state of one mapping. */
export interface MetricMapping {
  readonly models: readonly BoundModel[];
  readonly findSqlFault: FindSqlFault;
  /** True if the semantic layer will have the time spine of the project. */
  readonly hasTimeSpine: boolean;
  readonly specs: ReadonlyMap<string, MetricSpec>;
  /** The metrics mapped so far, by the name of their spec. */
  readonly mapped: Map<string, MappedMetric>;
  readonly helpers: MappedMetric[];
}

/** The body of a metric and the model whose rows it aggregates. */
export interface ModelBody {
  readonly model: BoundModel;
  readonly body: MetricBody;
}

/** The SQL itself; throws `UnreadableMetric` if it cannot be used. */
export function requireUsableSql(
  { findSqlFault }: MetricMapping,
  sql: string,
  isKnown: (name: string) => boolean = () => true,
): string {
  const fault = findSqlFault(sql, isKnown);
  if (fault !== undefined) throw new UnreadableMetric(fault);
  return sql;
}

/** The filter templates as one row filter of the model's dataset; undefined if there are none. */
export function combineFilters(
  mapping: MetricMapping,
  model: BoundModel,
  templates: readonly string[],
): string | undefined {
  const conditions = templates.map((template) =>
    requireUsableSql(mapping, filterTemplateSql(template, model, mapping.models)),
  );
  return conditions.length > 1
    ? conditions.map((condition) => `(${condition})`).join(' and ')
    : conditions[0];
}

/** The field of an entity or a dimension, named `customer` or `order__customer`. */
export function requireField(model: BoundModel, path: string): string {
  const memberName = path.split('__').at(-1) ?? path;
  const entity = model.spec.entities.find(({ name }) => name === memberName);
  const dimension = model.spec.dimensions.find(({ name }) => name === memberName);
  const field =
    (entity && entityField(model, entity)) ?? (dimension && dimensionField(model, dimension)?.name);
  if (field === undefined)
    throw new UnreadableMetric(`${memberName} is no field of ${model.dataset}`);
  return field;
}

export function findMeasure(
  models: readonly BoundModel[],
  measureName: string,
): { readonly model: BoundModel; readonly measure: Measure } | undefined {
  for (const model of models) {
    const measure = model.spec.measures.find(({ name }) => name === measureName);
    if (measure !== undefined) return { model, measure };
  }
  return undefined;
}
