import type { QueryEvidence } from '../../llm/port/tool-call.ts';
import { columnKinds } from './columns.ts';
import type { WrittenNumber } from './numbers/read-numbers.ts';

/** A filter of the query has the number; or, for a year, a text or date of its rows. */
export function standsInQuery(number: WrittenNumber, query: QueryEvidence): boolean {
  const { sql = '', rows, columns } = query;
  const [reading] = number.readings;
  if (reading === undefined) return false;
  const names = columns.map(({ name }) => name).join(' ');
  if (number.isPercent) return isPercentile(Math.abs(reading.value), names);
  const digits = String(Math.abs(reading.value));
  const isIn = (text: string) =>
    new RegExp(`(?<![\\d.])0*${digits.replace('.', '\\.')}(?![\\d]|\\.\\d)`).test(text);
  // Positions of columns and factors say nothing about the data.
  const literals = sql
    .replaceAll(/\b(\d{4})-\d\d(?:-\d\d)?\b|\b(\d{4})\/\d\d\b/g, '$1$2')
    .replaceAll(/\b(?:group|order)\s+by\s+[\d,\s]+/gi, ' ')
    .replaceAll(/\b1(?:00)?(?:\.0+)?\s*\*/g, ' ');
  if (isIn(`${literals} ${names}`)) return true;
  const kinds = columnKinds(query);
  const ranges = rows.flatMap((row) =>
    row.filter(
      (cell, index) =>
        typeof cell === 'string' && isRange(cell) && (!number.isMoney || kinds[index] === 'money'),
    ),
  );
  if (ranges.length > 1 && isIn(ranges.join(' '))) return true;
  return (
    number.isYear && rows.some((row) => row.some((cell) => typeof cell === 'string' && isIn(cell)))
  );
}

/** `18-24`, `55+`, `> 90 days`. */
function isRange(cell: string): boolean {
  return (
    /^\D{0,5}\d+\s?[-–]\s?\d+\D*$/.test(cell) ||
    /^\d{1,3}\s\p{L}+$/u.test(cell) ||
    /^\d+\s?\+|^(?:[<>≤≥]=?|over|under|above|über|unter|plus de|más de|oltre)\s?\d+/i.test(cell)
  );
}

/** The slowest 10 % of a column `p90`. */
function isPercentile(value: number, names: string): boolean {
  return [...names.matchAll(/(?:^|[ _])p(\d\d)(?!\d)/gi)].some(
    ([, rank]) => Number(rank) === value || 100 - Number(rank) === value,
  );
}
