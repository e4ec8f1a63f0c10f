import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import { charactersSpliced, operand, quoted, standardLiteral } from './standard.ts';

export const duckdb: Dialect = {
  name: 'duckdb',
  analyzer: 'duckdb',
  defaultSchema: 'main',
  quote: quoted,
  literal: (value) => standardLiteral(value, (text) => charactersSpliced(text, 'chr')),
  divide: (numerator, denominator) => `${operand(numerator)} / NULLIF(${denominator}, 0)`,
  nullSafeEqual: (left, right) => `${left} IS NOT DISTINCT FROM ${right}`,
  truncate,
  percentile: (expr, fraction) => `quantile_cont(${expr}, ${fraction})`,
  limit: (rows) => `LIMIT ${rows}`,
  typedNull: (type) => `CAST(NULL AS ${type})`,
  statistics: {
    text: (expr, type) => (type === 'decimal' ? `regexp_replace(CAST(${expr} AS VARCHAR), '[.]0+$', '')` : `CAST(${expr} AS VARCHAR)`),
    sketch: (text, size) =>
      `CAST(to_json(list_slice(list_sort(list(DISTINCT left(md5(${text}), 12)) FILTER (WHERE ${text} IS NOT NULL)), 1, ${size})) AS VARCHAR)`,
    jsonList: (text) => `CAST(to_json(list(${text})) AS VARCHAR)`,
    sample: (table, share) => `${table} TABLESAMPLE ${percent(share)} PERCENT (SYSTEM)`,
  },
};

function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  const zone = standardLiteral(options.timezone ?? 'UTC', (text) => charactersSpliced(text, 'chr'));
  const local = options.type === 'datetime_tz' ? `(${expr}) AT TIME ZONE ${zone}` : `CAST(${expr} AS TIMESTAMP)`;
  if (grain === 'week' && options.weekStart === 'sunday') {
    return `CAST(date_trunc('week', ${local} + INTERVAL 1 DAY) - INTERVAL 1 DAY AS DATE)`;
  }
  const start = `date_trunc('${grain}', ${local})`;
  return grain === 'second' || grain === 'minute' || grain === 'hour' ? start : `CAST(${start} AS DATE)`;
}

const percent = (share: number): string => (share * 100).toFixed(4);
