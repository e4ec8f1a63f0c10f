import type { Dialect } from '../dialect.ts';
import type { FieldType } from '../field-type.ts';
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

/** LISTAGG fails for a longer text. */
const aggregatedBytes = 65_535;
/** Of JSON: six for an escaped control character. */
const mostBytesOfCharacter = 6;

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
  statistics: {
    text: statisticsText,
    sketch: (text, size, from) => {
      const hashes = `SELECT DISTINCT LEFT(MD5(${text}), 12) AS h FROM ${from} WHERE ${text} IS NOT NULL ORDER BY 1 LIMIT ${size}`;
      return `(SELECT '["' || LISTAGG(h, '","') WITHIN GROUP (ORDER BY h) || '"]' FROM (${hashes}) AS hashes)`;
    },
    jsonList: (text, most) => {
      const bytes = Math.floor((aggregatedBytes - 2) / most) - 1;
      const whole = jsonText(text);
      const cut = jsonText(`LEFT(${text}, ${Math.floor((bytes - 2) / mostBytesOfCharacter)})`);
      const value = `CASE WHEN OCTET_LENGTH(${whole}) <= ${bytes} THEN ${whole} ELSE ${cut} END`;
      return `'[' || COALESCE(LISTAGG(${value}, ','), '') || ']'`;
    },
    aggregatedBytes,
    joinTexts: (separator, texts) => texts.join(` || ${separator} || `),
    sample: (table, share) =>
      `(SELECT * FROM ${table} WHERE RANDOM() < ${share.toFixed(6)}) AS sampled`,
  },
};

function statisticsText(expr: string, type: FieldType): string {
  // There is no cast from a boolean to text.
  if (type === 'boolean') return `CASE WHEN ${expr} THEN 'true' WHEN NOT ${expr} THEN 'false' END`;
  const text = `CAST(${expr} AS VARCHAR)`;
  return type === 'decimal' ? `REGEXP_REPLACE(${text}, '[.]0+$', '')` : text;
}

/** Control characters that are escaped: tab, line ends, and those between the values of a row. */
const escapedControls = [9, 10, 13, 30, 31];
const otherControls = Array.from({ length: 31 }, (_, index) => index + 1).filter(
  (code) => !escapedControls.includes(code),
);

/** A text as JSON, by functions that run on every node. Any other control character is a space. */
function jsonText(text: string): string {
  const others = otherControls.map((code) => `CHR(${code})`).join(' || ');
  const spaced = `TRANSLATE(${text}, ${others}, '${' '.repeat(otherControls.length)}')`;
  const escaped = escapedControls.reduce((inner, code) => {
    const digits = code.toString(16).padStart(4, '0');
    return `REPLACE(${inner}, CHR(${code}), CHR(92) || 'u${digits}')`;
  }, `REPLACE(REPLACE(${spaced}, CHR(92), CHR(92) || CHR(92)), '"', CHR(92) || '"')`);
  return `'"' || ${escaped} || '"'`;
}

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
