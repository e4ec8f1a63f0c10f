import type { Dialect } from '../dialect.ts';
import {
  dateTruncated,
  intervalAdded,
  partExtracted,
  roundedDown,
  standard,
  standardLiteral,
  textByPosition,
  shownByRoundTrip,
} from './standard.ts';

export const postgres: Dialect = {
  ...standard,
  name: 'postgres',
  analyzer: 'postgresql',
  defaultSchema: 'public',
  ignoresCase: false,
  enforcesKeys: true,
  literal: (value) => standardLiteral(value, textLiteral),
  // `* 1.0` turns an integer into numeric and leaves a float as it is.
  division: '* 1.0 /',
  truncate: dateTruncated,
  datePart: partExtracted({}, (extracted) => `CAST(${extracted} AS INTEGER)`),
  add: intervalAdded,
  isShown: (expr, timezone) => shownByRoundTrip(expr, timezone),
  percentile: (expr, fraction) => `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${expr})`,
  discretePercentile: (expr, fraction) =>
    `percentile_disc(${roundedDown(fraction)}) WITHIN GROUP (ORDER BY ${expr})`,
  text: textByPosition(
    (text, part) => `strpos(${text}, ${part})`,
    (expr) => `CAST(${expr} AS TEXT)`,
  ),
  nullsNeedType: true,
  booleanExtreme: (name, expr) => `${name === 'max' ? 'bool_or' : 'bool_and'}(${expr})`,
  recursiveWith: 'WITH RECURSIVE',
  fence: 'OFFSET 0',
  statistics: {
    text: (expr, type) =>
      type === 'decimal'
        ? `regexp_replace(CAST(${expr} AS text), '[.]0+$', '')`
        : `CAST(${expr} AS text)`,
    sketch: (text, size) => {
      const hash = `left(md5(${text}), 12)`;
      return `CAST(to_json((array_agg(DISTINCT ${hash} ORDER BY ${hash}) FILTER (WHERE ${text} IS NOT NULL))[1:${size}]) AS text)`;
    },
    jsonList: (text) => `CAST(json_agg(${text}) AS text)`,
    sample: (table, share) => `${table} TABLESAMPLE SYSTEM (${(share * 100).toFixed(4)})`,
  },
};

/**
 * A backslash is only safe in an escape string: elsewhere its meaning depends on
 * `standard_conforming_strings`.
 */
function textLiteral(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return doubled.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`;
}
