import { UserError } from '../lib/error.ts';
import type { FieldType } from './field-type.ts';

/** A table's full identity. `catalog` only where one connection spans several. Compared exactly, never by name alone. */
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

/** The value that a dialect is; no other file knows a dialect's name. Everything takes and returns SQL text. */
export interface Dialect {
  readonly name: string;
  /** The dialect's name in the SQL analyzer. */
  readonly analyzer: string;
  /** The schema that an unqualified table name means. */
  readonly defaultSchema: string;
  /** True where names that differ only by case are one, quoted or not; else a name without quotes means the lower-case one. */
  readonly ignoresCase: boolean;
  /** Always quotes; the quote character inside is doubled. */
  quote(identifier: string): string;
  /** A literal that survives any content. */
  literal(value: string | number | boolean | null): string;
  /** The operator that divides whole numbers for real, with the precedence of `/`: `* 1.0 /` where `/` truncates. */
  readonly division: string;
  /** A time as it is stored; fails where another value stands in its place. Absent where the engine lets none in. */
  checkedTime?(expr: string): string;
  /** Start of the period. `expr` is a date, a timestamp, or a timestamp with time zone as `type` says. */
  truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string;
  /** A date, or a timestamp as `type` says, moved by whole units; the day is cut to the length of the month. */
  add(expr: string, period: Period, type: TruncateOptions['type']): string;
  /** As `add`, by units that SQL counts; absent where `recursiveWith` makes it needless. */
  addCounted?(
    expr: string,
    count: string,
    by: { readonly unit: Period['unit']; readonly type: TruncateOptions['type'] },
  ): string;
  /** Continuous percentile, `fraction` in 0..1; NULLs ignored. Throws `not_supported` where the engine has no exact one. */
  percentile(expr: string, fraction: number): string;
  /** Mean of the values, not cut to their scale. */
  average(expr: string): string;
  /** Tests of a value as text against a part of it, which is not empty; they mind case. */
  readonly text: TextTests;
  /** An item of ORDER BY with NULLs last. */
  order(expr: string, dir: 'asc' | 'desc'): string;
  /** `isOrdered`: an ORDER BY stands before it. */
  limit(rows: number, isOrdered: boolean): string;
  /** False where GROUP BY takes no positions. */
  readonly groupsByPosition: boolean;
  /** The operator of two queries that keeps one of equal rows. */
  readonly union: 'UNION' | 'UNION DISTINCT';
  /** Begins common tables of which one reads itself; absent where the engine stops that early, or may. */
  readonly recursiveWith?: string;
  /** True where a bare NULL in one part of a UNION may not take the type of another. */
  readonly nullsNeedType: boolean;
  /** The name of a result column, as near to what was asked as the engine allows; `index` tells equal ones apart. */
  resultColumn(name: string, index: number): string;
  /** Ends a query whose conditions hold before any around it is computed; absent where engines compute none earlier that can fail. */
  readonly fence?: string;
  /** Ends every statement: settings without which the engine answers otherwise. */
  readonly settings?: string;
  /** What the engine reads otherwise than standard SQL in a text or a quoted name, such as a backslash; refused in fragments. */
  readonly misread?: RegExp;
  /** True where `||` is OR: in fragments it is refused, since elsewhere it joins texts, and binds closer. */
  readonly pipesAreOr?: true;
  /** Words of the grammar that mean a column where the table has one of that name, and what means the same in any case. */
  readonly softWords?: Readonly<Record<string, string | undefined>>;
  /** Absent where ktx has no driver that scans the engine. */
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

/** SQL that the scan pushes down. */
interface StatisticsSql {
  /** Text form of a value, the same in every dialect for whole numbers (`7`, also of a decimal 7.0), text, dates, UUIDs. */
  text(expr: string, type: FieldType): string;
  /** Aggregate: JSON array text of the `size` smallest distinct MD5 prefixes (12 hex digits) of a text; bottom-k sketch. */
  sketch(text: string, size: number): string;
  /** Aggregate: JSON array text of all values of a text. */
  jsonList(text: string): string;
  /** FROM item that reads about this share (0..1) of a table's rows; undefined where the engine cannot. */
  sample(table: string, share: number): string | undefined;
}

export function requireStatistics({ name, statistics }: Dialect): StatisticsSql {
  if (statistics !== undefined) return statistics;
  throw noSuchSqlError(
    name,
    'statistics of its columns',
    'Write the datasets by hand, or import them.',
  );
}

/** An engine cannot, or ktx does not know how. */
export function noSuchSqlError(engine: string, what: string, hint: string): UserError {
  return new UserError('not_supported', `There is no SQL for ${engine} that gives ${what}`, {
    hint,
    details: { feature: what },
  });
}

export function sameTable(a: TableRef, b: TableRef): boolean {
  return a.table === b.table && a.schema === b.schema && a.catalog === b.catalog;
}

/** A key for maps; injective, because JSON quotes its parts. */
export function tableKey(ref: TableRef): string {
  return JSON.stringify([ref.catalog ?? null, ref.schema, ref.table]);
}
