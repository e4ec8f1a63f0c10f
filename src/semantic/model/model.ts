import type { UserError } from '../../lib/error.ts';
import type { Dialect, Period, TimeGrain } from '../../sql/dialect.ts';
import type { Fragment } from '../../sql/fragment.ts';
import type { Aggregate, Dataset, MetricDefinition, ParameterDefinition } from './dataset.ts';
import type { Query } from '../relational/select.ts';
import type { Grain } from './grains.ts';

/** The valid datasets of one connection, ready to plan. */
export interface SemanticModel {
  readonly dialect: Dialect;
  readonly datasets: ReadonlyMap<string, ModelDataset>;
  /** Datasets that were left out as invalid. */
  readonly excluded: ReadonlySet<string>;
  /** True where a file has row rules, be it valid or not. */
  readonly hasRules: boolean;
  /** Who reads; see `modelFor`. */
  readonly role?: string | undefined;
}

export interface ModelDataset {
  readonly name: string;
  readonly file: string;
  /** Where it lives. */
  readonly relation: Relation;
  /** What a query may read of it. */
  readonly rows: ReadableRows;
  /** Its row rules; undefined where everyone sees every row. */
  readonly access: readonly AccessRule[] | undefined;
  /** Primary and unique keys, as lists of physical columns or field texts; see `columnIdentity`. */
  readonly keys: readonly (readonly string[])[];
  readonly defaultTime: string | undefined;
  /** The month in which its fiscal years begin. */
  readonly fiscalYearStart: number | undefined;
  readonly parameters: readonly ParameterDefinition[];
  readonly fields: ReadonlyMap<string, ModelField>;
  readonly segments: ReadonlyMap<string, Fragment>;
  readonly metrics: ReadonlyMap<string, ModelMetric>;
  readonly relationships: readonly ModelRelationship[];
  /** The fields of the primary key; undefined where none is declared. */
  readonly primaryKey: readonly string[] | undefined;
  /** The hops that never multiply its rows. */
  readonly toOne: readonly Step[];
  /** The hops that may: down to datasets that point here, and through bridges. */
  readonly toMany: readonly Step[];
}

export type Relation =
  | { readonly kind: 'table'; readonly parts: readonly string[] }
  | { readonly kind: 'query'; readonly sql: string };

/** Rows that a role may see; `denied` says why it may see none. */
export type ReadableRows =
  | Relation
  | { readonly kind: 'guarded'; readonly select: Query }
  | { readonly kind: 'denied'; readonly error: UserError };

interface AccessRule {
  readonly role: string;
  readonly where: Fragment;
}

/** Without `expr`, the column of the same name. */
export type ModelField = Readonly<Omit<NonNullable<Dataset['fields']>[number], 'expr'>> & {
  readonly expr: Fragment | undefined;
  /** What is computed of other rows for each row, in place of a column. */
  readonly measure?: { readonly metric: string; readonly via: string };
};

export type ModelMetric = Readonly<Pick<MetricDefinition, 'name' | 'hidden' | 'unit'>> & {
  readonly dataset: string;
  readonly file: string;
  readonly where: Fragment | undefined;
  readonly definition: MetricRule;
  readonly balance: Balance | undefined;
};

/** What counts beside the period itself: what came before it in a trailing window or since a start, else all. */
export interface Running {
  readonly window: { readonly period: Period; readonly grain: TimeGrain } | undefined;
  readonly since: Grain | undefined;
}

/** Values that must not be summed over a time: of each `per`, one counts. */
export interface Balance {
  readonly over: string;
  readonly take: 'first' | 'last' | 'min' | 'max' | 'avg';
  /** Undefined where it is not known whose values they are. */
  readonly per: readonly string[] | undefined;
}

export type MetricRule =
  | {
      readonly kind: 'aggregate';
      readonly function: Aggregate;
      readonly of: Fragment | undefined;
      readonly fraction: number | undefined;
    }
  | { readonly kind: 'expression'; readonly fragment: Fragment }
  /** An aggregate of what is aggregated for each `per`. */
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
  | ({ readonly kind: 'conversion' } & ConversionRule);

/** How often a row of `base` is followed by one of `to` with equal values, both named as metrics. */
export interface ConversionRule {
  readonly base: string;
  readonly to: string;
  readonly on: readonly { readonly base: string; readonly to: string }[];
  readonly window: { readonly period: Period; readonly grain: TimeGrain } | undefined;
  readonly calculation: 'conversion_rate' | 'conversions';
}

export interface RelationshipEnds {
  readonly from: string;
  readonly to: string;
  /** The relationship's role, else the target's name. */
  readonly name: string;
}

export interface ModelRelationship extends RelationshipEnds {
  readonly cardinality: 'many_to_one' | 'one_to_one' | 'many_to_many';
  /** What has to be equal: a name of each side; where a side is a literal, of the other only. */
  readonly equal: readonly {
    readonly own?: string | undefined;
    readonly target?: string | undefined;
  }[];
  /** As SQL; undefined where the equalities are all. */
  readonly condition: Fragment | undefined;
  /** A range of the target in which a value of the own side lies; declared not to overlap for equal columns. */
  readonly within: Within | undefined;
  /** The bridge of a many_to_many. */
  readonly via: string | undefined;
}

export interface Within {
  readonly field: string;
  readonly from: string;
  readonly to: string;
  readonly includesEnd: boolean;
}

/** One hop as a path names it: a join, or two through a bridge. */
export interface Step extends RelationshipEnds {
  readonly legs: readonly Leg[];
  /** `up` and `same` (a one_to_one) never multiply rows. */
  readonly direction: 'up' | 'same' | 'down' | 'bridge';
}

export interface Leg extends Pick<RelationshipEnds, 'from' | 'to'> {
  readonly relationship: ModelRelationship;
  readonly reversed: boolean;
  readonly many: boolean;
}

/** What stands in FROM; an error where the role may see nothing. */
export function readableRows({
  rows,
}: Pick<ModelDataset, 'rows'>): Exclude<ReadableRows, { kind: 'denied' }> {
  if (rows.kind === 'denied') throw rows.error;
  return rows;
}

/** In any case: no two fields of a dataset differ by case alone. `quotedExactly`: a quoted name where the engine minds the case of those. */
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

export function isCaseExact(dialect: Dialect, written: string | undefined): boolean {
  return written?.startsWith('"') === true && !dialect.ignoresCase;
}

/** The physical column that a field stands for, or the text of its expression; equal texts are one column. */
export function columnIdentity(dataset: ModelDataset, name: string): string {
  const field = findField(dataset, name);
  const written = field?.expr?.text.trim();
  if (written === undefined) return field?.name ?? name;
  return /^"(?:[^"]|"")+"$/.test(written) ? written.slice(1, -1).replaceAll('""', '"') : written;
}

/** Bare names of a condition are the own dataset's; the target goes by its name or role, which wins in a self-join. */
export function conditionSide(
  { from, to, name }: RelationshipEnds,
  parts: readonly string[],
): 'own' | 'target' | undefined {
  if (parts.length === 1) return 'own';
  if (parts.length > 2) return undefined;
  if (parts[0] === to || parts[0] === name) return 'target';
  return parts[0] === from ? 'own' : undefined;
}

/** As it is written in a query: `orders.revenue`. */
export function metricAddress({ dataset, name }: ModelMetric): string {
  return `${dataset}.${name}`;
}
