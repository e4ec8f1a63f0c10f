import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import {
  backslashed,
  dateAddCounted,
  dateAdded,
  isClock,
  standard,
  standardLiteral,
  textByFunctions,
  functionsNamed,
} from './standard.ts';

export const snowflake: Dialect = {
  ...standard,
  name: 'snowflake',
  analyzer: 'snowflake',
  defaultSchema: 'PUBLIC',
  ignoresCase: false,
  foldsUp: true,
  enforcesKeys: false,
  literal: (value) => standardLiteral(value, (text) => backslashed(text, { '\0': '\\0' })),
  instant: (utc) => `CAST('${utc} +00:00' AS TIMESTAMP_TZ)`,
  // `/` of exact numbers has only six digits more than its left side.
  division: '* CAST(1 AS FLOAT) /',
  truncate,
  datePart: functionsNamed(
    {
      hour_of_day: 'hour',
      day_of_month: 'dayofmonth',
      day_of_year: 'dayofyear',
      week_of_year: 'weekiso',
      month_of_year: 'month',
      quarter_of_year: 'quarter',
      year_number: 'year',
    },
    (expr) => `dayofweekiso(${expr})`,
  ),
  add: dateAdded,
  addCounted: dateAddCounted,
  percentile: (expr, fraction) => `PERCENTILE_CONT(${fraction}) WITHIN GROUP (ORDER BY ${expr})`,
  discretePercentile: (expr, fraction) =>
    `PERCENTILE_DISC(${fraction}) WITHIN GROUP (ORDER BY ${expr})`,
  average: (expr) => `avg(CAST(${expr} AS FLOAT))`,
  text: textByFunctions(['CONTAINS', 'STARTSWITH', 'ENDSWITH'], (expr) => `TO_VARCHAR(${expr})`),
  nullsNeedType: true,
  booleanExtreme: (name, expr) => `${name === 'max' ? 'BOOLOR_AGG' : 'BOOLAND_AGG'}(${expr})`,
  misread: /\\/,
  statistics: {
    text: (expr, type) => {
      if (type === 'decimal') return `REGEXP_REPLACE(TO_VARCHAR(${expr}), '[.]0+$', '')`;
      return type === 'date' ? `TO_VARCHAR(${expr}, 'YYYY-MM-DD')` : `TO_VARCHAR(${expr})`;
    },
    sketch: (text, size) =>
      `TO_JSON(ARRAY_SLICE(ARRAY_SORT(ARRAY_AGG(DISTINCT SUBSTR(MD5(${text}), 1, 12))), 0, ${size}))`,
    jsonList: (text) => `TO_JSON(ARRAY_AGG(${text}))`,
    // With a seed, the same blocks are read again.
    sample: (table, share) =>
      `(SELECT * FROM ${table} SAMPLE SYSTEM (${(share * 100).toFixed(6)}) SEED (1)) AS sampled`,
  },
};

/** The start of the week, whatever the session parameter WEEK_START is. */
function truncate(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const zoned =
    type === 'datetime_tz' ? `CONVERT_TIMEZONE(${backslashed(timezone)}, ${expr})` : expr;
  const local = `CAST(${zoned} AS TIMESTAMP_NTZ)`;
  const start = `DATE_TRUNC('${grain}', ${local})`;
  if (isClock(grain)) return start;
  if (grain !== 'week') return `CAST(${start} AS DATE)`;
  const since =
    weekStart === 'monday' ? `DAYOFWEEKISO(${local}) - 1` : `DAYOFWEEKISO(${local}) % 7`;
  return `DATEADD(day, -(${since}), CAST(${local} AS DATE))`;
}
