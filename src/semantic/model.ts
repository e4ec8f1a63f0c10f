import type { Dialect } from '../sql/dialect.ts';
import type { Fragment } from '../sql/expression.ts';
import type { FieldType } from '../sql/field-type.ts';
import type { Aggregate } from './dataset.ts';

/** The valid datasets of one connection, ready to plan. */
export interface SemanticModel {
  readonly connection: string;
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  /** Metrics of `semantic-layer/<connection>.yaml`, by name. */
  readonly spanning: ReadonlyMap<string, ModelMetric>;
  /** Datasets that were left out as invalid. */
  readonly excluded: ReadonlySet<string>;
}

export interface ModelDataset {
  readonly name: string;
  readonly file: string;
  readonly relation: Relation;
  readonly description: string | undefined;
  readonly synonyms: readonly string[];
  /** Primary and unique keys, as lists of physical columns or field texts; see `columnIdentity`. */
  readonly keys: readonly (readonly string[])[];
  readonly defaultTime: string | undefined;
  readonly fields: ReadonlyMap<string, ModelField>;
  readonly segments: ReadonlyMap<string, Fragment>;
  readonly metrics: ReadonlyMap<string, ModelMetric>;
  readonly relationships: readonly ModelRelationship[];
  /** Relationships of others that lead here. */
  readonly incoming: readonly ModelRelationship[];
}

export type Relation = { readonly kind: 'table'; readonly parts: readonly string[] } | { readonly kind: 'query'; readonly sql: string };

export interface ModelField {
  readonly name: string;
  readonly type: FieldType | undefined;
  /** Undefined: the column of the same name. */
  readonly expr: Fragment | undefined;
  readonly hidden: boolean;
  readonly description: string | undefined;
}

export interface ModelMetric {
  readonly name: string;
  /** Undefined for a metric that spans datasets. */
  readonly dataset: string | undefined;
  readonly file: string;
  readonly hidden: boolean;
  readonly unit: string | undefined;
  readonly description: string | undefined;
  readonly where: Fragment | undefined;
  readonly definition: MetricRule;
}

export type MetricRule =
  | { readonly kind: 'aggregate'; readonly function: Aggregate; readonly of: Fragment | undefined; readonly fraction: number | undefined } // prettier-ignore
  | { readonly kind: 'expression'; readonly fragment: Fragment }
  | { readonly kind: 'ratio'; readonly numerator: string; readonly denominator: string }
  | { readonly kind: 'unsupported'; readonly feature: 'cumulative' | 'offset' | 'semi_additive' };

export interface ModelRelationship {
  readonly from: string;
  readonly to: string;
  /** Its role, else the target's name. */
  readonly name: string;
  readonly cardinality: 'many_to_one' | 'one_to_one' | 'many_to_many';
  readonly on: { readonly kind: 'columns'; readonly pairs: readonly ColumnPair[] } | { readonly kind: 'condition'; readonly fragment: Fragment }; // prettier-ignore
}

export interface ColumnPair {
  readonly own: string;
  readonly target: string;
}

/** The physical column that a field stands for, or the text of its expression; equal texts are one column. */
export function columnIdentity(dataset: ModelDataset, name: string): string {
  const written = dataset.fields.get(name)?.expr?.text.trim();
  if (written === undefined) return name;
  return /^"(?:[^"]|"")+"$/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
}

/** `orders.revenue`, or the bare name of a metric that spans datasets. */
export function metricAddress(metric: ModelMetric): string {
  return metric.dataset === undefined ? metric.name : `${metric.dataset}.${metric.name}`;
}
