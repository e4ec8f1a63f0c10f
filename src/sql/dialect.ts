import { UserError } from '../lib/error.ts';
import type { FieldType } from './field-type.ts';

/** The full name of a table. `catalog` is set only if one connection spans several. */
export interface TableRef {
  readonly catalog?: string | undefined;
  readonly schema: string;
  readonly table: string;
}

export const timeGrains = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
] as const;
export type TimeGrain = (typeof timeGrains)[number];

/** Numbers of a time. Weeks begin on Monday, which is day 1; they are numbered as in ISO 8601. */
export const dateParts = [
  'hour_of_day',
  'day_of_week',
  'day_of_month',
  'day_of_year',
  'week_of_year',
  'month_of_year',
  'quarter_of_year',
  'year_number',
] as const;
export type DatePart = (typeof dateParts)[number];

/** A SQL dialect. Its methods take and return SQL text. No other file knows a dialect's name. */
export interface Dialect {
  readonly name: string;
  /** The dialect's name in the SQL analyzer. */
  readonly analyzer: string;
  /** The schema of an unqualified table name. */
  readonly defaultSchema: string;
  /**
   * True if names match in any case, quoted or not; false if unquoted names are folded, to lower
   * case unless `foldsUp` is set.
   */
  readonly ignoresCase: boolean;
  /** Set if unquoted names are folded to upper case. */
  readonly foldsUp?: true;
  /** False if the engine takes rows that break a primary key or a unique constraint. */
  readonly enforcesKeys: boolean;
  /** Quotes an identifier and doubles the quote characters inside. */
  quote(identifier: string): string;
  /** A literal; escapes any content. */
  literal(value: string | number | boolean | null): string;
  /**
   * A literal of the engine's time with zone; `utc` is `YYYY-MM-DD HH:MM:SS`, with a fraction or
   * without.
   */
  instant(utc: string): string;
  /**
   * An operator with the precedence of `/` that does not truncate whole numbers: `* 1.0 /` where
   * `/` does.
   */
  readonly division: string;
  /**
   * A stored time; fails on any other value. Undefined if the engine stores nothing else in a time
   * column.
   */
  checkedTime?(expr: string): string;
  /**
   * A stored number; NULL for empty text, fails on text that is no number. Undefined if the engine
   * stores nothing else in a number column.
   */
  checkedNumber?(expr: string): string;
  /**
   * The start of the period. `options.type` says whether `expr` is a date, a timestamp, or one with
   * time zone.
   */
  truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string;
  /**
   * True if the clocks of the zone show this local time, which they do not where summer time skips
   * an hour. Undefined where periods of a zone are instants, or where no engine was there to try.
   */
  isShown?(expr: string, timezone: string): string;
  /** The part of a date or of a timestamp without zone, as a whole number. */
  datePart(part: DatePart, expr: string): string;
  /**
   * Adds whole units to a date or timestamp. If the day does not exist in the resulting month, its
   * last day counts.
   */
  add(expr: string, period: Period, type: TruncateOptions['type']): string;
  /**
   * Like `add`, but `count` is a SQL expression. Undefined if `recursiveWith` makes it needless.
   */
  addCounted?(
    expr: string,
    count: string,
    by: { readonly unit: Period['unit']; readonly type: TruncateOptions['type'] },
  ): string;
  /**
   * Continuous percentile, ignoring NULL; `fraction` is 0 to 1. Undefined if the engine has no
   * exact one of groups: a query then numbers the values itself.
   */
  percentile?(expr: string, fraction: number): string;
  /**
   * Discrete percentile, ignoring NULL: the smallest value that is at least as great as this share
   * of all values. Undefined if the engine has no exact one.
   */
  discretePercentile?(expr: string, fraction: number): string;
  /**
   * True if a window over all rows needs an order: MariaDB 10.11 ranks rows in a wrong order where
   * such a window without one stands beside two others.
   */
  readonly ordersWholeWindows?: true;
  /** The mean, not rounded to the scale of the values. */
  average(expr: string): string;
  /**
   * True if the engine has bits and no booleans: a condition is no value there, and a value no
   * condition.
   */
  readonly hasBitsOnly?: true;
  /** The smallest or greatest of booleans; undefined if `min` and `max` take them. */
  booleanExtreme?(name: 'min' | 'max', expr: string): string;
  /** Case-sensitive tests of a value's text. */
  readonly text: TextTests;
  /** An ORDER BY item that puts NULLs last. */
  order(expr: string, dir: 'asc' | 'desc'): string;
  /** `isOrdered`: it follows an ORDER BY. */
  limit(rows: number, isOrdered: boolean): string;
  /** True if GROUP BY takes column positions. */
  readonly groupsByPosition: boolean;
  /** The operator that unites two queries without duplicate rows. */
  readonly union: 'UNION' | 'UNION DISTINCT';
  /**
   * The keyword for recursive common tables; undefined if the engine may stop a recursion early.
   */
  readonly recursiveWith?: string;
  /** True if a bare NULL in a UNION may not take the type of the other part. */
  readonly nullsNeedType: boolean;
  /**
   * The name of a result column, as close to `name` as the engine allows; `index` makes it unique.
   */
  resultColumn(name: string, index: number): string;
  /**
   * Ends a subquery so that the engine applies its conditions before those around it. Undefined if
   * it does so anyway.
   */
  readonly fence?: string;
  /** An operator that also holds for two NULLs. Set if no join has that as an OR of conditions. */
  readonly sameOrBothNull?: string;
  /** Lets a value be NULL. Set if there is no NULL before the first row otherwise. */
  readonly nullable?: string;
  /**
   * True if EXISTS is false for an outer row of which a column that it names is NULL, whatever the
   * condition says.
   */
  readonly losesNullsOfOuterQuery?: true;
  /** True if `t.*` is ambiguous where the table `t` also stands under another name. */
  readonly starMeansEveryName?: true;
  /**
   * A function with one result for every value. Set if an outer join needs an equation beside its
   * other conditions.
   */
  readonly constantOf?: string;
  /** Settings at the end of every statement, without which results would differ. */
  readonly settings?: string;
  /**
   * Matches strings and quoted names that the engine reads differently from standard SQL; refused
   * in fragments.
   */
  readonly misread?: RegExp;
  /**
   * True if `||` is OR. Elsewhere it joins texts and binds tighter, so fragments may not use it
   * then.
   */
  readonly pipesAreOr?: true;
  /**
   * Keywords that mean a column if the table has one of that name, with SQL that always means the
   * keyword.
   */
  readonly softWords?: Readonly<Record<string, string | undefined>>;
  /** Undefined if ktx has no driver that scans the engine. */
  readonly statistics?: StatisticsSql;
}

export interface Period {
  readonly count: number;
  readonly unit: 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year';
}

export interface TextTests {
  contains(expr: string, part: string): string;
  startsWith(expr: string, part: string): string;
  endsWith(expr: string, part: string): string;
}

export interface TruncateOptions {
  readonly type: 'date' | 'datetime' | 'datetime_tz';
  readonly weekStart: 'monday' | 'sunday';
  /** IANA name; periods are cut in this zone. */
  readonly timezone?: string | undefined;
}

/** SQL that a scan runs in the warehouse. */
interface StatisticsSql {
  /**
   * A value as text, equal in every dialect for whole numbers (`7`, also for a decimal 7.0), text,
   * dates and UUIDs.
   */
  text(expr: string, type: FieldType): string;
  /**
   * Aggregate: a bottom-k sketch, as JSON text: the `size` smallest distinct hashes (12 hex digits)
   * of a text. Each engine hashes as it does fastest: sketches of two engines are not comparable.
   * `from` is the FROM item that the statement reads, for engines that need a subquery of their
   * own.
   */
  sketch(text: string, size: number, from: string): string;
  /**
   * Aggregate: all values of a text as JSON array text, at most `most` of them. Where
   * `aggregatedBytes` is set, long values are cut so that all fit in.
   */
  jsonList(text: string, most: number): string;
  /** The most bytes that an aggregated text may have; undefined if there is no such limit. */
  readonly aggregatedBytes?: number;
  /** Aggregate: how many values are not NULL; `count` if undefined, where it takes every type. */
  countValues?(expr: string): string;
  /** How many characters a text has; `length` if undefined. */
  textLength?(text: string): string;
  /** The first characters of a text; `substr` if undefined. */
  firstCharacters?(text: string, count: number): string;
  /**
   * Only of engines that keep times as text. Aggregate: the types of the texts (`TextTime`), least
   * and greatest, with a space between; NULL if no text tells one.
   */
  timesInText?(expr: string): string;
  /** Texts that are not NULL with a separator between them; `concat_ws` if undefined. */
  joinTexts?(separator: string, texts: readonly string[]): string;
  /**
   * True if the engine bills what a statement reads, whatever its LIMIT says: a scan then takes the
   * first rows from the sample too.
   */
  readonly billsWhatItReads?: true;
  /**
   * A FROM item that reads about this share (0 to 1) of a table's rows; undefined if the engine
   * cannot sample.
   */
  sample(table: string, share: number): string | undefined;
}

/** Throws `not_supported` if ktx cannot scan the engine. */
export function requireStatistics({ name, statistics }: Dialect): StatisticsSql {
  if (statistics !== undefined) return statistics;
  throw noSuchSqlError(
    name,
    'statistics of its columns',
    'Write the datasets by hand, or import them.',
  );
}

/** The error for SQL that an engine lacks, or that ktx cannot write for it. */
export function noSuchSqlError(engine: string, what: string, hint: string): UserError {
  return new UserError('not_supported', `There is no SQL for ${engine} that gives ${what}`, {
    hint,
    details: { feature: what },
  });
}

export function sameTable(a: TableRef, b: TableRef): boolean {
  return a.table === b.table && a.schema === b.schema && a.catalog === b.catalog;
}

/** A name without quotes, as an engine whose names have a case reads it. */
export function foldedName(name: string, { foldsUp }: Pick<Dialect, 'foldsUp'>): string {
  return foldsUp === true ? name.toUpperCase() : name.toLowerCase();
}

/** `catalog.schema.table`, for people. A table of the connection's own catalog names none. */
export function fullTableName({ catalog, schema, table }: TableRef): string {
  return [...(catalog === undefined ? [] : [catalog]), schema, table].join('.');
}

/** A unique key for maps. */
export function tableKey(ref: TableRef): string {
  return JSON.stringify([ref.catalog ?? null, ref.schema, ref.table]);
}
