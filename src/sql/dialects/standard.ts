import type { TimeGrain, TruncateOptions } from '../dialect.ts';

/** Pieces of standard SQL that several dialects share. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

export function standardLiteral(value: string | number | boolean | null, textLiteral: (text: string) => string): string {
  if (value === null) return 'NULL';
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (typeof value === 'string') return textLiteral(value);
  if (!Number.isFinite(value)) throw new RangeError(`${value} has no SQL literal`);
  return value < 0 ? `(${value})` : String(value);
}

/** A quoted string in which NUL, which would end the statement's text, is spelled as a call of `characterFunction`. */
export function charactersSpliced(text: string, characterFunction: string): string {
  const pieces = text.split('\0').map((piece) => `'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1 ? `${pieces[0]}` : `(${pieces.join(` || ${characterFunction}(0) || `)})`;
}

/** By `date_trunc`: a timestamp below a day, else a date. */
export function dateTruncated(grain: TimeGrain, expr: string, { type, weekStart, timezone = 'UTC' }: TruncateOptions): string {
  const local = type === 'datetime_tz' ? `(${expr}) AT TIME ZONE ${charactersSpliced(timezone, 'chr')}` : `CAST(${expr} AS TIMESTAMP)`;
  if (grain === 'week' && weekStart === 'sunday') {
    return `CAST(date_trunc('week', ${local} + INTERVAL '1 day') - INTERVAL '1 day' AS DATE)`;
  }
  const start = `date_trunc('${grain}', ${local})`;
  return grain === 'second' || grain === 'minute' || grain === 'hour' ? start : `CAST(${start} AS DATE)`;
}
