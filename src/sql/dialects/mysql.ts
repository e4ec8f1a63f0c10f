import { type Dialect, noSuchSqlError, type TimeGrain, type TruncateOptions } from '../dialect.ts';
import {
  dated,
  isZoned,
  orderedByCase,
  partByFunction,
  standard,
  standardLiteral,
  textByPosition,
} from './standard.ts';

/** For both MySQL 8 and MariaDB 10.6: uses only what both have. */
export const mysql: Dialect = {
  ...standard,
  name: 'mysql',
  analyzer: 'mysql',
  defaultSchema: '',
  ignoresCase: true,
  enforcesKeys: true,
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  literal: (value) => standardLiteral(value, textLiteral),
  instant: (utc) => `CONVERT_TZ('${utc}', '+00:00', @@session.time_zone)`,
  // Multiplied by a float, because `/` of exact numbers has only four digits more than its left
  // side.
  division: '* 1e0 /',
  truncate,
  datePart: partByFunction({
    hour_of_day: (expr) => `HOUR(${expr})`,
    day_of_week: (expr) => `(WEEKDAY(${expr}) + 1)`,
    day_of_month: (expr) => `DAYOFMONTH(${expr})`,
    day_of_year: (expr) => `DAYOFYEAR(${expr})`,
    week_of_year: (expr) => `WEEK(${expr}, 3)`,
    month_of_year: (expr) => `MONTH(${expr})`,
    quarter_of_year: (expr) => `QUARTER(${expr})`,
    year_number: (expr) => `YEAR(${expr})`,
  }),
  add: (expr, { count, unit }, type) =>
    dated(
      `(${expr} ${count < 0 ? '-' : '+'} INTERVAL ${Math.abs(count)} ${unit.toUpperCase()})`,
      type,
    ),
  addCounted: (expr, count, { unit, type }) =>
    dated(`(${expr} + INTERVAL (${count}) ${unit.toUpperCase()})`, type),
  ordersWholeWindows: true,
  average: (expr) => `avg(${expr} * 1e0)`,
  // The collation of a column may treat A and a as equal.
  text: textByPosition((text, part) => `LOCATE(${part}, ${text} COLLATE utf8mb4_bin)`, asText),
  order: orderedByCase,
  misread: /\\/,
  pipesAreOr: true,
  // Distinguishes texts that the collation of the column treats as equal.
  statistics: {
    text: (expr, type) =>
      type === 'decimal' ? `REGEXP_REPLACE(${asText(expr)}, '[.]0+$', '')` : asText(expr),
    sketch: (text, size) => {
      const hash = `LEFT(MD5(${text}), 12)`;
      const smallest = `SUBSTRING_INDEX(GROUP_CONCAT(DISTINCT ${hash} ORDER BY ${hash} SEPARATOR '","'), '","', ${size})`;
      return `CONCAT('["', ${smallest}, '"]')`;
    },
    jsonList: (text) => `JSON_ARRAYAGG(${text})`,
    sample: (table, share) =>
      `(SELECT * FROM ${table} WHERE RAND() < ${share.toFixed(6)}) AS sampled`,
  },
};

function asText(expr: string): string {
  return `CONVERT(${expr} USING utf8mb4)`;
}

/** Writes a backslash as a function call, which is safe in every sql_mode. */
function textLiteral(text: string): string {
  const pieces = text.split(/([\\\0])/).flatMap((piece, index) => {
    if (index % 2 === 1) return [`CHAR(${piece.charCodeAt(0)} USING utf8mb4)`];
    return piece === '' ? [] : [`'${piece.replaceAll("'", "''")}'`];
  });
  const [only = "''"] = pieces;
  return pieces.length < 2 ? only : `CONCAT(${pieces.join(', ')})`;
}

function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  if (isZoned(options)) {
    // CONVERT_TZ returns NULL unless the server's time zone tables are loaded, which no
    // installation does by itself.
    const hint = 'Leave timezone out (UTC), or ask for UTC.';
    throw noSuchSqlError(
      'MySQL and MariaDB',
      `periods cut in ${options.timezone} for certain, on every server`,
      hint,
    );
  }
  const local =
    options.type === 'datetime_tz' ? `CONVERT_TZ(${expr}, @@session.time_zone, '+00:00')` : expr;
  const day = `DATE(${local})`;
  const year = `CAST(DATE_FORMAT(${local}, '%Y-01-01') AS DATE)`;
  const starts: Readonly<Record<TimeGrain, string>> = {
    second: `CAST(DATE_FORMAT(${local}, '%Y-%m-%d %H:%i:%s') AS DATETIME)`,
    minute: `CAST(DATE_FORMAT(${local}, '%Y-%m-%d %H:%i:00') AS DATETIME)`,
    hour: `CAST(DATE_FORMAT(${local}, '%Y-%m-%d %H:00:00') AS DATETIME)`,
    day,
    week: `(${day} - INTERVAL ${options.weekStart === 'monday' ? `WEEKDAY(${local})` : `(DAYOFWEEK(${local}) - 1)`} DAY)`,
    month: `CAST(DATE_FORMAT(${local}, '%Y-%m-01') AS DATE)`,
    quarter: `(${year} + INTERVAL (QUARTER(${local}) - 1) QUARTER)`,
    year,
  };
  return starts[grain];
}
