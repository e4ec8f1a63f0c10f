import type { Aggregate } from '../../sql/aggregates.ts';
import type { Dialect, Period, TimeGrain } from '../../sql/dialect.ts';
import type { Fragment } from '../../sql/fragment.ts';
import type { ReadableRows, Relation } from '../relational/query-tree.ts';
import type { Dataset, DatasetLayer, ParameterDefinition } from './dataset.ts';
import type { MetricDefinition } from './metric-definition.ts';
import type { Grain } from './grains.ts';

/** The valid datasets of one connection, with all SQL parsed and all relationships linked. */
export interface SemanticModel {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  /** Names of the datasets that were left out because their files have errors. */
  readonly excluded: ReadonlySet<string>;
  /** True if any dataset file declares row rules, even one with errors. */
  readonly hasRules: boolean;
  /** The role that queries the model; `modelForRole` sets it. */
  readonly role?: string | undefined;
}

export interface ModelDataset {
  readonly name: string;
  /** Path of its YAML file, as errors show it. */
  readonly file: string;
  readonly relation: Relation;
  /** What a query reads: the relation, or its rows that the role may see. */
  readonly rows: ReadableRows;
  /** Row rules; undefined if everyone sees every row. */
  readonly access: readonly AccessRule[] | undefined;
  /** Primary and unique keys as lists of column identities; see `columnIdentity`. */
  readonly keys: readonly (readonly string[])[];
  readonly defaultTime: string | undefined;
  /** True if only names of columns suggest `defaultTime`. */
  readonly isTimeUnreviewed: boolean;
  /** Set if the dataset has one row for each period. */
  readonly timeSpine: Dataset['time_spine'];
  /** Where in a transformation it stands; undefined if its file does not say. */
  readonly layer: DatasetLayer | undefined;
  /** What one row is; in queries it stands for the dataset, as a role does elsewhere. */
  readonly entity: string | undefined;
  /** Time field of the partition, if the rows are repeated in each partition. */
  readonly partition: string | undefined;
  /** First month of fiscal years, 1 to 12. */
  readonly fiscalYearStart: number | undefined;
  readonly parameters: readonly ParameterDefinition[];
  readonly fields: ReadonlyMap<string, ModelField>;
  /** Dimensions that several datasets share: by name, the field for the rows of each dataset. */
  readonly conformed: ReadonlyMap<string, ConformedDimension>;
  readonly segments: ReadonlyMap<string, Fragment>;
  readonly metrics: ReadonlyMap<string, ModelMetric>;
  readonly relationships: readonly ModelRelationship[];
  /** Fields of the primary key; undefined if none is declared. */
  readonly primaryKey: readonly string[] | undefined;
  /** Steps to other datasets that never multiply rows: many_to_one and one_to_one. */
  readonly toOne: readonly Step[];
  /**
   * Steps to other datasets that can multiply rows: back along relationships that lead here, and
   * across bridges.
   */
  readonly toMany: readonly Step[];
}

type ConformedDimension = Readonly<NonNullable<Dataset['conformed_dimensions']>[number]>;

interface AccessRule {
  readonly role: string;
  readonly where: Fragment;
}

/** Without `expr`, a field is the column of the same name. */
export type ModelField = Readonly<Omit<NonNullable<Dataset['fields']>[number], 'expr'>> & {
  readonly expr: Fragment | undefined;
  /**
   * Set for a row metric: the address of the metric, and the path from the metric's rows to this
   * dataset.
   */
  readonly rowMetric?: { readonly metric: string; readonly via: string };
};

export type ModelMetric = Readonly<
  Pick<
    MetricDefinition,
    'name' | 'hidden' | 'unreviewed' | 'unit' | 'time' | 'default' | 'synonyms'
  >
> & {
  readonly dataset: string;
  readonly file: string;
  readonly where: Fragment | undefined;
  readonly definition: MetricRule;
  readonly balance: Balance | undefined;
  /** True if the metric shows every period of the time spine. */
  readonly joinsTimeSpine: boolean;
  /** True if the metric is NULL without rows, also in arithmetic. */
  readonly keepsNull: boolean;
};

/**
 * A running total: over a trailing window, or since the start of a grain, or over all time if
 * neither is set.
 */
export interface Running {
  readonly window: { readonly period: Period; readonly grain: TimeGrain } | undefined;
  readonly since: Grain | undefined;
}

/** A running total that is computed for each `grain` of the time spine. */
export interface SpineRunning extends Running {
  readonly grain: TimeGrain;
  /** Which of its values a longer period shows. */
  readonly periodAgg: 'first' | 'last' | 'average';
}

/** Which earlier period of the time spine is read: some time before, or the start of a period. */
export type SpineOffset =
  | { readonly kind: 'by'; readonly period: Period; readonly grain: TimeGrain }
  | { readonly kind: 'to'; readonly grain: TimeGrain };

/**
 * A semi-additive value: over the time field `over`, one row counts for each combination of `per`.
 */
export interface Balance {
  readonly over: string;
  readonly take: 'first' | 'last' | 'min' | 'max' | 'avg';
  /**
   * The fields that identify what each value belongs to. Undefined if neither the metric nor the
   * primary key says so.
   */
  readonly per: readonly string[] | undefined;
}

/** How a metric is computed. Other metrics are referred to by name. */
export type MetricRule =
  | {
      readonly kind: 'aggregate';
      readonly function: Aggregate;
      readonly of: Fragment | undefined;
      readonly fraction: number | undefined;
    }
  | { readonly kind: 'expression'; readonly fragment: Fragment }
  /** `function` over the values of `of`, which is computed for each `per`. */
  | {
      readonly kind: 'nested';
      readonly function: Aggregate;
      readonly fraction: number | undefined;
      readonly of: Fragment;
      readonly per: string;
    }
  | { readonly kind: 'ratio'; readonly numerator: string; readonly denominator: string }
  | { readonly kind: 'total'; readonly of: string; readonly by: readonly string[] }
  | { readonly kind: 'offset'; readonly of: string; readonly by: Period }
  | { readonly kind: 'running'; readonly of: string; readonly running: Running }
  | { readonly kind: 'spine_offset'; readonly of: string; readonly offset: SpineOffset }
  | { readonly kind: 'spine_running'; readonly of: string; readonly running: SpineRunning }
  | ({ readonly kind: 'conversion' } & ConversionRule);

/**
 * How often a row of metric `base` (a first event) is followed by a row of metric `to` with equal
 * values in the fields of `on`.
 */
export interface ConversionRule {
  readonly base: string;
  readonly to: string;
  readonly on: readonly { readonly base: string; readonly to: string }[];
  /** How long after the first event a later one still counts; undefined: without limit. */
  readonly window: { readonly period: Period; readonly grain: TimeGrain } | undefined;
  readonly calculation: 'conversion_rate' | 'conversions';
}

/** The two datasets of a join, seen from one of them. */
export interface RelationshipEnds {
  readonly from: string;
  readonly to: string;
  /** The relationship's role, or the name of the target. */
  readonly name: string;
}

/** A relationship of the dataset `from` (its owner) to the dataset `to` (its target). */
export interface ModelRelationship extends RelationshipEnds {
  readonly cardinality: 'many_to_one' | 'one_to_one' | 'many_to_many';
  /**
   * Pairs of names that must be equal: of the owner (`own`) and of the target. A side is undefined
   * if it is a literal.
   */
  readonly equal: readonly {
    readonly own?: string | undefined;
    readonly target?: string | undefined;
  }[];
  /** The join condition as SQL; undefined if it consists of the pairs in `equal`. */
  readonly condition: Fragment | undefined;
  readonly within: Within | undefined;
  /** The bridge dataset of a many_to_many. */
  readonly via: string | undefined;
  /** True if other relationships of the owner have the same role. */
  readonly isShared: boolean;
}

/**
 * The value of the owner's `field` must lie between `from` and `to` of the target. Ranges of target
 * rows with equal columns do not overlap.
 */
export interface Within {
  readonly field: string;
  readonly from: string;
  readonly to: string;
  /** True if the value may equal `to`. */
  readonly includesEnd: boolean;
}

/** What one name of a path stands for: one join, or two through a bridge. */
export interface Step extends RelationshipEnds {
  readonly legs: readonly Leg[];
  /** `up` is many_to_one, `same` is one_to_one, `down` is one_to_many, `bridge` is many_to_many. */
  readonly direction: 'up' | 'same' | 'down' | 'bridge';
}

/** One join of a step. */
export interface Leg extends Pick<RelationshipEnds, 'from' | 'to'> {
  readonly relationship: ModelRelationship;
  /** True if it goes from the relationship's target to its owner. */
  readonly reversed: boolean;
  /** True if it can multiply rows. */
  readonly isToMany: boolean;
}

/** The rows of a dataset that a query reads. Throws `no_access` if the role may see none. */
export function requireReadableRows({
  rows,
}: Pick<ModelDataset, 'rows'>): Exclude<ReadableRows, { kind: 'denied' }> {
  if (rows.kind === 'denied') throw rows.error;
  return rows;
}

/** Finds a field by name, ignoring case unless `quotedExactly` (see `isCaseExact`). */
export function findField(
  dataset: ModelDataset,
  name: string,
  quotedExactly = false,
): ModelField | undefined {
  const field = dataset.fields.get(name);
  if (field !== undefined || quotedExactly) return field;
  const folded = name.toLowerCase();
  return [...dataset.fields.values()].find((candidate) => candidate.name.toLowerCase() === folded);
}

/** Finds a field that queries may use: any but a hidden one. */
export function findVisibleField(dataset: ModelDataset, name: string): ModelField | undefined {
  const field = findField(dataset, name);
  return field?.hidden === true ? undefined : field;
}

/**
 * True if the case of a name matters: it is quoted, and the dialect respects quotes. `written` is
 * the name with its quotes.
 */
export function isCaseExact(dialect: Dialect, written: string | undefined): boolean {
  return written?.startsWith('"') === true && !dialect.ignoresCase;
}

/**
 * The physical column of a field, or the text of its expression. Fields with equal identities are
 * the same column.
 */
export function columnIdentity(dataset: ModelDataset, name: string): string {
  const field = findField(dataset, name);
  const written = field?.expr?.text.trim();
  if (written === undefined) return field?.name ?? name;
  return /^"(?:[^"]|"")+"$/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
}

/**
 * Which side of a join condition a name belongs to: the owner of the relationship or its target;
 * undefined if neither. A bare name belongs to the owner. Names of the target start with its name
 * or role, also in a self-join.
 */
export function conditionSide(
  { from, to, name }: RelationshipEnds,
  parts: readonly string[],
): 'own' | 'target' | undefined {
  if (parts.length === 1) return 'own';
  if (parts.length > 2) return undefined;
  if (parts[0] === to || parts[0] === name) return 'target';
  return parts[0] === from ? 'own' : undefined;
}

/** The metric's name in a query: `orders.revenue`. */
export function metricAddress({ dataset, name }: ModelMetric): string {
  return `${dataset}.${name}`;
}
