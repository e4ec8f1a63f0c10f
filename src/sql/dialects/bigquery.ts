import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import type { FieldType } from '../field-type.ts';
import {
  backslashed,
  dated,
  isClock,
  partExtracted,
  roundedDown,
  standard,
  standardLiteral,
} from './standard.ts';

export const bigquery: Dialect = {
  ...standard,
  name: 'bigquery',
  analyzer: 'bigquery',
  defaultSchema: '',
  ignoresCase: true,
  enforcesKeys: false,
  quote: (identifier) =>
    `\`${identifier.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('\n', '\\n')}\``,
  literal: (value) => standardLiteral(value, textLiteral),
  instant: (utc) => `TIMESTAMP '${utc}+00'`,
  division: '/',
  truncate,
  datePart: (part, expr) =>
    part === 'day_of_week'
      ? `(MOD(EXTRACT(DAYOFWEEK FROM ${expr}) + 5, 7) + 1)`
      : partExtracted(
          { day_of_year: 'DAYOFYEAR', week_of_year: 'ISOWEEK' },
          (extracted) => extracted,
        )(part, expr),
  add: (expr, { count, unit }, type) =>
    dated(`DATETIME_ADD(CAST(${expr} AS DATETIME), INTERVAL ${count} ${unit.toUpperCase()})`, type),
  addCounted: (expr, count, { unit, type }) =>
    dated(
      `DATETIME_ADD(CAST(${expr} AS DATETIME), INTERVAL (${count}) ${unit.toUpperCase()})`,
      type,
    ),
  percentile,
  discretePercentile,
  text: {
    contains: (expr, part) => `STRPOS(${asText(expr)}, ${part}) > 0`,
    startsWith: (expr, part) => `STARTS_WITH(${asText(expr)}, ${part})`,
    endsWith: (expr, part) => `ENDS_WITH(${asText(expr)}, ${part})`,
  },
  union: 'UNION DISTINCT',
  // Names of result columns have letters, digits and _ only, and are unique ignoring case.
  resultColumn: (name, index) =>
    `${name.replaceAll(/\W/g, '_').slice(0, 200)}_${index + 1}`.replace(/^(?=\d)/, '_'),
  // A doubled quote would end the text and begin another.
  misread: /\\|\n|^'[^]*''[^]*'$/,
  statistics: {
    text: statisticsText,
    sketch: (text, size) => {
      const hash = `SUBSTR(TO_HEX(MD5(${text})), 1, 12)`;
      return listAsJson(`ARRAY_AGG(DISTINCT ${hash} IGNORE NULLS ORDER BY ${hash} LIMIT ${size})`);
    },
    jsonList: (text) => listAsJson(`ARRAY_AGG(${text} IGNORE NULLS)`),
    joinTexts: (separator, texts) => `ARRAY_TO_STRING([${texts.join(', ')}], ${separator})`,
    billsWhatItReads: true,
    // Days of a table, which `*` stands for, cannot be sampled by blocks.
    sample: (table, share) =>
      table.endsWith('*`')
        ? `(SELECT * FROM ${table} WHERE RAND() < ${share.toFixed(6)}) AS sampled`
        : `${table} TABLESAMPLE SYSTEM (${(100 * share).toFixed(6)} PERCENT)`,
  },
};

/** An aggregate of no values is NULL, and its JSON would be the text `null`. */
function listAsJson(list: string): string {
  return `COALESCE(NULLIF(TO_JSON_STRING(${list}), 'null'), '[]')`;
}

function statisticsText(expr: string, type: FieldType): string {
  if (type === 'unknown') return `TO_JSON_STRING(${expr})`;
  const text = asText(expr);
  return type === 'decimal' ? `REGEXP_REPLACE(${text}, '[.]0+$', '')` : text;
}

function textLiteral(text: string): string {
  return backslashed(text, { '\n': '\\n', '\r': '\\r', '\0': '\\x00' });
}

function asText(expr: string): string {
  return `CAST(${expr} AS STRING)`;
}

/** Interpolates between the two nearest values: PERCENTILE_CONT is not an aggregate here. */
function percentile(expr: string, fraction: number): string {
  const sorted = `ARRAY_AGG(CAST(${expr} AS FLOAT64) IGNORE NULLS ORDER BY CAST(${expr} AS FLOAT64))`;
  const position = `${fraction} * (COUNT(${expr}) - 1)`;
  const valueAt = (round: 'FLOOR' | 'CEIL') =>
    `${sorted}[SAFE_OFFSET(CAST(${round}(${position}) AS INT64))]`;
  const low = valueAt('FLOOR');
  const high = valueAt('CEIL');
  return `(${low} + (${high} - ${low}) * (${position} - FLOOR(${position})))`;
}

function discretePercentile(expr: string, fraction: number): string {
  const position = `GREATEST(1, CAST(CEIL(${roundedDown(fraction)} * COUNT(${expr})) AS INT64))`;
  return `ARRAY_AGG(${expr} IGNORE NULLS ORDER BY ${expr})[SAFE_ORDINAL(${position})]`;
}

function truncate(
  grain: TimeGrain,
  expr: string,
  { type, weekStart, timezone = 'UTC' }: TruncateOptions,
): string {
  const local =
    type === 'datetime_tz'
      ? `DATETIME(${expr}, ${textLiteral(timezone)})`
      : `CAST(${expr} AS DATETIME)`;
  const part = grain === 'week' ? `WEEK(${weekStart.toUpperCase()})` : grain.toUpperCase();
  return isClock(grain)
    ? `DATETIME_TRUNC(${local}, ${part})`
    : `DATE_TRUNC(CAST(${local} AS DATE), ${part})`;
}
