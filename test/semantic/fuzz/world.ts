import type { Grain, Span } from './times.ts';

/** A random model with its rows: all that the brute-force evaluator knows. */
export interface World {
  readonly datasets: readonly Dataset[];
}

export interface Dataset {
  readonly name: string;
  readonly links: readonly Link[];
  /** With a value `n`, which is not a column, if the dataset has a measure. */
  readonly rows: readonly Row[];
  /** A metric of the rows that point here by a role. */
  readonly measure:
    | { readonly metric: 'total' | 'rows_in_a'; readonly of: string; readonly role: string }
    | undefined;
  /**
   * The row rules of the role `reader`: it sees a row if one holds. Undefined: it sees all rows.
   * Empty: only another role has rules, and it sees none.
   */
  readonly rules: readonly Chosen[] | undefined;
  readonly chosen: Chosen;
  /** The condition of its metric `far`. */
  readonly far: Chosen;
  /**
   * The dataset that its metric `asked` asks for a row with a greater `v`; below it, and reached by
   * one path.
   */
  readonly asked: { readonly of: string; readonly above: number } | undefined;
  /**
   * Of its trailing metric, of its metric to date, of its conversions, and of its earlier period.
   */
  readonly window: Span;
  readonly since: Exclude<Grain, 'hour' | 'day'>;
  readonly within: Span | undefined;
  readonly back: Span;
  /** Its default time: a day, a time without a zone, or a moment. */
  readonly clock: TimeField;
  readonly fiscal: number | undefined;
  /** Which of its values over time closes a period. */
  readonly take: 'first' | 'last' | 'min' | 'max' | 'avg';
  /** The role whose `g` its metric `each_far` is about. */
  readonly per: string | undefined;
  /**
   * The default of its parameter, which its field `w` and its metric `above` use; undefined has
   * none.
   */
  readonly least: number | undefined;
}

export type TimeField = 't' | 'm' | 'z';

/**
 * A `v` that is greater, or with `isNull` none: of the row itself, or of the one that a role leads
 * to.
 */
export interface Chosen {
  readonly role: string | undefined;
  readonly above: number;
  readonly isNull?: boolean;
}

/**
 * From many to one, by a key or by a range; one to one; or through a bridge, whose pairs are its
 * rows.
 */
export interface Link {
  readonly role: string;
  readonly to: string;
  readonly via?: string;
  readonly within?: Within;
  readonly isOneToOne?: boolean;
  /** The `g` that partners must have: a constant in the join condition. */
  readonly only?: string | undefined;
}

/**
 * The value of `field` lies between two of the other side, for each `g` where they are of a group.
 */
interface Within {
  readonly field: 'v' | 't';
  readonly from: 'low' | 'since';
  readonly to: 'high' | 'until';
  readonly includesEnd: boolean;
  readonly byGroup: boolean;
}

export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** The table's column that holds the key of a link. */
export function keyColumn({ links }: Dataset, role: string): string {
  return `k${links.findIndex((link) => link.role === role) + 1}`;
}

/**
 * Whether a row of the many side belongs to one of the other: by its key, or by the range that its
 * value lies in.
 */
export function meets({ role, within, only }: Link, own: Row, target: Row): boolean {
  if (within !== undefined) return liesInRange(within, own, target);
  return own[`${role}_id`] === target['id'] && (only === undefined || target['g'] === only);
}

/** A bound that is NULL does not restrict; a value that is NULL lies in no range. */
function liesInRange(within: NonNullable<Link['within']>, own: Row, target: Row): boolean {
  const value = own[within.field] ?? null;
  const isOtherGroup = within.byGroup && (own['g'] === null || own['g'] !== target['g']);
  if (value === null || isOtherGroup) return false;
  const [low, high] = [target[within.from] ?? null, target[within.to] ?? null];
  const isFromLow = low === null || value >= low;
  const isUpToHigh = high === null || value < high || (within.includesEnd && value === high);
  return isFromLow && isUpToHigh;
}

/**
 * The world as the role `reader` sees it. Row rules look at all rows; row metrics count only those
 * that it sees.
 */
export function visible({ datasets }: World): World {
  const passes = (dataset: Dataset, row: Row, { role, above, isNull }: Chosen): boolean => {
    const link = dataset.links.find((one) => one.role === role);
    const targets = datasets.find(({ name }) => name === link?.to)?.rows ?? [];
    const one =
      role === undefined
        ? row
        : targets.find((target) => link !== undefined && meets(link, row, target));
    const v = one?.['v'] ?? null;
    return isNull === true ? v === null : v !== null && Number(v) > above;
  };
  const seen = datasets.map((dataset) => ({
    ...dataset,
    rows: dataset.rows.filter(
      (row) =>
        dataset.rules === undefined || dataset.rules.some((rule) => passes(dataset, row, rule)),
    ),
  }));
  return { datasets: seen.map((dataset) => ({ ...dataset, rows: measuredRows(dataset, seen) })) };
}

function measuredRows({ measure, rows }: Dataset, all: readonly Dataset[]): readonly Row[] {
  const children = all.find(({ name }) => name === measure?.of);
  const link = children?.links.find(({ role }) => role === measure?.role);
  if (measure === undefined || children === undefined || link === undefined) return rows;
  return rows.map((row) => {
    const own = children.rows.filter((child) => meets(link, child, row));
    const values = own.flatMap(({ v }) => (typeof v === 'number' ? [v] : []));
    const total = values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
    return {
      ...row,
      n: measure.metric === 'total' ? total : own.filter(({ g }) => g === 'a').length,
    };
  });
}
