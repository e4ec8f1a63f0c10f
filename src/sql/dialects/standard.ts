import type {
  DatePart,
  Dialect,
  Period,
  TextTests,
  TimeGrain,
  TruncateOptions,
} from '../dialect.ts';

/** Defaults that most dialects share. */
export const standard = {
  quote: quoted,
  instant: (utc) => `TIMESTAMPTZ '${utc}+00'`,
  average: (expr) => `avg(${expr})`,
  order: (expr, dir) => `${expr}${dir === 'desc' ? ' DESC' : ''} NULLS LAST`,
  limit: (rows) => `LIMIT ${rows}`,
  groupsByPosition: true,
  union: 'UNION',
  nullsNeedType: false,
  resultColumn: (name) => name,
} satisfies Partial<Dialect>;

/** One function for each part of a date. */
export function partByFunction(functions: Readonly<Record<DatePart, (expr: string) => string>>) {
  return (part: DatePart, expr: string): string => functions[part](expr);
}

/** Functions of one argument, by name. */
export function functionsNamed(
  names: Readonly<Record<Exclude<DatePart, 'day_of_week'>, string>>,
  dayOfWeek: (expr: string) => string,
) {
  const called = (name: string) => (expr: string) => `${name}(${expr})`;
  return partByFunction({
    hour_of_day: called(names.hour_of_day),
    day_of_week: dayOfWeek,
    day_of_month: called(names.day_of_month),
    day_of_year: called(names.day_of_year),
    week_of_year: called(names.week_of_year),
    month_of_year: called(names.month_of_year),
    quarter_of_year: called(names.quarter_of_year),
    year_number: called(names.year_number),
  });
}

/** Standard EXTRACT, with the engine's words for the parts. */
export function partExtracted(
  words: Readonly<Partial<Record<DatePart, string>>>,
  cast: (extracted: string) => string,
) {
  const standardWords: Readonly<Record<DatePart, string>> = {
    hour_of_day: 'hour',
    day_of_week: 'isodow',
    day_of_month: 'day',
    day_of_year: 'doy',
    week_of_year: 'week',
    month_of_year: 'month',
    quarter_of_year: 'quarter',
    year_number: 'year',
    ...words,
  };
  return (part: DatePart, expr: string): string =>
    cast(`extract(${standardWords[part]} FROM ${expr})`);
}

/** ORDER BY for engines without NULLS LAST. */
export function orderedByCase(expr: string, dir: 'asc' | 'desc'): string {
  return `CASE WHEN ${expr} IS NULL THEN 1 ELSE 0 END, ${expr}${dir === 'desc' ? ' DESC' : ''}`;
}

/**
 * Text tests by the position of the part (from 1; 0 for none). `cast` turns any value into
 * case-sensitive text.
 */
export function textByPosition(
  position: (text: string, part: string) => string,
  cast: (expr: string) => string,
): TextTests {
  return {
    contains: (expr, part) => `${position(cast(expr), part)} > 0`,
    startsWith: (expr, part) => `${position(cast(expr), part)} = 1`,
    endsWith: (expr, part) => `${position(`reverse(${cast(expr)})`, `reverse(${part})`)} = 1`,
  };
}

/** Text tests by three functions. */
export function textByFunctions(
  [contains, startsWith, endsWith]: readonly [string, string, string],
  cast: (expr: string) => string,
): TextTests {
  return {
    contains: (expr, part) => `${contains}(${cast(expr)}, ${part})`,
    startsWith: (expr, part) => `${startsWith}(${cast(expr)}, ${part})`,
    endsWith: (expr, part) => `${endsWith}(${cast(expr)}, ${part})`,
  };
}

/**
 * A single-quoted text for an engine that reads backslash escapes; `escapes` are needed besides
 * quote and backslash.
 */
export function backslashed(text: string, escapes: Readonly<Record<string, string>> = {}): string {
  const all: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", ...escapes };
  return `'${Array.from(text, (character) => all[character] ?? character).join('')}'`;
}

/** True if periods of the type are cut in a zone other than UTC. */
/** A local time that summer time skips becomes another one on the way to an instant and back. */
export function shownByRoundTrip(expr: string, timezone: string): string {
  const zone = charactersSpliced(timezone, 'chr');
  return `(${expr} AT TIME ZONE ${zone}) AT TIME ZONE ${zone} = ${expr}`;
}

export function isZoned({ type, timezone = 'UTC' }: TruncateOptions): boolean {
  return type === 'datetime_tz' && timezone !== 'UTC';
}

export function isClock(grain: TimeGrain): boolean {
  return grain === 'second' || grain === 'minute' || grain === 'hour';
}

/** Standard SQL that several dialects share. */
function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

export function standardLiteral(
  value: string | number | boolean | null,
  textLiteral: (text: string) => string,
): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') return textLiteral(value);
  if (!Number.isFinite(value)) throw new RangeError(`${value} has no SQL literal`);
  return value < 0 ? `(${value})` : String(value);
}

/** A quoted string; writes NUL, which would end the statement, as a call of `characterFunction`. */
export function charactersSpliced(text: string, characterFunction: string): string {
  const pieces = text.split('\0').map((piece) => `'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1
    ? `${pieces[0]}`
    : `(${pieces.join(` || ${characterFunction}(0) || `)})`;
}

/** Truncates with `date_trunc`: to a timestamp below a day, else to a date. */
export function dateTruncated(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const local =
    type === 'datetime_tz'
      ? `(${expr}) AT TIME ZONE ${charactersSpliced(timezone, 'chr')}`
      : `CAST(${expr} AS TIMESTAMP)`;
  // The cast of a date is free; `date_trunc` takes twenty times as long as adding the row up.
  if (grain === 'day') return `CAST(${type === 'datetime_tz' ? local : expr} AS DATE)`;
  if (grain === 'week' && weekStart === 'sunday') {
    return `CAST(date_trunc('week', ${local} + INTERVAL '1 day') - INTERVAL '1 day' AS DATE)`;
  }
  const start = `date_trunc('${grain}', ${local})`;
  return isClock(grain) ? start : `CAST(${start} AS DATE)`;
}

export function intervalAdded(
  expr: string,
  { count, unit }: Period,
  type: TruncateOptions['type'],
): string {
  return dated(`(${expr} ${count < 0 ? '-' : '+'} INTERVAL '${Math.abs(count)} ${unit}')`, type);
}

/** Adds with DATEADD, which takes the unit as a keyword. */
export function dateAdded(
  expr: string,
  { count, unit }: Period,
  type: TruncateOptions['type'],
): string {
  return dated(`DATEADD(${unit}, ${count}, ${expr})`, type);
}

export function dateAddCounted(
  expr: string,
  count: string,
  { unit, type }: { unit: Period['unit']; type: TruncateOptions['type'] },
): string {
  return dated(`DATEADD(${unit}, ${count}, ${expr})`, type);
}

/** Keeps a date a date, although adding to it can give a timestamp. */
export function dated(expr: string, type: TruncateOptions['type']): string {
  return type === 'date' ? `CAST(${expr} AS DATE)` : expr;
}

/**
 * A fraction for an engine that multiplies it by the number of rows in floating point: 0.07 * 100
 * is then more than 7, and its ceiling the wrong row.
 */
export function roundedDown(fraction: number): number {
  return Math.max(0, fraction - 1e-15);
}
