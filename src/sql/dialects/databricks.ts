import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import {
  backslashed,
  dated,
  isClock,
  roundedDown,
  standard,
  standardLiteral,
  textByFunctions,
  functionsNamed,
} from './standard.ts';

export const databricks: Dialect = {
  ...standard,
  name: 'databricks',
  analyzer: 'databricks',
  defaultSchema: 'default',
  ignoresCase: true,
  enforcesKeys: false,
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  literal: (value) => standardLiteral(value, (text) => backslashed(text, { '\0': '\\0' })),
  instant: (utc) => `TIMESTAMP '${utc}Z'`,
  // `/` of decimals may be cut to six digits.
  division: '* 1D /',
  truncate,
  datePart: functionsNamed(
    {
      hour_of_day: 'hour',
      day_of_month: 'dayofmonth',
      day_of_year: 'dayofyear',
      week_of_year: 'weekofyear',
      month_of_year: 'month',
      quarter_of_year: 'quarter',
      year_number: 'year',
    },
    (expr) => `(weekday(${expr}) + 1)`,
  ),
  add: (expr, { count, unit }, type) =>
    dated(
      `(CAST(${expr} AS TIMESTAMP_NTZ) ${count < 0 ? '-' : '+'} INTERVAL '${Math.abs(count)}' ${unit.toUpperCase()})`,
      type,
    ),
  addCounted: (expr, count, { unit, type }) =>
    dated(`dateadd(${unit.toUpperCase()}, ${count}, CAST(${expr} AS TIMESTAMP_NTZ))`, type),
  percentile: (expr, fraction) => `percentile(${expr}, ${fraction}D)`,
  discretePercentile: (expr, fraction) =>
    `percentile_disc(${roundedDown(fraction)}D) WITHIN GROUP (ORDER BY ${expr})`,
  average: (expr) => `avg(CAST(${expr} AS DOUBLE))`,
  text: textByFunctions(
    ['contains', 'startswith', 'endswith'],
    (expr) => `CAST(${expr} AS STRING)`,
  ),
  // A doubled quote is not an escape here: it joins two texts.
  misread: /\\|^'[^]*''[^]*'$/,
  statistics: {
    text: (expr, type) => (type === 'decimal' ? decimalText(expr) : `CAST(${expr} AS STRING)`),
    sketch: (text, size) => {
      const hashes = `collect_set(substr(md5(${text}), 1, 12))`;
      return `to_json(slice(array_sort(${hashes}), 1, ${size}))`;
    },
    jsonList: (text) => `to_json(collect_list(${text}))`,
    sample: (table, share) => `${table} TABLESAMPLE (${(share * 100).toFixed(4)} PERCENT)`,
  },
};

/** A DOUBLE as text ends in `.0`, or has an exponent. */
function decimalText(expr: string): string {
  const whole = `try_cast(${expr} AS BIGINT)`;
  return `CASE WHEN ${expr} = ${whole} THEN CAST(${whole} AS STRING) ELSE CAST(${expr} AS STRING) END`;
}

/** TIMESTAMP is an instant shown in the session's zone; local times are TIMESTAMP_NTZ. */
function truncate(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const naive = `CAST(${expr} AS TIMESTAMP_NTZ)`;
  const local =
    type === 'datetime_tz'
      ? `convert_timezone(current_timezone(), ${backslashed(timezone)}, ${naive})`
      : naive;
  if (grain === 'week' && weekStart === 'sunday') {
    return `date_sub(CAST(date_trunc('WEEK', date_add(CAST(${local} AS DATE), 1)) AS DATE), 1)`;
  }
  const start = `date_trunc('${grain.toUpperCase()}', ${local})`;
  return isClock(grain) ? start : `CAST(${start} AS DATE)`;
}
