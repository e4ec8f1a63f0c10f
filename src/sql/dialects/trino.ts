import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import {
  charactersSpliced,
  dated,
  isClock,
  roundedDown,
  standard,
  standardLiteral,
  textByPosition,
  functionsNamed,
} from './standard.ts';

export const trino: Dialect = {
  ...standard,
  name: 'trino',
  analyzer: 'trino',
  defaultSchema: 'default',
  ignoresCase: true,
  enforcesKeys: false,
  literal: (value) => standardLiteral(value, (text) => charactersSpliced(text, 'chr')),
  instant: (utc) => `TIMESTAMP '${utc} UTC'`,
  // `/` of decimals has no more digits than its operands.
  division: '* 1e0 /',
  truncate,
  datePart: functionsNamed(
    {
      hour_of_day: 'hour',
      day_of_month: 'day_of_month',
      day_of_year: 'day_of_year',
      week_of_year: 'week',
      month_of_year: 'month',
      quarter_of_year: 'quarter',
      year_number: 'year',
    },
    (expr) => `day_of_week(${expr})`,
  ),
  // Hours cannot be added to a date.
  add: (expr, { count, unit }, type) =>
    dated(`date_add('${unit}', ${count}, CAST(${expr} AS TIMESTAMP(12)))`, type),
  addCounted: (expr, count, { unit, type }) =>
    dated(`date_add('${unit}', ${count}, CAST(${expr} AS TIMESTAMP(12)))`, type),
  percentile,
  discretePercentile,
  average: (expr) => `avg(CAST(${expr} AS DOUBLE))`,
  text: textByPosition(
    (text, part) => `strpos(${text}, ${part})`,
    (expr) => `CAST(${expr} AS VARCHAR)`,
  ),
  statistics: {
    text: (expr, type) => (type === 'decimal' ? decimalText(expr) : `CAST(${expr} AS VARCHAR)`),
    sketch: (text, size) => {
      const hash = `substr(lower(to_hex(md5(to_utf8(${text})))), 1, 12)`;
      const hashes = `array_agg(DISTINCT ${hash}) FILTER (WHERE ${text} IS NOT NULL)`;
      return `json_format(CAST(slice(array_sort(${hashes}), 1, ${size}) AS JSON))`;
    },
    jsonList: (text) => `json_format(CAST(array_agg(${text}) AS JSON))`,
    sample: (table, share) => `${table} TABLESAMPLE BERNOULLI (${(share * 100).toFixed(4)})`,
  },
};

/** A DOUBLE as text has an exponent: `7.0E0`. */
function decimalText(expr: string): string {
  const whole = `try_cast(${expr} AS BIGINT)`;
  return `CASE WHEN ${expr} = ${whole} THEN CAST(${whole} AS VARCHAR) ELSE CAST(${expr} AS VARCHAR) END`;
}

/**
 * Interpolates between the two nearest values, because the engine's own percentile is an estimate.
 */
function percentile(expr: string, fraction: number): string {
  const sorted = `array_agg(CAST(${expr} AS DOUBLE) ORDER BY ${expr}) FILTER (WHERE ${expr} IS NOT NULL)`;
  const position = `${fraction}e0 * (cardinality(v) - 1)`;
  const valueAt = (round: 'floor' | 'ceil') =>
    `element_at(v, CAST(${round}(${position}) AS INTEGER) + 1)`;
  const between = `${valueAt('floor')} + (${valueAt('ceil')} - ${valueAt('floor')}) * (${position} - floor(${position}))`;
  return `element_at(transform(ARRAY[${sorted}], v -> ${between}), 1)`;
}

function discretePercentile(expr: string, fraction: number): string {
  const sorted = `array_agg(${expr} ORDER BY ${expr}) FILTER (WHERE ${expr} IS NOT NULL)`;
  const position = `greatest(1, CAST(ceil(${roundedDown(fraction)}e0 * count(${expr})) AS INTEGER))`;
  return `element_at(${sorted}, ${position})`;
}

function truncate(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const zoned =
    type === 'datetime_tz' ? `(${expr}) AT TIME ZONE ${charactersSpliced(timezone, 'chr')}` : expr;
  // A cast to fewer digits could round up into the next period.
  const local = `CAST(${zoned} AS TIMESTAMP(12))`;
  if (grain === 'week' && weekStart === 'sunday') {
    return `CAST(date_trunc('week', ${local} + INTERVAL '1' DAY) - INTERVAL '1' DAY AS DATE)`;
  }
  const start = `date_trunc('${grain}', ${local})`;
  return isClock(grain) ? start : `CAST(${start} AS DATE)`;
}
