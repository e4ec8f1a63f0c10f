import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import { operand, quoted, standardLiteral } from './standard.ts';

export const postgres: Dialect = {
  name: 'postgres',
  analyzer: 'postgresql',
  defaultSchema: 'public',
  quote: quoted,
  literal: (value) => standardLiteral(value, textLiteral),
  // Times 1.0: an integer becomes numeric, a float stays a float.
  divide: (numerator, denominator) => `${operand(numerator)} * 1.0 / NULLIF(${denominator}, 0)`,
  nullSafeEqual: (left, right) => `${left} IS NOT DISTINCT FROM ${right}`,
  truncate,
  percentile: (expr, fraction) => `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${expr})`,
  limit: (rows) => `LIMIT ${rows}`,
  typedNull: (type) => `CAST(NULL AS ${type})`,
  statistics: {
    text: (expr, type) => (type === 'decimal' ? `regexp_replace(CAST(${expr} AS text), '[.]0+$', '')` : `CAST(${expr} AS text)`),
    sketch: (text, size) => {
      const hash = `left(md5(${text}), 12)`;
      return `CAST(to_json((array_agg(DISTINCT ${hash} ORDER BY ${hash}) FILTER (WHERE ${text} IS NOT NULL))[1:${size}]) AS text)`;
    },
    jsonList: (text) => `CAST(json_agg(${text}) AS text)`,
    sample: (table, share) => `${table} TABLESAMPLE SYSTEM (${(share * 100).toFixed(4)})`,
  },
};

/** A backslash is only safe in an escape string: outside, its meaning depends on `standard_conforming_strings`. */
function textLiteral(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}

function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  const zone = textLiteral(options.timezone ?? 'UTC');
  const local = options.type === 'datetime_tz' ? `(${expr}) AT TIME ZONE ${zone}` : `CAST(${expr} AS timestamp)`;
  if (grain === 'week' && options.weekStart === 'sunday') {
    return `CAST(date_trunc('week', ${local} + interval '1 day') - interval '1 day' AS date)`;
  }
  const start = `date_trunc('${grain}', ${local})`;
  return grain === 'second' || grain === 'minute' || grain === 'hour' ? start : `CAST(${start} AS date)`;
}
