import type { DatePart, Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import { charactersSpliced, isZoned, standard, standardLiteral } from './standard.ts';

/** The driver registers the functions whose names begin with `ktx_`. */
export const sqlite: Dialect = {
  ...standard,
  name: 'sqlite',
  analyzer: 'sqlite',
  defaultSchema: 'main',
  ignoresCase: true,
  enforcesKeys: true,
  literal: (value) => standardLiteral(value, (text) => charactersSpliced(text, 'char')),
  instant: (utc) => `'${utc}'`,
  division: '* 1.0 /',
  softWords: { true: '1', false: '0', localtimestamp: "datetime('now', 'localtime')" },
  checkedTime: (expr) => checked(expr, sameForm(expr)),
  checkedNumber: (expr) =>
    `CASE WHEN typeof(${expr}) IN ('text', 'blob') THEN ktx_number(${expr}) ELSE ${expr} END`,
  truncate,
  datePart: (part, expr) =>
    part === 'quarter_of_year'
      ? `((CAST(strftime('%m', ${expr}) AS INTEGER) + 2) / 3)`
      : `CAST(strftime('${partFormats[part]}', ${expr}) AS INTEGER)`,
  // Without `floor`, 31 January plus one month would be 2 March.
  add: (expr, { count, unit }, type) =>
    `${type === 'date' ? 'date' : 'datetime'}(${expr}, '${count < 0 ? '' : '+'}${count} ${unit}s', 'floor')`,
  isShown: (expr, timezone) => `ktx_is_shown(${expr}, ${sqlite.literal(timezone)})`,
  percentile: (expr, fraction) => `ktx_percentile(${expr}, ${fraction})`,
  discretePercentile: (expr, fraction) => `ktx_percentile_disc(${expr}, ${fraction})`,
  text: {
    contains: (expr, part) => `instr(${asText(expr)}, ${part}) > 0`,
    startsWith: (expr, part) => `substr(${asText(expr)}, 1, length(${part})) = ${part}`,
    endsWith: (expr, part) => `substr(${asText(expr)}, -length(${part})) = ${part}`,
  },
  recursiveWith: 'WITH RECURSIVE',
  statistics: {
    text: (expr, type) =>
      type === 'decimal'
        ? `CASE WHEN ${expr} = CAST(${expr} AS INTEGER) THEN CAST(CAST(${expr} AS INTEGER) AS TEXT) ELSE CAST(${expr} AS TEXT) END`
        : `CAST(${expr} AS TEXT)`,
    sketch: (text, size) => `ktx_sketch(${text}, ${size})`,
    jsonList: (text) => `json_group_array(${text})`,
    sample: () => undefined,
    timesInText: (expr) => `min(${textTime(expr)}) || ' ' || max(${textTime(expr)})`,
  },
};

/** What a text is when it is read as a time: `checked` takes the same texts. Empty text is NULL. */
function textTime(expr: string): string {
  const day = `substr(${expr}, 1, 10)`;
  const isTime = `typeof(${expr}) = 'text' AND ${expr} GLOB '[0-9][0-9][0-9][0-9]-*' AND date(${day}) = ${day} AND date(${expr}) IS NOT NULL`;
  const hasZone = `substr(${expr}, 17) GLOB '*[-+Z]*'`;
  return `CASE WHEN coalesce(${expr}, '') = '' THEN NULL WHEN NOT (${isTime}) THEN 'text' WHEN length(${expr}) = 10 THEN 'date' WHEN ${hasZone} THEN 'datetime_tz' ELSE 'datetime' END`;
}

const partFormats: Readonly<Record<Exclude<DatePart, 'quarter_of_year'>, string>> = {
  hour_of_day: '%H',
  day_of_week: '%u',
  day_of_month: '%d',
  day_of_year: '%j',
  week_of_year: '%V',
  month_of_year: '%m',
  year_number: '%Y',
};

/** In SQLite, a number never equals a text. */
function asText(expr: string): string {
  return `CAST(${expr} AS TEXT)`;
}

/**
 * Takes and returns text: `YYYY-MM-DD` from days on, else `YYYY-MM-DD HH:MM:SS`. A UTC offset is
 * applied.
 */
function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  const time = isZoned(options)
    ? `ktx_local_time(strftime('%Y-%m-%d %H:%M:%S', ${expr}), ${sqlite.literal(options.timezone ?? 'UTC')})`
    : expr;
  const starts: Readonly<Record<TimeGrain, string>> = {
    second: `strftime('%Y-%m-%d %H:%M:%S', ${time})`,
    minute: `strftime('%Y-%m-%d %H:%M:00', ${time})`,
    hour: `strftime('%Y-%m-%d %H:00:00', ${time})`,
    day: `date(${time})`,
    week: `date(${time}, 'weekday ${options.weekStart === 'monday' ? 0 : 6}', '-6 days')`,
    month: `date(${time}, 'start of month')`,
    quarter: `date(${time}, 'start of month', '-' || ((strftime('%m', ${time}) - 1) % 3) || ' months')`,
    year: `date(${time}, 'start of year')`,
  };
  return checked(expr, starts[grain]);
}

/**
 * `2024-03-15T10:00:00Z`, `2024-03-15 12:00:00+02:00` and `2024-03-15 10:00` are one time, but
 * different texts.
 */
function sameForm(expr: string): string {
  const behind = `substr(${expr}, 21)`;
  const digits = `substr(${behind}, 1, length(${behind}) - length(ltrim(${behind}, '0123456789')))`;
  const fraction = `CASE WHEN substr(${expr}, 20, 1) = '.' THEN rtrim(rtrim('.' || ${digits}, '0'), '.') ELSE '' END`;
  return `strftime('%Y-%m-%d %H:%M:%S', ${expr}) || ${fraction}`;
}

/**
 * Accepts only valid ISO text: SQLite would read a number as a Julian day. Empty text is not a
 * time.
 */
function checked(expr: string, time: string): string {
  const day = `substr(${expr}, 1, 10)`;
  const isTime = `typeof(${expr}) = 'text' AND date(${day}) = ${day} AND date(${expr}) IS NOT NULL`;
  return `CASE WHEN ${isTime} THEN ${time} WHEN ${expr} <> '' THEN ktx_no_time(${expr}) END`;
}
