import type { Grain, Span } from './times.ts';
import { datasetNamed } from './paths.ts';
import type { TimeField, World } from './world.ts';

/** What a question can aggregate: metrics of every model, and aggregates that it brings itself. */
export const functions = [
  'sum',
  'count',
  'count_rows',
  'avg',
  'min',
  'max',
  'median',
  'count_distinct',
  'rows_in_a',
  'far',
  'asked',
  'above',
  'closing',
  'each',
  'each_far',
  'overall',
  'over_g',
  'running',
  'trailing',
  'to_date',
  'earlier',
  'followed',
  'follow_rate',
] as const;

export interface Aggregate {
  readonly owner: string;
  readonly function: (typeof functions)[number];
}

/** Arithmetic; by a name where the model has it so. */
export interface Derived {
  readonly op: '-' | '/';
  readonly left: Aggregate;
  readonly right: Aggregate;
  readonly name?: 'share' | 'ratio' | 'growth';
}

/** The greatest total of any `g`, written into the query. */
interface AdHoc {
  readonly owner: string;
  readonly function: 'most_of_g';
}

export type Metric = Aggregate | Derived | AdHoc;

/** A dataset, or `metric_time`, and roles to follow from there. */
export interface Place {
  readonly start: string;
  readonly roles: readonly string[];
}

export interface Dimension extends Place {
  readonly field: 'g' | 'n' | 'w' | TimeField;
  readonly grain: Grain | undefined;
}

/** Of a row that a name leads to. */
export interface Test extends Place {
  readonly op: '=' | '<>' | '>' | 'null' | 'n>' | 'w>' | 'time>=' | 'period';
  readonly value: number | string;
  readonly field?: TimeField;
  readonly grain?: Grain;
}

/** One of the tests has to hold; `on` is whose metrics alone it is about. */
export interface Condition {
  readonly on: string | undefined;
  readonly tests: readonly Test[];
  /** As `{field, op, value}`, where it is one test. */
  readonly isStructured: boolean;
}

/** What is computed over the result; dimensions and metrics by their place. */
export interface StageQuestion {
  /** The dimensions whose groups are the whole; none for the total. */
  readonly shareOf: readonly number[] | undefined;
  readonly compareTo: Span | undefined;
  readonly overRows: readonly {
    readonly compute: 'rank' | 'previous' | 'running' | 'average' | 'to_average';
    readonly of: number;
    readonly dir: 'asc' | 'desc';
    readonly per: readonly number[] | undefined;
  }[];
  readonly top:
    | {
        readonly count: number;
        readonly by: number;
        readonly dir: 'asc' | 'desc';
        readonly per: readonly number[];
        readonly others: boolean;
      }
    | undefined;
  readonly rollup: boolean;
}

export interface Question {
  readonly metrics: readonly Metric[];
  /** An aggregate that is not shown, but of which `having` or the order is. */
  readonly extra: Aggregate | undefined;
  readonly dimensions: readonly Dimension[];
  /** Joined by AND. */
  readonly where: readonly Condition[];
  /** Of the extra aggregate, else of the first metric. */
  readonly having: number | undefined;
  /** Datasets whose segment is asked for. */
  readonly segments: readonly string[];
  /** Values of the parameter `least`, for every dataset or for one. */
  readonly parameters: Readonly<Record<string, number>>;
  /** Columns by their place in the result; the one behind the last is the extra aggregate. */
  readonly order: readonly { readonly column: number; readonly dir: 'asc' | 'desc' }[];
  readonly limit: number | undefined;
  readonly zone: 'UTC' | 'Europe/Paris' | 'America/New_York' | undefined;
  readonly weekStart: 'monday' | 'sunday';
  readonly includeEmpty: boolean;
  readonly fillTime: boolean;
  readonly stage?: StageQuestion | undefined;
  /** Groups whose rows do not count; totals are of all rows. */
  readonly excluded?:
    | { readonly dimensions: readonly Dimension[]; readonly groups: ReadonlySet<string> }
    | undefined;
}

/** What a metric is computed of, each from rows of one dataset. */
export function partsOf(metric: Metric): readonly (Aggregate | AdHoc)[] {
  return 'left' in metric ? [metric.left, metric.right] : [metric];
}

const written: readonly Aggregate['function'][] = [
  'count',
  'count_rows',
  'avg',
  'min',
  'max',
  'median',
  'count_distinct',
];

/**
 * Of everything that a question computes, shown or not, in order; in arithmetic, what the query
 * aggregates itself comes first.
 */
export function aggregatesOf({ metrics, extra }: Question): readonly (Aggregate | AdHoc)[] {
  const ofMetric = (metric: Metric): readonly (Aggregate | AdHoc)[] => {
    const parts = 'left' in metric ? [metric.left, metric.right] : [];
    if (!('left' in metric) || metric.name !== undefined) return partsOf(metric);
    return [
      ...parts.filter((one) => written.includes(one.function)),
      ...parts.filter((one) => !written.includes(one.function)),
    ];
  };
  return [...metrics.flatMap(ofMetric), ...(extra === undefined ? [] : [extra])];
}

/** `metric_time` is the default time of each owner. */
export function fieldOf(
  world: World,
  owner: string,
  { start, field }: Pick<Dimension, 'start' | 'field'>,
): Dimension['field'] {
  return start === 'metric_time' ? datasetNamed(world, owner).clock : field;
}

export function nameOfDimension({ start, roles, field, grain }: Dimension): string {
  const parts = start === 'metric_time' ? [start] : [start, ...roles, field];
  return [...parts, ...(grain === undefined ? [] : [grain])].join('.');
}
