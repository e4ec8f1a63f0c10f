import type { Dialect, Period, TimeGrain, TruncateOptions } from '../dialect.ts';
import {
  backslashed,
  functionsNamed,
  isClock,
  roundedDown,
  standard,
  standardLiteral,
  textByFunctions,
} from './standard.ts';

export const clickhouse: Dialect = {
  ...standard,
  name: 'clickhouse',
  analyzer: 'clickhouse',
  defaultSchema: 'default',
  ignoresCase: false,
  enforcesKeys: false,
  quote: (identifier) => `"${identifier.replaceAll('\\', '\\\\').replaceAll('"', '""')}"`,
  literal: (value) => standardLiteral(value, (text) => backslashed(text, { '\0': '\\0' })),
  instant: (utc) => `toDateTime64('${utc}', 9, 'UTC')`,
  // `/` of decimals keeps the scale of the left side.
  division: '* 1e0 /',
  truncate,
  datePart: functionsNamed(
    {
      hour_of_day: 'toHour',
      day_of_month: 'toDayOfMonth',
      day_of_year: 'toDayOfYear',
      week_of_year: 'toISOWeek',
      month_of_year: 'toMonth',
      quarter_of_year: 'toQuarter',
      year_number: 'toYear',
    },
    (expr) => `toDayOfWeek(${expr})`,
  ),
  add: (expr, { count, unit }, type) => {
    const moved = `${adding(unit)}(${expr}, ${count})`;
    return type === 'date' ? `toDate32(${moved})` : moved;
  },
  // A 16-bit Date would overflow after 2149.
  addCounted: (expr, count, { unit, type }) =>
    `${adding(unit)}(${type === 'date' ? `toDate32(${expr})` : expr}, ${count})`,
  percentile: (expr, fraction) => `quantileExactInclusive(${fraction})(${expr})`,
  discretePercentile,
  text: textByFunctions(['position', 'startsWith', 'endsWith'], (expr) => `toString(${expr})`),
  union: 'UNION DISTINCT',
  constantOf: 'ignore',
  nullable: 'toNullable',
  sameOrBothNull: 'IS NOT DISTINCT FROM',
  starMeansEveryName: true,
  losesNullsOfOuterQuery: true,
  // By default, unmatched rows of a join get zeros and empty texts instead of NULL, and a sum of no
  // rows is 0.
  settings:
    'SETTINGS join_use_nulls = 1, aggregate_functions_null_for_empty = 1, ' +
    'enable_extended_results_for_datetime_functions = 1, prefer_column_name_to_alias = 1',
  misread: /\\/,
  statistics: {
    text: (expr, type) =>
      type === 'decimal'
        ? `replaceRegexpOne(toString(${expr}), '[.]0+$', '')`
        : `toString(${expr})`,
    sketch: (text, size) => {
      const hash = `lower(substring(hex(MD5(${text})), 1, 12))`;
      return `toJSONString(arraySlice(arraySort(groupUniqArray(${hash})), 1, ${size}))`;
    },
    jsonList: (text) => `toJSONString(groupArray(${text}))`,
    sample: (table, share) =>
      `(SELECT * FROM ${table} WHERE randCanonical() < ${share.toFixed(6)}) AS sampled`,
  },
};

/** The engine's own quantile counts its level in another way. */
function discretePercentile(expr: string, fraction: number): string {
  const position = `greatest(1, toUInt64(ceil(${roundedDown(fraction)} * count(${expr}))))`;
  return `if(count(${expr}) = 0, NULL, arraySort(groupArray(${expr}))[${position}])`;
}

function truncate(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const zoned = type === 'datetime_tz' ? `toTimeZone(${expr}, ${backslashed(timezone)})` : expr;
  // A date has no hour.
  const local = type === 'date' && isClock(grain) ? `toDateTime64(${expr}, 0)` : zoned;
  const starts: Readonly<Record<TimeGrain, string>> = {
    second: `toStartOfSecond(toDateTime64(${local}, 3))`,
    minute: `toStartOfMinute(${local})`,
    hour: `toStartOfHour(${local})`,
    day: `toDate32(${local})`,
    week: `toStartOfWeek(${local}, ${weekStart === 'monday' ? 1 : 0})`,
    month: `toStartOfMonth(${local})`,
    quarter: `toStartOfQuarter(${local})`,
    year: `toStartOfYear(${local})`,
  };
  // A time with a zone would be shown as a point in time; periods are read on the local clock.
  return type === 'datetime_tz' && isClock(grain)
    ? `toDateTime64(toString(${starts[grain]}), 0)`
    : starts[grain];
}

/** The function that adds such periods: `addMonths`. */
function adding(unit: Period['unit']): string {
  return `add${unit.charAt(0).toUpperCase()}${unit.slice(1)}s`;
}
