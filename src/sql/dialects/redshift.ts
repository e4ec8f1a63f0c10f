import type { Dialect } from '../dialect.ts';
import {
  dateAddCounted,
  dateAdded,
  dateTruncated,
  partExtracted,
  roundedDown,
  standard,
  standardLiteral,
  textByPosition,
} from './standard.ts';

export const redshift: Dialect = {
  ...standard,
  name: 'redshift',
  analyzer: 'redshift',
  defaultSchema: 'public',
  ignoresCase: true,
  enforcesKeys: false,
  literal: (value) => standardLiteral(value, textLiteral),
  // `/` of exact numbers can have as few as four digits.
  division: '* CAST(1 AS FLOAT8) /',
  truncate: dateTruncated,
  datePart: (part, expr) =>
    part === 'day_of_week'
      ? `((CAST(extract(dow FROM ${expr}) AS INTEGER) + 6) % 7 + 1)`
      : partExtracted({}, (extracted) => `CAST(${extracted} AS INTEGER)`)(part, expr),
  add: dateAdded,
  addCounted: dateAddCounted,
  percentile: (expr, fraction) => `PERCENTILE_CONT(${fraction}) WITHIN GROUP (ORDER BY ${expr})`,
  discretePercentile: (expr, fraction) =>
    `PERCENTILE_DISC(${roundedDown(fraction)}) WITHIN GROUP (ORDER BY ${expr})`,
  average: (expr) => `avg(CAST(${expr} AS FLOAT8))`,
  text: textByPosition(
    (text, part) => `STRPOS(${text}, ${part})`,
    (expr) => `CAST(${expr} AS VARCHAR)`,
  ),
  nullsNeedType: true,
  booleanExtreme: (name, expr) => `${name === 'max' ? 'bool_or' : 'bool_and'}(${expr})`,
  misread: /\\/,
};

/**
 * Writes a backslash as a function call, so that it does not matter whether the server reads it as
 * an escape.
 */
function textLiteral(text: string): string {
  const pieces = text.split(/([\\\0])/).map((piece, index) => {
    return index % 2 === 1 ? `CHR(${piece.charCodeAt(0)})` : `'${piece.replaceAll("'", "''")}'`;
  });
  return pieces.length === 1 ? `${pieces[0]}` : `(${pieces.join(' || ')})`;
}
