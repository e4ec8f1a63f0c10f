import {
  type DatePart,
  type Dialect,
  noSuchSqlError,
  type TimeGrain,
  type TruncateOptions,
} from '../dialect.ts';
import {
  dateAddCounted,
  dateAdded,
  isZoned,
  orderedByCase,
  standard,
  standardLiteral,
  textByPosition,
} from './standard.ts';

/** SQL Server 2016 and newer, Azure SQL. */
export const sqlserver: Dialect = {
  ...standard,
  name: 'sqlserver',
  analyzer: 'tsql',
  defaultSchema: 'dbo',
  ignoresCase: true,
  enforcesKeys: true,
  quote: (identifier) => `[${identifier.replaceAll(']', ']]')}]`,
  literal: (value) =>
    typeof value === 'boolean'
      ? `CAST(${value ? 1 : 0} AS bit)`
      : standardLiteral(value, textLiteral),
  instant: (utc) => `CAST('${utc} +00:00' AS datetimeoffset)`,
  // Multiplied by a float, because the quotient of large decimals would be cut to six digits.
  division: '* 1e0 /',
  truncate,
  datePart: (part, expr) =>
    part === 'day_of_week'
      ? `(DATEDIFF(day, CAST('00010101' AS date), ${expr}) % 7 + 1)`
      : `DATEPART(${partWords[part]}, ${expr})`,
  // Hours cannot be added to a date.
  add: (expr, period, type) =>
    dateAdded(type === 'date' ? `CAST(${expr} AS datetime2)` : expr, period, type),
  addCounted: (expr, count, by) =>
    dateAddCounted(by.type === 'date' ? `CAST(${expr} AS datetime2)` : expr, count, by),
  average: (expr) => `avg(${expr} * 1e0)`,
  // The collation of a column may treat A and a as equal.
  text: textByPosition(
    (text, part) => `CHARINDEX(${part}, ${text} COLLATE Latin1_General_BIN2)`,
    (expr) => `CAST(${expr} AS nvarchar(max))`,
  ),
  order: orderedByCase,
  limit: (rows, isOrdered) =>
    `${isOrdered ? '' : 'ORDER BY (SELECT NULL) '}OFFSET 0 ROWS FETCH NEXT ${rows} ROWS ONLY`,
  groupsByPosition: false,
  nullsNeedType: true,
  hasBitsOnly: true,
  booleanExtreme: (name, expr) => `CAST(${name}(CAST(${expr} AS tinyint)) AS bit)`,
  misread: /\\[\r\n]/,
  statistics: {
    text: (expr, type) => {
      if (type === 'date') return `CONVERT(nvarchar(10), ${expr}, 23)`;
      if (type === 'datetime') return `CONVERT(nvarchar(27), ${expr}, 121)`;
      return type === 'decimal' ? decimalText(expr) : asText(expr);
    },
    // An aggregate of distinct values has no order of its own.
    sketch: (text, size, from) => {
      const hash = `LOWER(CONVERT(char(12), HASHBYTES('MD5', ${text}), 2))`;
      const smallest = `SELECT DISTINCT TOP (${size}) ${hash} AS h FROM ${from} WHERE ${text} IS NOT NULL ORDER BY h`;
      const list = `STRING_AGG(${asText('h')}, '","') WITHIN GROUP (ORDER BY h)`;
      return `(SELECT CASE WHEN count(*) > 0 THEN CONCAT('["', ${list}, '"]') END FROM (${smallest}) AS hashes)`;
    },
    jsonList: (text) => {
      const list = `STRING_AGG(STRING_ESCAPE(${asText(text)}, 'json'), '","')`;
      return `CASE WHEN count(${text}) > 0 THEN CONCAT('["', ${list}, '"]') ELSE '[]' END`;
    },
    countValues: (expr) => `count(CASE WHEN ${expr} IS NOT NULL THEN 1 END)`,
    joinTexts: joinedTexts,
    textLength: (text) => `LEN(${text})`,
    firstCharacters: (text, count) => `SUBSTRING(${text}, 1, ${count})`,
    sample: (table, share) => `${table} TABLESAMPLE (${(share * 100).toFixed(4)} PERCENT)`,
  },
};

/** CONCAT_WS takes at least two texts, and at most 253. */
function joinedTexts(separator: string, texts: readonly string[]): string {
  const [first = "''"] = texts;
  if (texts.length < 2) return first;
  if (texts.length <= 250) return `CONCAT_WS(${[separator, ...texts].join(', ')})`;
  const parts = Array.from({ length: Math.ceil(texts.length / 250) }, (_, index) =>
    joinedTexts(separator, texts.slice(index * 250, (index + 1) * 250)),
  );
  return joinedTexts(separator, parts);
}

function asText(expr: string): string {
  return `CAST(${expr} AS nvarchar(max))`;
}

/** Without the zeros behind the point, and without a point that nothing follows. */
function decimalText(expr: string): string {
  const whole = `TRY_CAST(${expr} AS bigint)`;
  return `CASE WHEN ${expr} = ${whole} THEN ${asText(whole)} ELSE ${asText(expr)} END`;
}

const partWords: Readonly<Record<Exclude<DatePart, 'day_of_week'>, string>> = {
  hour_of_day: 'hour',
  day_of_month: 'day',
  day_of_year: 'dayofyear',
  week_of_year: 'iso_week',
  month_of_year: 'month',
  quarter_of_year: 'quarter',
  year_number: 'year',
};

/** A backslash before a line break would remove both from the text. */
function textLiteral(text: string): string {
  const pieces = text
    .split(/(?<=\\)(?=[\r\n])/)
    .map((piece) => `N'${piece.replaceAll("'", "''")}'`);
  return pieces.length === 1 ? `${pieces[0]}` : `(${pieces.join(' + ')})`;
}

/** The start of the week, whatever the session setting DATEFIRST is. */
function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  if (isZoned(options)) {
    throw noSuchSqlError(
      'SQL Server',
      `periods cut in ${options.timezone}: it has zone names of its own`,
      'Leave timezone out (UTC).',
    );
  }
  const local =
    options.type === 'datetime_tz' ? `CAST(SWITCHOFFSET(${expr}, '+00:00') AS datetime2)` : expr;
  const day = `CAST(${local} AS date)`;
  if (grain === 'second' || grain === 'minute' || grain === 'hour')
    return `DATEADD(${grain}, DATEDIFF(${grain}, ${day}, ${local}), CAST(${day} AS datetime2(0)))`;
  const firstDay = options.weekStart === 'monday' ? '00010101' : '00010107';
  const starts: Readonly<Record<typeof grain, string>> = {
    day,
    week: `DATEADD(day, -(DATEDIFF(day, CAST('${firstDay}' AS date), ${day}) % 7), ${day})`,
    month: `DATEFROMPARTS(YEAR(${local}), MONTH(${local}), 1)`,
    quarter: `DATEFROMPARTS(YEAR(${local}), DATEPART(quarter, ${local}) * 3 - 2, 1)`,
    year: `DATEFROMPARTS(YEAR(${local}), 1, 1)`,
  };
  return starts[grain];
}
