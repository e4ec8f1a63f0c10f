import { UserError } from '../../lib/error.ts';
import type { Dialect, TimeGrain, TruncateOptions } from '../dialect.ts';
import { charactersSpliced, operand, quoted, standardLiteral } from './standard.ts';

/** `ktx_percentile` and `ktx_sketch` are aggregates that the driver registers. */
export const sqlite: Dialect = {
  name: 'sqlite',
  analyzer: 'sqlite',
  defaultSchema: 'main',
  quote: quoted,
  literal: (value) => standardLiteral(value, (text) => charactersSpliced(text, 'char')),
  divide: (numerator, denominator) => `${operand(numerator)} * 1.0 / NULLIF(${denominator}, 0)`,
  nullSafeEqual: (left, right) => `${left} IS ${right}`,
  truncate,
  percentile: (expr, fraction) => `ktx_percentile(${expr}, ${fraction})`,
  limit: (rows) => `LIMIT ${rows}`,
  typedNull: (type) => `CAST(NULL AS ${type})`,
  statistics: {
    text: (expr, type) =>
      type === 'decimal'
        ? `CASE WHEN ${expr} = CAST(${expr} AS INTEGER) THEN CAST(CAST(${expr} AS INTEGER) AS TEXT) ELSE CAST(${expr} AS TEXT) END`
        : `CAST(${expr} AS TEXT)`,
    sketch: (text, size) => `ktx_sketch(${text}, ${size})`,
    jsonList: (text) => `json_group_array(${text})`,
    sample: () => undefined,
  },
};

/** Text in, text out: `YYYY-MM-DD` from a day on, else `YYYY-MM-DD HH:MM:SS`. An offset in the text is brought to UTC. */
function truncate(grain: TimeGrain, expr: string, options: TruncateOptions): string {
  if (options.type === 'datetime_tz' && (options.timezone ?? 'UTC') !== 'UTC') {
    throw new UserError('not_supported', `SQLite knows no time zones, so a period cannot be cut in ${options.timezone}`, {
      hint: 'Leave timezone out (UTC), or ask for UTC.',
    });
  }
  // 'auto' reads a number as Julian day or Unix time, and does nothing to text.
  const starts: Readonly<Record<TimeGrain, string>> = {
    second: `strftime('%Y-%m-%d %H:%M:%S', ${expr}, 'auto')`,
    minute: `strftime('%Y-%m-%d %H:%M:00', ${expr}, 'auto')`,
    hour: `strftime('%Y-%m-%d %H:00:00', ${expr}, 'auto')`,
    day: `date(${expr}, 'auto')`,
    week: `date(${expr}, 'auto', 'weekday ${options.weekStart === 'monday' ? 0 : 6}', '-6 days')`,
    month: `date(${expr}, 'auto', 'start of month')`,
    quarter: `date(${expr}, 'auto', 'start of month', '-' || ((strftime('%m', ${expr}, 'auto') - 1) % 3) || ' months')`,
    year: `date(${expr}, 'auto', 'start of year')`,
  };
  return starts[grain];
}
