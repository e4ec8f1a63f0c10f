import type { Dialect } from '../sql/dialect.ts';
import type { Fragment } from '../sql/expression.ts';
import type { FieldType } from '../sql/field-type.ts';
import type { Aggregate } from './dataset.ts';

/** The valid datasets of one connection, ready to plan. */
export interface SemanticModel {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  /** Datasets that were left out as invalid. */
  readonly excluded: ReadonlySet<string>;
}

export interface ModelDataset {
  readonly name: string;
  readonly file: string;
  readonly relation: Relation;
  /** Primary and unique keys, as lists of physical columns or field texts; see `columnIdentity`. */
  readonly keys: readonly (readonly string[])[];
  readonly defaultTime: string | undefined;
  readonly fields: ReadonlyMap<string, ModelField>;
  readonly segments: ReadonlyMap<string, Fragment>;
  readonly metrics: ReadonlyMap<string, ModelMetric>;
  readonly relationships: readonly ModelRelationship[];
  /** The hops that never multiply its rows. */
  readonly steps: readonly Step[];
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
  readonly dataset: string;
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
  readonly on: { readonly kind: 'columns'; readonly pairs: readonly { readonly own: string; readonly target: string }[] } | { readonly kind: 'condition'; readonly fragment: Fragment }; // prettier-ignore
}

/** One to-one hop: from the many side to the one side, or either way of a one_to_one. */
export interface Step {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly relationship: ModelRelationship;
  readonly reversed: boolean;
}

/** In any case: no two fields of a dataset differ by case alone. `quotedExactly`: a quoted name where the engine minds the case of those. */
export function fieldNamed(dataset: ModelDataset, name: string, quotedExactly = false): ModelField | undefined {
  const field = dataset.fields.get(name);
  if (field !== undefined || quotedExactly) return field;
  const folded = name.toLowerCase();
  return [...dataset.fields.values()].find((candidate) => candidate.name.toLowerCase() === folded);
}

export function isExact(dialect: Dialect, written: string | undefined): boolean {
  return written?.startsWith('"') === true && !dialect.ignoresCase;
}

/** The physical column that a field stands for, or the text of its expression; equal texts are one column. */
export function columnIdentity(dataset: ModelDataset, name: string): string {
  const field = fieldNamed(dataset, name);
  const written = field?.expr?.text.trim();
  if (written === undefined) return field?.name ?? name;
  return /^"(?:[^"]|"")+"$/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
}

/** As it is written in a query: `orders.revenue`. */
export function metricAddress({ dataset, name }: ModelMetric): string {
  return `${dataset}.${name}`;
}
