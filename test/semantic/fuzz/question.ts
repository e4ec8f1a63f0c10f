import type { Grain, Span } from './times.ts';
import { datasetNamed } from './paths.ts';
import type { TimeField, World } from './world.ts';

/** Aggregates of a question: metrics of every model, and those that the query writes itself. */
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

/** The greatest total of all values of `g`; the query writes it itself. */
interface AdHoc {
  readonly owner: string;
  readonly function: 'most_of_g';
}

export type Metric = Aggregate | Derived | AdHoc;

/** A dataset, or `metric_time`, and roles to follow from there. */
export interface FieldPath {
  readonly start: string;
  readonly roles: readonly string[];
  /** In place of these, the path from each owner, which it begins with. */
  readonly each?: ReadonlyMap<string, FieldPath>;
}

export interface Dimension extends FieldPath {
  readonly field: 'g' | 'n' | 'w' | TimeField;
  readonly grain: Grain | undefined;
}

/** A comparison with a field of the row that the path leads to. */
export interface Test extends FieldPath {
  readonly op: '=' | '<>' | '>' | 'null' | 'n>' | 'w>' | 'time>=' | 'period';
  readonly value: number | string;
  readonly field?: TimeField;
  readonly grain?: Grain;
}

/** One of the tests must hold. `on` limits the condition to the metrics of one dataset. */
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
    readonly compute: 'rank' | 'previous' | 'next' | 'running' | 'average' | 'to_average';
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
  /** A bound on a metric, or on what is computed over rows: their places count on. */
  readonly qualify:
    | { readonly of: number; readonly op: '<' | '>'; readonly bound: number }
    | undefined;
}

export interface Question {
  readonly metrics: readonly Metric[];
  /** An aggregate that `having` or the order uses and the result does not show. */
  readonly extra: Aggregate | undefined;
  readonly dimensions: readonly Dimension[];
  /** Joined by AND. */
  readonly where: readonly Condition[];
  /** The value that the extra aggregate, or else the first metric, must exceed. */
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
 * All aggregates that a question computes, shown or not, in order. In arithmetic, aggregates that
 * the query writes itself come before metrics of the model.
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

export function nameOfDimension({ start, roles, field, grain, each }: Dimension): string {
  if (each !== undefined)
    return [...each.values()].map((path) => nameOfDimension({ ...path, field, grain })).join(' = ');
  const parts = start === 'metric_time' ? [start] : [start, ...roles, field];
  return [...parts, ...(grain === undefined ? [] : [grain])].join('.');
}
